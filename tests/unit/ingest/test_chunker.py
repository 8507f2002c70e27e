from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.parsed import Heading, Mark, ParsedDocument
from desktop_rag.ingest.chunker import chunk_document, content_hash, join_cells


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def chunks_of(document: ParsedDocument, max_tokens: int = 22):  # noqa: ANN201
    return chunk_document(document, count_words, max_tokens)


def test_a_chunk_does_not_cross_a_heading_and_knows_its_path() -> None:
    text = "# Guide\nWelcome.\n## Fees\nTen each.\n## Hours\nAlways open."
    headings = tuple(
        Heading(text.index(line), line.count("#"), line.strip("# "))
        for line in ("# Guide", "## Fees", "## Hours")
    )
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
    headings = tuple(
        Heading(text.index(line), line.count("#"), line.strip("# "))
        for line in ("# Guide", "## Lost property", "## Fees")
    )
    found = chunks_of(ParsedDocument("Markdown", "Guide", text, (), headings))
    assert [c.text for c in found] == ["## Lost property", "Ten each."]


def test_the_underline_of_a_heading_is_not_text() -> None:
    text = "Guide\n=====\nWelcome."
    found = chunks_of(ParsedDocument("Markdown", "", text, (), (Heading(0, 1, "Guide"),)))
    assert [c.text for c in found] == ["Welcome."]


def test_a_chunk_does_not_cross_a_page() -> None:
    marks = (Mark(0, Anchor(page=1)), Mark(11, Anchor(page=2)))
    found = chunks_of(ParsedDocument("PDF", "", "First page\nsecond page", marks))
    assert [(c.text, c.anchor) for c in found] == [
        ("First page", Anchor(page=1)),
        ("second page", Anchor(page=2)),
    ]


def test_rows_join_to_one_range_of_cells() -> None:
    text = "a | b\nc | d\ne | f"
    marks = tuple(Mark(6 * n, Anchor(sheet="Fees", cells=f"A{n + 1}:B{n + 1}")) for n in range(3))
    [found] = chunks_of(ParsedDocument("spreadsheet", "", text, marks))
    assert found.anchor == Anchor(sheet="Fees", cells="A1:B3")


@pytest.mark.parametrize(
    ("first", "last", "joined"),
    [
        ("A5:D5", "A9:E9", "A5:E9"),
        ("B2", "B2", "B2:B2"),
        ("Z1:AA1", "A3:C3", "A1:AA3"),
        ("odd", "A1", "odd"),
    ],
)
def test_join_cells(first: str, last: str, joined: str) -> None:
    assert join_cells(first, last) == joined


def test_a_long_section_is_cut_at_paragraphs_into_even_pieces() -> None:
    paragraphs = [f"P{n} has exactly six words here." for n in range(6)]
    found = chunks_of(ParsedDocument("text", "", "\n\n".join(paragraphs)))
    assert [c.text for c in found] == ["\n\n".join(paragraphs[n : n + 3]) for n in (0, 3)]


def test_a_long_paragraph_is_cut_at_sentences() -> None:
    text = " ".join(f"Sentence {n} has six words here." for n in range(6))
    found = chunks_of(ParsedDocument("text", "", text))
    assert len(found) == 2
    assert all(c.text.startswith("Sentence") and c.text.endswith("here.") for c in found)


def test_a_long_heading_path_loses_its_outer_parts_first() -> None:
    text = "x\ny\nbody"
    headings = (Heading(0, 1, "many words " * 9), Heading(2, 2, "inner"))
    [found] = chunks_of(ParsedDocument("Markdown", "", text, (), headings))
    assert found.heading == "inner"
    assert found.anchor.heading is not None


@given(st.text(max_size=600), st.integers(6, 40))
def test_every_word_is_in_exactly_one_chunk_and_every_chunk_fits(text: str, limit: int) -> None:
    found = chunks_of(ParsedDocument("text", "", text), limit)
    assert all(text[c.start : c.end] == c.text for c in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert "".join("".join(c.text.split()) for c in found) == "".join(text.split())
    assert all(count <= limit - 2 for count in count_words([c.text for c in found]))
    assert [c.position for c in found] == list(range(len(found)))
