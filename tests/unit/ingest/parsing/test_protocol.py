import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.domain import LONGEST_TAG, MOST_TAGS
from desktop_rag.core.parsed import (
    Anchor,
    Box,
    ColourSpan,
    Heading,
    Mark,
    PageView,
    PageWish,
    PageWord,
    ParsedDocument,
    ParsedPart,
    TableHeader,
)
from desktop_rag.ingest.parsing.frame_assembly import Assembly
from desktop_rag.ingest.parsing.protocol import (
    LENGTH_BYTES,
    MAX_FRAME_BYTES,
    Limits,
    ProtocolError,
    Request,
    encode_colours,
    encode_document,
    encode_frame,
    encode_view,
)
from desktop_rag.ingest.read.pdf.pdf_page_image import encode_png


def assembled(frames: list[bytes], assembly: Assembly | None = None) -> ParsedDocument:
    """What the other side makes of the frames."""
    assembly = assembly or Assembly(Limits())
    message: dict[str, Any] = {}
    for frame in frames:
        length = int.from_bytes(frame[:LENGTH_BYTES], "big")
        assert length == len(frame) - LENGTH_BYTES <= MAX_FRAME_BYTES
        message = assembly.add(frame[LENGTH_BYTES:])
    return assembly.document(message["done"])


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
ANCHOR = st.builds(
    Anchor,
    page=st.none() | st.integers(1, 9),
    sheet=st.none() | TEXT,
    cells=st.none() | TEXT,
    heading=st.none() | TEXT,
    line=st.none() | st.integers(1, 9),
)


@st.composite
def documents(draw: st.DrawFn, *, has_parts: bool = True) -> ParsedDocument:
    """A document as a reader makes it: places in order and inside the text."""
    text = draw(TEXT)
    offsets = st.integers(0, len(text))
    marks = draw(st.lists(st.builds(Mark, offsets, ANCHOR), max_size=80))
    headings = draw(st.lists(st.builds(Heading, offsets, st.integers(1, 6), TEXT)))
    spans = draw(st.lists(st.tuples(offsets, offsets, TEXT), max_size=3))
    headers = [TableHeader(min(a, b), max(a, b), name) for a, b, name in spans]
    document = ParsedDocument(
        format=draw(TEXT),
        title=draw(TEXT),
        text=text,
        marks=tuple(sorted(marks, key=lambda mark: mark.offset)),
        headings=tuple(sorted(headings, key=lambda heading: heading.offset)),
        table_headers=tuple(sorted(headers, key=lambda header: header.start)),
        warnings=tuple(draw(st.lists(TEXT))),
        language=draw(st.sampled_from(["", "en", "de"])),
        dated=draw(st.sampled_from(["", "2024-05-01"])),
        tags=tuple(draw(st.lists(st.sampled_from(["roof", "öl lampe"]), max_size=MOST_TAGS))),
    )
    return replace(document, parts=tuple(draw(st.lists(PART, max_size=3)) if has_parts else ()))


PART = st.builds(ParsedPart, TEXT.filter(bool), documents(has_parts=False)) | st.builds(
    ParsedPart, TEXT.filter(bool), refusal=TEXT.filter(bool)
)


@pytest.mark.slow
@given(documents())
def test_a_document_survives_the_way(document: ParsedDocument) -> None:
    assert assembled(list(encode_document(document))) == document


@pytest.mark.slow
@pytest.mark.parametrize("char", ["a", "é", "\N{GRINNING FACE}", "\x01", '"'])
def test_a_long_document_comes_in_small_frames(char: str) -> None:
    marks = tuple(
        Mark(n, Anchor(sheet="Budget", cells=f"A{n}:D{n}", heading=char * 50))
        for n in range(20_000)
    )
    headings = tuple(Heading(n, 1, char * 300) for n in range(5000))
    document = ParsedDocument("text", "t", char * 300_000, marks, headings)
    frames = list(encode_document(document))
    assert len(frames) > 3
    assert assembled(frames) == document


def test_long_headings_on_a_short_text_still_fit_the_frames() -> None:
    marks = tuple(Mark(n, Anchor(heading=chr(0x4E00 + n) * 5000)) for n in range(40))
    document = ParsedDocument("text", "t", "x" * 100, marks)
    assert assembled(list(encode_document(document))) == document


