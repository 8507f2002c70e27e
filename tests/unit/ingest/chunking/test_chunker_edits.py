"""What an edit costs: how many chunks of a document have to be embedded anew."""

import random
from collections.abc import Callable, Sequence
from functools import cache
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
from desktop_rag.ingest.chunking.document_chunker import chunk_document

METHODS: list[ChunkMethod] = ["structure", "tokens", "words"]
PAGES, PARAGRAPHS_A_PAGE = 300, 6
Paragraphs = list[str]
MakeDocument = Callable[[Sequence[str]], ParsedDocument]
Edit = Callable[[Paragraphs, int], None]


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def cut(
    document: ParsedDocument, method: ChunkMethod = "structure", before: Sequence[Chunk] = ()
) -> list[Chunk]:
    return chunk_document(document, ChunkSettings(method), count_words, 256, before)


def new_chunks(before: Sequence[Chunk], after: Sequence[Chunk]) -> int:
    return len({c.content_hash for c in after} - {c.content_hash for c in before})


def paragraph(rnd: random.Random, number: int) -> str:
    sentences = []
    for _ in range(rnd.randrange(2, 9)):
        words = [rnd.choice(("lamp", "keeper", "of", "harbour", "tide", "morning", "a")) for _ in
                 range(rnd.randrange(5, 25))]  # fmt: skip
        sentences.append(f"The {' '.join(words)} {number}.")
    return " ".join(sentences)


def without_headings(paragraphs: Sequence[str]) -> ParsedDocument:
    return ParsedDocument("text", "Book", "\n\n".join(paragraphs))


def in_one_paragraph(paragraphs: Sequence[str]) -> ParsedDocument:
    return ParsedDocument("text", "Book", " ".join(paragraphs))


def in_lines(paragraphs: Sequence[str]) -> ParsedDocument:
    return ParsedDocument("text", "Book", "\n".join(paragraphs))


def on_pages(paragraphs: Sequence[str]) -> ParsedDocument:
    text, marks = "", []
    for start in range(0, len(paragraphs), PARAGRAPHS_A_PAGE):
        marks.append(Mark(len(text), Anchor(page=len(marks) + 1)))
        text += "\n\n".join(paragraphs[start : start + PARAGRAPHS_A_PAGE]) + "\n\n"
    return ParsedDocument("PDF", "Book", text, tuple(marks))


def under_headings(paragraphs: Sequence[str]) -> ParsedDocument:
    text, headings = "", []
    for content in paragraphs:
        if content.endswith("7."):
            title = f"Chapter {content.split()[-1]}"
            headings.append(Heading(len(text), 2, title))
            text += f"{title}\n"
        text += content + "\n\n"
    return ParsedDocument("Markdown", "Book", text, (), tuple(headings))


def in_a_table(paragraphs: Sequence[str]) -> ParsedDocument:
    text = "Number | Text\n" + "\n".join(paragraphs)
    tables = (TableHeader(14, len(text), "Number | Text"),)
    return ParsedDocument("spreadsheet", "Book", text, table_headers=tables)


DOCUMENTS: list[MakeDocument] = [
    without_headings, in_one_paragraph, in_lines, on_pages, under_headings, in_a_table,
]  # fmt: skip


def changed(paragraphs: Paragraphs, at: int) -> None:
    paragraphs[at] = paragraphs[at].replace("The ", "Some other ", 1)


def lengthened(paragraphs: Paragraphs, at: int) -> None:
    paragraphs[at] += " It is said again that more was to be said of it than that. " * 4


