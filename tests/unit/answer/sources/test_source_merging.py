"""From ranked passages to sources: joined, folded, fitted, grouped."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.answer.sources.source_merging import (
    choose_sources,
    fitting,
    folded,
    grouped,
    joined,
)
from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Anchor, Mark, ParsedDocument
from desktop_rag.core.places import places_to_json

TEXT = "The lamp is lit at dusk. The wick is trimmed twice. \n\n The ferry leaves at noon. End."

NOWHERE = Anchor()


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def passage(
    text: str,
    start: int = 0,
    score: float = 1.0,
    document_id: str = "d",
    path: str = "",
    anchor: Anchor = NOWHERE,
) -> Passage:
    path = path or f"/{document_id}.md"
    end = start + len(text)
    return Passage(start, document_id, path, "T", text, anchor, start, end, score)


def piece(part: str, score: float = 1.0, anchor: Anchor = NOWHERE) -> Passage:
    """The part of TEXT as a passage of it."""
    return passage(part, TEXT.index(part), score, anchor=anchor)


def contents(text: str | None, places: str = "") -> Callable[[str], tuple[str | None, str]]:
    return lambda _: (text, places)


def join(*found: Passage, text: str | None = TEXT, most: int = 600) -> list[Passage]:
    return joined(found, contents(text), count_words, most)


def spans(passages: Sequence[Passage]) -> list[tuple[int, int]]:
    return [(p.start, p.end) for p in passages]


# --- neighbours -----------------------------------------------------------------------------------


def test_neighbours_become_one_with_the_better_score() -> None:
    first, second = piece("The lamp is lit at dusk.", 0.4), piece("The wick is trimmed twice.", 0.9)
    [one] = join(second, first)
    assert one.text == "The lamp is lit at dusk. The wick is trimmed twice."
    assert (one.start, one.score) == (0, 0.9)


def test_overlapping_passages_say_what_they_share_once() -> None:
    [one] = join(piece("lamp is lit at dusk. The wick"), piece("at dusk. The wick is trimmed"))
    assert one.text == "lamp is lit at dusk. The wick is trimmed"


def test_words_between_keep_passages_apart() -> None:
    apart = [piece("The lamp is lit at dusk."), piece("The ferry leaves at noon.")]
    assert join(*apart) == apart


def test_slides_and_sheets_stay_apart_and_pages_do_not() -> None:
    one, other = "The lamp is lit at dusk.", "The wick is trimmed twice."
    for anchors in ((Anchor(slide=1), Anchor(slide=2)), (Anchor(sheet="A"), Anchor(sheet="B"))):
        assert len(join(piece(one, anchor=anchors[0]), piece(other, anchor=anchors[1]))) == 2
    assert len(join(piece(one, anchor=Anchor(page=1)), piece(other, anchor=Anchor(page=2)))) == 1


def test_the_place_is_where_the_joined_text_begins() -> None:
    marks = (Mark(0, Anchor(page=1)), Mark(TEXT.index("The wick"), Anchor(page=2)))
    places = places_to_json(ParsedDocument("PDF", "", TEXT, marks))
    found = [piece("The wick is trimmed twice."), piece("The lamp is lit at dusk.")]
    [one] = joined(found, contents(TEXT, places), count_words)
    assert one.anchor == Anchor(page=1)


def test_without_stored_places_it_is_the_place_of_the_first() -> None:
    last = piece("The wick is trimmed twice.", anchor=Anchor(line=2))
    [one] = join(last, piece("The lamp is lit at dusk.", anchor=Anchor(line=1)))
    assert one.anchor == Anchor(line=1)


def test_one_document_does_not_take_all_the_room() -> None:
    parts = ["The lamp is lit at dusk.", "The wick is trimmed twice.", "The ferry leaves at noon."]
    found = join(*map(piece, reversed(parts)), most=12)
    assert [p.text.split() for p in found] == [
        [*parts[1].split(), *parts[2].split()],
        parts[0].split(),
    ]


def test_what_two_passages_share_goes_to_the_better_one() -> None:
    better, worse = piece("lit at dusk. The wick"), piece("is lit at dusk.")
    assert [p.text for p in join(better, worse, most=5)] == ["lit at dusk. The wick", "is "]


@pytest.mark.parametrize("text", [None, "Something else stands here now, since a moment ago."])
def test_a_document_that_has_just_changed_is_left_alone(text: str | None) -> None:
    found = [piece("The lamp is lit at dusk."), piece("The wick is trimmed twice.")]
    assert join(*found, text=text) == found


@st.composite
def found_in_a_text(draw: st.DrawFn) -> tuple[str, list[Passage]]:
    text = draw(st.text(st.sampled_from("ab \n"), min_size=1, max_size=120))
    ends = st.integers(0, len(text))
    places = draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=12))
    pieces = [(min(place), max(place)) for place in places if place[0] != place[1]]
    found = [passage(text[s:e], s, 1.0 - n / 20) for n, (s, e) in enumerate(pieces)]
    return text, found


@given(found_in_a_text(), st.integers(1, 40))
def test_joined_passages_are_their_text_and_never_overlap(
    made: tuple[str, list[Passage]], most: int
) -> None:
    text, found = made
    result = join(*found, text=text, most=most)
    assert all(p.text == text[p.start : p.end] for p in result)
    if len(found) > 1:
        assert all(a[1] <= b[0] for a, b in pairwise(sorted(spans(result))))
    longest = max(count_words([p.text for p in found]), default=0)
    assert all(n <= max(most, longest) for n in count_words([p.text for p in result]))
    assert [p.score for p in result] == sorted((p.score for p in result), reverse=True)


@given(found_in_a_text(), st.integers(1, 40))
def test_joining_loses_no_word(made: tuple[str, list[Passage]], most: int) -> None:
    text, found = made
    covered = {i for s, e in spans(join(*found, text=text, most=most)) for i in range(s, e)}
    wanted = {i for s, e in spans(found) for i in range(s, e) if not text[i].isspace()}
    assert wanted <= covered


# --- duplicates -----------------------------------------------------------------------------------


def test_the_same_text_in_two_files_is_shown_once() -> None:
    best = passage("The lamp is lit.", document_id="a", score=0.9)
    copy = passage("The  lamp is LIT!", document_id="b", score=0.8)
    [one] = folded([best, copy])
    assert (one.path, one.score, one.also_in) == ("/a.md", 0.9, ("/b.md",))


def test_a_passage_that_says_more_takes_the_place_of_the_shorter() -> None:
    short = passage("The lamp is lit.", document_id="a", score=0.9)
    other = passage("The ferry leaves.", document_id="b", score=0.8)
    long = passage("The lamp is lit. At dusk.", document_id="c", score=0.5)
    first, second = folded([short, other, long])
    assert (first.path, first.score, first.also_in) == ("/c.md", 0.9, ("/a.md",))
    assert second == other


def test_a_good_short_passage_is_not_buried_in_a_long_one() -> None:
    short = passage("The lamp is lit.", document_id="a", score=0.9)
    long = passage("Much else. " * 20 + "The lamp is lit.", document_id="b", score=0.1)
    assert folded([short, long]) == [short, long]
    assert [p.document_id for p in folded([long, short])] == ["b"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It costs 5 pounds.", "It costs 6 pounds."),
        ("It is 5 degrees.", "It is -5 degrees."),
        ("A lamp", "A lamplight"),
        ("…", "---"),
    ],
)
def test_what_differs_in_a_word_is_no_duplicate(one: str, other: str) -> None:
    found = [passage(one, document_id="a"), passage(other, document_id="b")]
    assert folded(found) == found


CLAUSE = (
    "The tenant of the boathouse keeps the landing stage clean, oils the hinges of the gate in"
    " spring, reports damage to Bea Lund within 14 days, and returns every key that was handed over"
    " when the lease ends, in the state in which it was received by the tenant in the beginning."
)


def test_a_copy_with_another_spelling_is_shown_once() -> None:
    copy = passage(CLAUSE.replace("beginning", "begining"), document_id="b", score=0.8)
    [one] = folded([passage(CLAUSE, document_id="a"), copy])
    assert one.also_in == ("/b.md",)


@pytest.mark.parametrize(("word", "other"), [("14", "30"), ("Bea", "Ida"), ("that", "not")])
def test_a_copy_with_another_figure_name_or_small_word_is_none(word: str, other: str) -> None:
    found = [passage(CLAUSE), passage(CLAUSE.replace(word, other), document_id="b")]
    assert len(folded(found)) == 2


def test_text_repeated_in_one_file_is_not_said_to_be_elsewhere() -> None:
    [one] = folded([passage("Page head."), passage("Page head.", 500)])
    assert one.also_in == ()


TEXTS = st.lists(st.text(st.sampled_from("ab "), max_size=12), max_size=10)


@given(TEXTS)
def test_of_what_is_left_nothing_repeats_something_better(texts: list[str]) -> None:
    found = [
        passage(text, document_id=str(n), score=-n) for n, text in enumerate(texts) if text.split()
    ]
    result = folded(found)
    words = [f" {' '.join(re.findall(r'[ab]+', p.text))} " for p in result]
    assert not any(later in words[i] for i in range(len(words)) for later in words[i + 1 :])
    seen = {p.path for p in result} | {path for p in result for path in p.also_in}
    assert seen == {p.path for p in found}
    assert [p.score for p in result] == sorted((p.score for p in result), reverse=True)


# --- the budget and the order ---------------------------------------------------------------------


@given(st.lists(st.integers(1, 50), max_size=12), st.integers(1, 10), st.integers(1, 120))
def test_the_budget_is_kept_and_the_best_is_in(sizes: list[int], most: int, tokens: int) -> None:
    found = [passage("w " * size, document_id=str(n)) for n, size in enumerate(sizes)]
    kept = fitting(found, count_words, most=most, most_tokens=tokens)
    assert kept[:1] == found[:1]
    assert len(kept) <= most
    assert sum(count_words([p.text for p in kept])) <= max(tokens, *sizes[:1], 0)


def test_a_documents_passages_stand_together_at_its_best_place() -> None:
    found = [passage("w", n, document_id=d) for n, d in enumerate("abacb")]
    assert [(p.document_id, p.start) for p in grouped(found)] == [
        ("a", 0), ("a", 2), ("b", 1), ("b", 4), ("c", 3),
    ]  # fmt: skip


def test_a_copied_folder_gives_each_joined_passage_once() -> None:
    parts = ("The lamp is lit at dusk.", "The wick is trimmed twice.")
    found = [
        passage(part, TEXT.index(part), 1.0, name)
        for name, part in (("a", parts[0]), ("b", parts[0]), ("b", parts[1]), ("a", parts[1]))
    ]
    [one] = choose_sources(found, contents(TEXT), count_words, most=8, most_tokens=2400)
    assert (one.n, one.path, one.also_in) == (1, "/a.md", ("/b.md",))
    assert one.text == " ".join(parts)


def test_a_passage_is_as_relevant_as_the_best_that_repeats_it() -> None:
    one, other = (passage("The lamp is lit.", document_id=name) for name in "de")
    [kept] = folded([replace(one, relevance=0.2), replace(other, relevance=0.9)])
    assert kept.relevance == 0.9