def test_a_small_document_is_a_single_frame() -> None:
    assert len(list(encode_document(ParsedDocument("text", "t", "some text")))) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b"\x80\x04\x95\x10\x00",
        b"[" * 100_000,
        b'{"text": 5}',
        b'{"marks": [[1]]}',
        b'{"marks": [["x", {}]]}',
        b'{"marks": [[1, {"nonsense": 1}]]}',
        b'{"marks": [[1, {"sheet": ["x"]}]]}',
        b'{"headings": [[1, 2, 3]]}',
        b'{"headings": 7}',
        b'{"marks": [[true, {}]]}',
        b'{"marks": [[-1, {}]]}',
        b'{"marks": [[1.5, {}]]}',
        b'{"marks": [[2, {}], [1, {}]]}',
        b'{"marks": [[1, {"page": "4"}]]}',
        b'{"marks": [[1, {"page": 99999999999}]]}',
        b'{"marks": [[1, {"sheet": 4}]]}',
        b'{"headings": [[5, 1, "a"], [4, 1, "b"]]}',
        b'{"table_headers": [[5, 4, "a"]]}',
        b'{"table_headers": [[5, 6, 7]]}',
        b'{"part": {"name": "", "refusal": ""}}',
        b'{"part": {"name": 7, "refusal": ""}}',
        b'{"part": {"name": "a"}}',
        b'{"part_done": {"format": "text", "title": "", "warnings": []}}',
        b'{"part": {"name": "a", "refusal": ""}, "part_done": {}}',
        (
            b'{"part": {"name": "a", "refusal": ""}, "marks": [[9, {}]],'
            b' "part_done": {"format": "text", "title": "", "warnings": []}}'
        ),
        b'{"png": "no base64"}',
        b'{"png": 7}',
    ],
)
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        Assembly(Limits()).add(body)


