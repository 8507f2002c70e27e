from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.parsed import Anchor, Chunk
from desktop_rag.ingest.chunking.document_chunker import stable_spans

SENTENCES = [f"Sentence number {n} stands in the text and is long enough." for n in range(9)]


def chunks_at(text: str, *spans: tuple[int, int]) -> list[Chunk]:
    return [
        Chunk(n, start, end, text[start:end], Anchor(), "", "")
        for n, (start, end) in enumerate(spans)
    ]


def chunks_of(*texts: str) -> list[Chunk]:
    whole = "\n".join(texts)
    ends = accumulate(len(text) + 1 for text in texts)
    return chunks_at(whole, *((e - 1 - len(t), e - 1) for e, t in zip(ends, texts, strict=True)))


def kept(before: list[Chunk], text: str) -> list[str]:
    return [text[start:end] for start, end in stable_spans(before, text)]


def test_what_stands_before_and_after_an_edit_is_kept() -> None:
    edited = "\n".join([*SENTENCES[:4], "Something new.", *SENTENCES[5:]])
    assert kept(chunks_of(*SENTENCES), edited) == [*SENTENCES[:4], *SENTENCES[5:]]


def test_what_stands_between_two_edits_is_kept() -> None:
    edited = "\n".join(["New.", *SENTENCES[1:3], "Newer words.", *SENTENCES[4:7], "Newest."])
    assert kept(chunks_of(*SENTENCES), edited) == [*SENTENCES[1:3], *SENTENCES[4:7]]


def test_of_parts_that_changed_places_the_longer_run_is_kept() -> None:
    moved = ["Before.", *SENTENCES[6:], *SENTENCES[1:6], "After."]
    assert kept(chunks_of(*SENTENCES), "\n".join(moved)) == SENTENCES[1:6]


def test_the_longer_run_is_kept_also_when_it_stands_first_now() -> None:
    moved = ["Before.", *SENTENCES[3:8], *SENTENCES[1:3], "After."]
    assert kept(chunks_of(*SENTENCES), "\n".join(moved)) == SENTENCES[3:8]


def test_a_text_that_stood_twice_tells_no_place() -> None:
    first, twice, between, last = SENTENCES[:4]
    before = chunks_of(first, twice, between, twice, last)
    assert kept(before, f"New.\n{twice}\nNewer.") == []


def test_what_a_chunk_shared_with_the_one_before_is_not_its_own() -> None:
    text = "One two three. Four five six. Seven eight."
    before = chunks_at(text, (0, 29), (15, 42))
    assert kept(before, text) == ["One two three. Four five six.", "Seven eight."]


def test_a_border_that_would_now_cut_a_word_is_not_kept() -> None:
    before = chunks_of("All of the cat", "sat on the mat for an hour or so.")
    assert kept(before, "All of the category\nsat on the mat for an hour or so.") == [
        "sat on the mat for an hour or so."
    ]


def test_without_chunks_nothing_is_kept() -> None:
    assert stable_spans([], "Some text.") == []
    assert stable_spans(chunks_of("Some text."), "") == []


@given(st.lists(st.text("ab \n", min_size=1), max_size=20), st.text("ab \n", max_size=200))
def test_kept_spans_rise_and_hold_text_of_before(texts: list[str], text: str) -> None:
    before = chunks_of(*texts)
    spans = stable_spans(before, text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(any(text[a:b] in chunk.text for chunk in before) for a, b in spans)


@pytest.mark.slow
def test_a_long_text_that_changed_all_over_keeps_nothing() -> None:
    old = [f"The committee noted with thanks that {n} reports were made." for n in range(25_000)]
    new = "\n".join(text.replace("reports", "papers") for text in old)
    assert stable_spans(chunks_of(*old), new) == []