def shortened(paragraphs: Paragraphs, at: int) -> None:
    paragraphs[at] = paragraphs[at][: len(paragraphs[at]) // 2]


def rewritten(paragraphs: Paragraphs, at: int) -> None:
    paragraphs[at] = " ".join(reversed(paragraphs[at].split()))


def removed(paragraphs: Paragraphs, at: int) -> None:
    del paragraphs[at]


def put_in(paragraphs: Paragraphs, at: int) -> None:
    paragraphs.insert(at, "A paragraph that was not there before stands here now. " * 6)


EDITS: list[Edit] = [changed, lengthened, shortened, rewritten, removed, put_in]
RND = random.Random(5)
BOOK = [paragraph(RND, number) for number in range(PAGES * PARAGRAPHS_A_PAGE)]


@cache
def cut_book(make: MakeDocument, method: ChunkMethod = "structure") -> list[Chunk]:
    return cut(make(BOOK), method)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", DOCUMENTS)
@pytest.mark.parametrize("edit", EDITS)
def test_one_edit_in_300_pages_costs_three_chunks_at_most(
    edit: Edit, make: MakeDocument, method: ChunkMethod
) -> None:
    before = cut_book(make, method)
    # Each edit at the first or the last place and at one inside, in turn.
    turn = (EDITS.index(edit) + DOCUMENTS.index(make) + METHODS.index(method)) % 2
    for place in (0, len(BOOK) - 1, 611, 1234)[turn::2]:
        paragraphs = list(BOOK)
        # Pages stay where they are: only that of the edit is longer or shorter.
        part = [paragraphs[place]] if make is on_pages else paragraphs
        edit(part, 0 if make is on_pages else place)
        if make is on_pages:
            paragraphs[place] = "\n\n".join(part)
        after = cut(make(paragraphs), method, before)
        assert new_chunks(before, after) <= 3


@pytest.mark.parametrize("make", [without_headings, in_one_paragraph, in_lines])
def test_each_of_several_edits_costs_no_more_than_if_it_were_alone(make: MakeDocument) -> None:
    before = cut_book(make)
    paragraphs = list(BOOK)
    for place, edit in zip((1500, 1200, 900, 600, 300, 20), EDITS, strict=True):
        edit(paragraphs, place)
    assert new_chunks(before, cut(make(paragraphs), "structure", before)) <= 3 * len(EDITS)


@pytest.mark.parametrize("make", DOCUMENTS)
def test_what_did_not_change_is_cut_as_before(make: MakeDocument) -> None:
    before = cut_book(make)
    assert cut(make(BOOK), "structure", before) == before


@pytest.mark.slow
def test_many_edits_one_after_the_other_leave_no_crumbs() -> None:
    rnd = random.Random(3)
    paragraphs = BOOK[:300]
    chunks = cut(without_headings(paragraphs))
    for _ in range(150):
        rnd.choice(EDITS)(paragraphs, rnd.randrange(len(paragraphs)))
        chunks = cut(without_headings(paragraphs), "structure", chunks)
    fresh = cut(without_headings(paragraphs))
    assert len(chunks) < 1.35 * len(fresh)
    assert max(count_words([c.embedded_text for c in chunks])) <= 254


@pytest.mark.slow
def test_a_moved_page_changes_places_and_costs_nothing() -> None:
    before = cut_book(on_pages)
    paragraphs = [*BOOK[:60], *BOOK[66:], *BOOK[60:66]]
    after = cut(on_pages(paragraphs), "structure", before)
    assert new_chunks(before, after) == 0
    assert after[-1].anchor == Anchor(page=PAGES)


def test_a_kept_chunk_that_no_longer_fits_is_cut_anew() -> None:
    text = "Title\n" + "word " * 250
    before = cut(ParsedDocument("text", "Book", text))
    headings = (Heading(0, 1, "Title of many words " * 5),)
    after = cut(ParsedDocument("text", "Book", text, (), headings), "structure", before)
    assert max(count_words([c.embedded_text for c in after])) <= 254


def test_a_text_that_repeats_itself_is_kept_on_both_sides_of_an_edit() -> None:
    paragraphs = ["The same paragraph stands here again and again, word for word."] * 1000
    before = cut(without_headings(paragraphs))
    paragraphs[500] = "But not here."
    assert new_chunks(before, cut(without_headings(paragraphs), "structure", before)) <= 3


WORDS = st.sampled_from(["one", "two.", "three", "Four.", "five\n", "six.\n\n", "Seven! ", "八。"])
TEXTS = st.lists(WORDS, max_size=120).map(" ".join)


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.sampled_from(METHODS), st.integers(8, 30))
def test_after_any_edit_nothing_is_lost_and_every_chunk_fits(
    start: str, old: str, new: str, end: str, method: ChunkMethod, limit: int
) -> None:
    way = ChunkSettings(method, overlap_tokens=4)
    text = start + new + end
    before = chunk_document(ParsedDocument("", "", start + old + end), way, count_words, limit)
    after = chunk_document(ParsedDocument("", "", text), way, count_words, limit, before)
    assert all(c.text == text[c.start : c.end] for c in after)
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(after))
    boundaries = [0, *(c.end for c in after)]
    assert not any(text[a : c.start].strip() for a, c in zip(boundaries, after, strict=False))
    assert not text[boundaries[-1] :].strip()
    assert all(count <= limit - 2 for count in count_words([c.text for c in after]))
