from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.parsed import (
    Anchor,
    Chunk,
    ChunkMethod,
    ChunkSettings,
    Heading,
    Mark,
    ParsedDocument,
    TableHeader,
)
from desktop_rag.ingest.chunking.document_chunker import (
    chunk_document,
    chunking_signature,
    content_hash,
)

ALONE = ChunkSettings(overlap_tokens=0)
METHODS: list[ChunkMethod] = ["structure", "tokens", "words"]


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def chunks_of(
    document: ParsedDocument | str, max_tokens: int = 22, settings: ChunkSettings = ALONE
) -> list[Chunk]:
    if isinstance(document, str):
        document = ParsedDocument("text", "", document)
    return chunk_document(document, settings, count_words, max_tokens)


def headings_of(text: str, *lines: str) -> tuple[Heading, ...]:
    return tuple(Heading(text.index(line), line.count("#"), line.strip("# ")) for line in lines)


def test_a_chunk_does_not_cross_a_heading_and_knows_its_path() -> None:
    text = "# Guide\nWelcome.\n## Fees\nTen each.\n## Hours\nAlways open."
    headings = headings_of(text, "# Guide", "## Fees", "## Hours")
    found = chunks_of(ParsedDocument("Markdown", "Guide", text, (), headings))
    assert [(c.text, c.anchor.heading) for c in found] == [
        ("Welcome.", "Guide"),
        ("Ten each.", "Guide › Fees"),
        ("Always open.", "Guide › Hours"),
    ]
    assert found[1].embedded_text == "Guide › Fees\nTen each."
    assert found[1].content_hash == content_hash("Guide › Fees", "Ten each.")


def test_a_heading_with_nothing_below_is_found_itself() -> None:
    text = "# Guide\n\n## Lost property\n\n## Fees\n\nTen each."
    headings = headings_of(text, "# Guide", "## Lost property", "## Fees")
    found = chunks_of(ParsedDocument("Markdown", "Guide", text, (), headings))
    assert [c.text for c in found] == ["## Lost property", "Ten each."]
    assert found[0].context == "Guide"


def test_the_underline_of_a_heading_is_not_text() -> None:
    text = "Guide\n=====\nWelcome."
    found = chunks_of(ParsedDocument("Markdown", "", text, (), (Heading(0, 1, "Guide"),)))
    assert [c.text for c in found] == ["Welcome."]


@pytest.mark.parametrize("method", METHODS)
def test_a_chunk_does_not_cross_a_page(method: ChunkMethod) -> None:
    marks = (Mark(0, Anchor(page=1, page_label="i")), Mark(11, Anchor(page=2)))
    document = ParsedDocument("PDF", "", "First page\nsecond page", marks)
    found = chunks_of(document, settings=ChunkSettings(method))
    assert [(c.text, c.anchor) for c in found] == [
        ("First page", Anchor(page=1, page_label="i")),
        ("second page", Anchor(page=2)),
    ]


@pytest.mark.parametrize("method", METHODS)
def test_a_page_without_text_has_no_chunk(method: ChunkMethod) -> None:
    marks = tuple(Mark(offset, Anchor(page=n + 1)) for n, offset in enumerate((0, 6, 10)))
    document = ParsedDocument("PDF", "", "First\n   \nThird", marks)
    found = chunks_of(document, settings=ChunkSettings(method))
    assert [(c.text, c.anchor.page) for c in found] == [("First", 1), ("Third", 3)]


def test_rows_join_to_one_range_of_cells() -> None:
    text = "a | b\nc | d\ne | f"
    marks = tuple(Mark(6 * n, Anchor(sheet="Fees", cells=f"A{n + 1}:B{n + 1}")) for n in range(3))
    [found] = chunks_of(ParsedDocument("spreadsheet", "", text, marks))
    assert found.anchor == Anchor(sheet="Fees", cells="A1:B3")


