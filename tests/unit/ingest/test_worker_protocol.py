import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.domain import Anchor, Heading, Mark, ParsedDocument
from desktop_rag.ingest.worker_protocol import (
    LENGTH_BYTES,
    MAX_FRAME_BYTES,
    Assembly,
    Limits,
    ProtocolError,
    encode_document,
    encode_frame,
)


def assembled(frames: list[bytes]) -> ParsedDocument:
    """What the other side makes of the frames."""
    assembly = Assembly(Limits())
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
DOCUMENT = st.builds(
    ParsedDocument,
    format=TEXT,
    title=TEXT,
    text=TEXT,
    marks=st.lists(st.builds(Mark, st.integers(0, 99), ANCHOR), max_size=80).map(tuple),
    headings=st.lists(st.builds(Heading, st.integers(0, 99), st.integers(1, 6), TEXT)).map(tuple),
    warnings=st.lists(TEXT).map(tuple),
)


@given(DOCUMENT)
def test_a_document_survives_the_way(document: ParsedDocument) -> None:
    assert assembled(list(encode_document(document))) == document


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
    ],
)
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        Assembly(Limits()).add(body)


@pytest.mark.parametrize("done", [{}, {"format": 1, "title": "", "warnings": []}, {"format": ""}])
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


def _frame(body: bytes) -> bytes:
    return len(body).to_bytes(LENGTH_BYTES, "big") + body
