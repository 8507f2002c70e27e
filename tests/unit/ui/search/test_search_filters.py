from datetime import date
from pathlib import Path

from desktop_rag.core.domain import Collection
from desktop_rag.core.question import EVERYTHING
from desktop_rag.core.question_scope import ScopeItem
from desktop_rag.ui.foundation.document_kinds import DocumentKind
from desktop_rag.ui.search.filter_choices import (
    DateSpan,
    FilterKind,
    SearchFilter,
    chosen_dates,
    folder_filter,
    reach_of,
    usual_dates,
    with_filter,
)

PDF = SearchFilter(FilterKind.TYPE, "PDF", "PDF")
WORD = SearchFilter(FilterKind.TYPE, "Word document", DocumentKind.WORD.value)
ROOF = SearchFilter(FilterKind.TAG, "roof", "roof")
TODAY = date(2026, 3, 1)


def test_without_filters_everything_is_searched() -> None:
    assert reach_of(()) == EVERYTHING


def test_filters_of_one_kind_are_alternatives_and_kinds_add_up() -> None:
    work = ScopeItem.of_collection(Collection("c1", "Work"))
    reach = reach_of(
        (PDF, ROOF, WORD, folder_filter(Path("/docs/a")), folder_filter(Path("/docs/b")),
         SearchFilter(FilterKind.COLLECTION, "Work", work))
    )  # fmt: skip
    word = ("word", "word 97-2003", "opendocument text", "rich text")
    assert reach.limits.filters.types == ("pdf", *word)
    assert reach.limits.filters.tags == ("roof",)
    assert [item.key for item in reach.about] == [str(Path("/docs/a")), str(Path("/docs/b"))]
    assert reach.collection_ids == ("c1",)


def test_a_filter_is_chosen_once_and_there_is_one_span_of_days() -> None:
    week, month = usual_dates(TODAY)[1:3]
    chosen = with_filter(with_filter(with_filter((PDF,), week), PDF), month)
    assert chosen == (PDF, month)
    assert reach_of(chosen).limits.filters.after == date(2026, 1, 31)


def test_usual_days_end_where_they_say() -> None:
    days = {each.label: each.value for each in usual_dates(TODAY)}
    assert days["Today"] == DateSpan(TODAY)
    assert days["Last 7 days"] == DateSpan(date(2026, 2, 23))
    assert days["Last year"] == DateSpan(date(2025, 1, 1), date(2026, 1, 1))
    assert days["Before 2025"] == DateSpan(None, date(2025, 1, 1))


def test_chosen_days_include_the_last_one() -> None:
    chosen = chosen_dates(date(2026, 1, 5), date(2026, 1, 31))
    assert chosen is not None
    assert chosen.words == "From 5 Jan 2026 to 31 Jan 2026"
    assert chosen.value == DateSpan(date(2026, 1, 5), date(2026, 2, 1))
    assert chosen_dates(None, None) is None
    only_last = chosen_dates(None, date(2026, 1, 31))
    assert only_last is not None
    assert only_last.words == "To 31 Jan 2026"


def test_a_chip_says_what_kind_it_is() -> None:
    assert [PDF.words, ROOF.words] == ["Type: PDF", "#roof"]