def test_a_long_section_is_cut_at_paragraphs_into_even_pieces() -> None:
    paragraphs = [f"P{n} has exactly six words here." for n in range(6)]
    found = chunks_of("\n\n".join(paragraphs))
    assert [c.text for c in found] == ["\n\n".join(paragraphs[n : n + 3]) for n in (0, 3)]


def test_a_long_paragraph_is_cut_at_sentences() -> None:
    text = " ".join(f"Sentence {n} has six words here." for n in range(6))
    found = chunks_of(text)
    assert len(found) == 2
    assert all(c.text.startswith("Sentence") and c.text.endswith("here.") for c in found)


def test_a_long_heading_path_loses_its_outer_parts_first() -> None:
    text = "x\ny\nbody"
    headings = (Heading(0, 1, "many words " * 9), Heading(2, 2, "inner"))
    [found] = chunks_of(ParsedDocument("Markdown", "", text, (), headings))
    assert found.context == "inner"
    assert found.anchor.heading is not None


def test_a_chunk_begins_with_the_last_sentences_of_the_one_before() -> None:
    text = " ".join(f"Sentence {n} has six words here." for n in range(9))
    first, second, *_ = chunks_of(text, 29, ChunkSettings(overlap_tokens=8))
    last = first.text.rindex("Sentence")
    assert second.start == first.start + last
    assert second.text.startswith(first.text[last:] + " Sentence")
    assert second.text == text[second.start : second.end]


def test_where_no_sentence_is_short_enough_whole_lines_are_shared() -> None:
    text = "\n".join(f"line {n} has five words" for n in range(12))
    first, second, *_ = chunks_of(text, 32, ChunkSettings(overlap_tokens=11))
    assert second.text.startswith("\n".join(first.text.splitlines()[-2:]))


def test_nothing_is_shared_over_a_heading_or_a_page() -> None:
    text = "One here.\n\nTwo here.\n\nThree here."
    marks = (Mark(0, Anchor(page=1)), Mark(11, Anchor(page=2)))
    headings = (Heading(22, 1, "Three here."),)
    found = chunks_of(ParsedDocument("PDF", "", text, marks, headings), 22, ChunkSettings())
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_tokens_fill_windows_and_ignore_headings() -> None:
    text = "# Guide\n" + "word " * 30 + "\n## Fees\n" + "word " * 30
    headings = headings_of(text, "# Guide", "## Fees")
    document = ParsedDocument("Markdown", "Guide", text, (), headings)
    found = chunks_of(document, 43, ChunkSettings("tokens", overlap_tokens=0))
    assert [len(c.text.split()) for c in found] == [40, 24]
    assert "## Fees" in found[0].text
    assert [c.context for c in found] == ["Guide", "Guide"]


def test_tokens_share_words_with_the_window_before() -> None:
    text = " ".join(f"n{n}" for n in range(200))
    found = chunks_of(text, 62, ChunkSettings("tokens", overlap_tokens=20))
    shared = [set(a.text.split()) & set(b.text.split()) for a, b in pairwise(found)]
    assert all(10 <= len(words) <= 20 for words in shared)


def test_words_make_pieces_of_up_to_a_thousand_characters() -> None:
    text = "wonderful " * 400
    found = chunks_of(text, 300, ChunkSettings("words"))
    assert [len(c.text) for c in found] == [999, 999, 999, 999]
    assert all(a.end < b.start for a, b in pairwise(found))


def test_words_stay_within_the_embedder_too() -> None:
    found = chunks_of("a b " * 400, 100, ChunkSettings("words"))
    assert max(count_words([c.text for c in found])) <= 98


def table_of(rows: int, header: str = "Name | Fee") -> ParsedDocument:
    text = f"{header}\n" + "\n".join(f"Person {n} | {n} pounds" for n in range(rows))
    start = len(header) + 1
    tables = (TableHeader(start, len(text), header),)
    return ParsedDocument("spreadsheet", "Fees", text, table_headers=tables)


