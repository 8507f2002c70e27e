import pytest

from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.evaluation.measures.query_sets import GoldSpan
from desktop_rag.features.evaluation.measures.search import (
    PlacedGold,
    length,
    overlap,
    place,
    span_figures,
    span_row,
)


def passage(path: str, start: int, end: int) -> Passage:
    return Passage(0, path, path, "", "", Anchor(), start, end, 1.0)


def gold(text: str, start: int = 0) -> GoldSpan:
    return GoldSpan("a.md", start, start + len(text), text)


def test_characters_in_two_spans_count_once() -> None:
    spans = {"a": [(0, 10), (5, 15), (20, 25)], "b": [(0, 3)]}
    assert length(spans) == 23


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"a": [(5, 12)]}, 5),
        ({"a": [(5, 12), (8, 30)]}, 15),
        ({"a": [(10, 20)]}, 0),
        ({"b": [(0, 30)]}, 0),
        ({}, 0),
    ],
)
def test_overlap_is_what_both_hold(other: dict[str, list[tuple[int, int]]], expected: int) -> None:
    spans = {"a": [(0, 10), (20, 30)], "c": [(0, 5)]}
    assert overlap(spans, other) == overlap(other, spans) == expected


def test_recall_and_precision_are_of_characters() -> None:
    placed = PlacedGold({"a": [(10, 30)]}, unplaced_spans=1, unplaced_chars=20)
    found = (passage("a", 0, 20), passage("a", 15, 25), passage("b", 0, 75))
    row = span_row(placed, found)
    assert (row["recall"], row["precision"]) == (15 / 40, 0.15)
    assert (row["gold_chars"], row["unplaced"]) == (40, 1)


def test_nothing_found_is_zero() -> None:
    row = span_row(PlacedGold({"a": [(10, 30)]}), ())
    assert (row["recall"], row["precision"]) == (0.0, 0.0)


def test_pooled_recall_weighs_by_length() -> None:
    long = span_row(PlacedGold({"a": [(0, 90)]}), (passage("a", 0, 90),))
    short = span_row(PlacedGold({}, 1, 10), (passage("a", 0, 90),))
    figures = span_figures([long, short], 5)
    assert (figures["span_recall@5"], figures["pooled_recall@5"]) == (0.5, 0.9)
    assert (figures["span_precision@5"], figures["unplaced"]) == (0.5, 1)


def test_gold_is_placed_as_it_is_written_nearest_to_where_it_was() -> None:
    text = "one lamp, another lamp, a third lamp"
    assert place(gold("lamp", 18), text, len(text)) == (18, 22)
    assert place(gold("lamp", 36), text, 2 * len(text)) == (18, 22)


def test_gold_is_placed_whatever_its_white_space() -> None:
    assert place(gold("the lamp (red)\nis lit"), "Now the lamp  (red) is lit.", 27) == (4, 26)


def test_gold_is_placed_by_alignment_at_last() -> None:
    text = "Yesterday the keeper's lamp was lit again at dusk, they say."
    found = place(gold("the keeper’s lamp was lit again at dusk"), text, len(text))
    assert found
    assert text[slice(*found)] == "the keeper's lamp was lit again at dusk"


@pytest.mark.parametrize("text", ["a ferry leaves at noon", "  \n"])
def test_gold_that_is_nowhere_has_no_place(text: str) -> None:
    assert place(gold(text), "The lamp is lit at dusk by the keeper.", 38) is None