@pytest.mark.parametrize(
    "done",
    [
        {},
        {"format": 1, "title": "", "warnings": []},
        {"format": ""},
        {"format": "", "title": "", "warnings": [], "language": "English"},
        {"format": "", "title": "", "warnings": [], "dated": "2024-02-31"},
        {"format": "", "title": "", "warnings": [], "dated": "20240229"},
        {"format": "", "title": "", "warnings": [], "dated": 2024},
        {"format": "", "title": "", "warnings": [], "tags": [1]},
        {"format": "", "title": "", "warnings": [], "tags": 1},
        {"format": "", "title": "", "warnings": [], "tags": [""]},
        {"format": "", "title": "", "warnings": [], "tags": ["a\nb"]},
        {"format": "", "title": "", "warnings": [], "tags": ["a" * (LONGEST_TAG + 1)]},
        {"format": "", "title": "", "warnings": [], "tags": ["a"] * (MOST_TAGS + 1)},
    ],
)
def test_an_end_that_makes_no_sense_is_refused(done: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        Assembly(Limits()).document(done)


def test_an_answer_beyond_the_limits_is_refused() -> None:
    assembly = Assembly(Limits(text_chars=10))
    assembly.add(b'{"text": "12345"}')
    with pytest.raises(ProtocolError, match="too long"):
        assembly.add(b'{"text": "678901"}')
    with pytest.raises(ProtocolError, match="too long"):
        Assembly(Limits(answer_bytes=10)).add(b'{"other": 1}')


def test_neither_zeros_nor_lone_surrogates_come_through() -> None:
    frame = json.dumps(
        {
            "text": "a\0b\ud800c",
            "marks": [[0, {"sheet": "\udcff"}]],
            "headings": [[0, 1, "\0"]],
            "done": {"format": "text", "title": "\ud800", "warnings": []},
        }
    )
    document = assembled([encode_frame(json.loads("{}")), _frame(frame.encode())])
    assert document.text == "a�b?c"
    assert (document.marks[0].anchor.sheet, document.headings[0].title) == ("?", "�")


def test_a_place_behind_the_text_is_refused() -> None:
    for places in (
        '"marks": [[4, {}]]',
        '"headings": [[4, 1, "a"]]',
        '"table_headers": [[0,4,""]]',
    ):
        assembly = Assembly(Limits())
        assembly.add(f'{{"text": "abc", {places}}}'.encode())
        with pytest.raises(ProtocolError, match="behind the end"):
            assembly.document({"format": "text", "title": "", "warnings": []})


def test_a_part_inside_a_part_or_without_an_end_is_refused() -> None:
    start = b'{"part": {"name": "a.txt", "refusal": ""}}'
    assembly = Assembly(Limits())
    assembly.add(start)
    with pytest.raises(ProtocolError, match="parts inside parts"):
        assembly.add(start)
    with pytest.raises(ProtocolError, match="no end"):
        assembly.document({"format": "text", "title": "", "warnings": []})


def test_the_limits_hold_for_all_parts_together() -> None:
    part = ParsedPart("a.txt", ParsedDocument("text", "a", "x" * 40))
    frames = list(encode_document(ParsedDocument("text", "t", "y" * 40, parts=(part, part))))
    with pytest.raises(ProtocolError, match="too long"):
        assembled(frames, Assembly(Limits(text_chars=100)))
    assert len(assembled(frames, Assembly(Limits(text_chars=120))).parts) == 2


BOXES = (Box(0.1, 0.2, 0.5, 1.0),)
PNG = encode_png(b"abc" * 6, 3, 2, 9)
WORDS = (PageWord("lamp", BOXES[0]), PageWord("lit.", BOXES[0], ends_line=True))
VIEW = PageView(3, 9, PNG, 3, 2, BOXES, (BOXES, ()), ((595.0, 842.0), (842.0, 595.5)), WORDS)


def view_of(frames: list[bytes], **changes: object) -> PageView:
    assembly = Assembly(Limits())
    messages = [assembly.add(frame[LENGTH_BYTES:]) for frame in frames]
    return assembly.view({**messages[-1]["done"], **changes})


def test_a_view_survives_the_way() -> None:
    assert view_of(list(encode_view(VIEW))) == VIEW
    large = replace(VIEW, png=VIEW.png + b"\xff" * 1_000_000)
    frames = list(encode_view(large))
    assert len(frames) > 4
    assert max(map(len, frames)) <= MAX_FRAME_BYTES + LENGTH_BYTES
    assert view_of(frames) == large


@pytest.mark.parametrize(
    "changes",
    [
        {"page": 0},
        {"page": 10},
        {"page_count": "9"},
        {"size_px": [2, 2]},
        {"size_px": [3]},
        {"size_px": [3000, 2]},
        {"boxes": [[0, 0, 1]]},
        {"boxes": [[0, 0, 1, 1.1]]},
        {"boxes": [[0, 0, 1, float("nan")]]},
        {"boxes": [[0, 0, 1, 1]] * 3000},
        {"boxes": None},
    ],
)
def test_a_view_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        view_of(list(encode_view(VIEW)), **changes)


@pytest.mark.parametrize(
    "message",
    [
        {"sizes": [[0, 10]]},
        {"sizes": [[10, 1e9]]},
        {"sizes": [["10", 10]]},
        {"found": [[[0, 0, 1, 2]]]},
        {"found": [[]] * 5000},
        {"words": [["lamp", [0, 0, 1, 2], False]]},
        {"words": [["lamp", [0, 0, 1, 1], 1]]},
        {"words": [["", [0, 0, 1, 1], False]]},
        {"words": [["a" * 300, [0, 0, 1, 1], False]]},
        {"words": [["lamp", [0, 0, 1, 1]]]},
        {"words": [["a", [0, 0, 1, 1], False]] * 7000},
        {"colours": [[3, 2, "string"]]},
        {"colours": [[0, 2, "string"], [1, 3, "string"]]},
        {"colours": [[0, 2, "loud"]]},
    ],
)
def test_places_and_colours_that_make_no_sense_are_refused(message: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        Assembly(Limits()).add(json.dumps(message).encode())


@pytest.mark.slow
def test_colours_survive_the_way() -> None:
    spans: list[ColourSpan] = [(n, n + 1, "string") for n in range(0, 60_000, 2)]
    assembly = Assembly(Limits())
    frames = list(encode_colours("digest", spans))
    assert len(frames) > 2
    messages = [assembly.add(frame[LENGTH_BYTES:]) for frame in frames]
    assert assembly.colours(messages[-1]["done"]) == ("digest", tuple(spans))


def test_a_request_survives_the_way() -> None:
    request = Request(Path("a b.pdf"), Limits(text_chars=7), is_safe=True, ocr=True)
    assert Request.from_line(request.to_line()) == request
    view = Request(
        None,
        Limits(),
        web_page=True,
        view=PageWish(2, 900, "quoted “words”", find="words", with_sizes=True),
    )
    assert Request.from_line(view.to_line()) == view
    assert b"\n" not in view.to_line()


def _frame(body: bytes) -> bytes:
    return len(body).to_bytes(LENGTH_BYTES, "big") + body