def test_rows_without_their_header_have_it_above_them() -> None:
    first, *others = chunks_of(table_of(12), settings=ChunkSettings())
    assert first.text.startswith("Name | Fee\n")
    assert first.context == "Fees"
    assert others
    assert {c.context for c in others} == {"Fees\nName | Fee"}
    assert all(a.end <= b.start for a, b in pairwise([first, *others]))


def test_a_header_above_leaves_room_and_a_long_one_is_cut() -> None:
    document = table_of(30, "Name | Fee | " + " | ".join(f"column{n}" for n in range(40)))
    found = chunks_of(document, 40)
    assert max(count_words([c.embedded_text for c in found])) <= 38
    assert found[-1].context.startswith("Fees\nName | Fee | column0")
    assert len(found[-1].context.split()) <= 12


def test_a_chunk_of_two_tables_has_the_header_of_the_one_it_begins_in() -> None:
    text = "\n".join(["A | B", "1 | 2", "3 | 4", "C | D", "5 | 6", "7 | 8"])
    tables = (TableHeader(6, 17, "A | B"), TableHeader(24, 35, "C | D"))
    document = ParsedDocument("Word document", "", text, table_headers=tables)
    found = chunks_of(document, 12)
    assert [c.context for c in found] == ["", "A | B", "C | D"]


def test_smaller_chunks_may_be_asked_for_but_no_larger_ones() -> None:
    text = "word " * 200
    assert len(chunks_of(text, 102, ChunkSettings(max_tokens=42, overlap_tokens=0))) == 5
    asked, given_way = (
        chunks_of(text, 102, ChunkSettings(max_tokens=size, overlap_tokens=0)) for size in (500, 0)
    )
    assert asked == given_way


def test_a_signature_tells_ways_of_cutting_apart() -> None:
    ways = [
        chunking_signature(ChunkSettings(method, size, shared), 256, model)
        for method in METHODS
        for size in (0, 128)
        for shared in (0, 32)
        for model in ("small", "large")
    ]
    # Pieces of so many characters share nothing.
    assert len(set(ways)) == len(ways) - 4
    assert chunking_signature(ChunkSettings(max_tokens=900), 256) == chunking_signature(
        ChunkSettings(max_tokens=256), 256
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_word_longer_than_a_chunk_is_cut(method: ChunkMethod) -> None:
    def count_characters(texts: Sequence[str]) -> list[int]:
        return [len(text.replace(" ", "")) for text in texts]

    document = ParsedDocument("text", "", "short " + "a" * 200 + " short")
    found = chunk_document(document, ChunkSettings(method, overlap_tokens=0), count_characters, 52)
    assert max(count_characters([c.text for c in found])) <= 50
    assert sum(count_characters([c.text for c in found])) == 210


@given(st.text(max_size=600), st.integers(6, 40), st.sampled_from(METHODS))
def test_every_word_is_in_exactly_one_chunk_and_every_chunk_fits(
    text: str, limit: int, method: ChunkMethod
) -> None:
    found = chunks_of(text, limit, ChunkSettings(method, overlap_tokens=0))
    assert all(text[c.start : c.end] == c.text for c in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert "".join("".join(c.text.split()) for c in found) == "".join(text.split())
    assert all(count <= limit - 2 for count in count_words([c.text for c in found]))
    assert [c.position for c in found] == list(range(len(found)))


@given(st.text("ab.\n !", max_size=900), st.integers(6, 40), st.sampled_from(METHODS))
def test_with_overlap_nothing_is_lost_and_every_chunk_still_fits(
    text: str, limit: int, method: ChunkMethod
) -> None:
    found = chunks_of(text, limit, ChunkSettings(method, overlap_tokens=9))
    assert all(text[c.start : c.end] == c.text for c in found)
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(found))
    boundaries = [0, *(c.end for c in found)]
    assert not any(text[end : c.start].strip() for end, c in zip(boundaries, found, strict=False))
    assert not text[boundaries[-1] :].strip()
    assert all(count <= limit - 2 for count in count_words([c.text for c in found]))
