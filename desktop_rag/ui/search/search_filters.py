"""Filters that a person chooses beside the words of a search, and what they limit it to. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum

from desktop_rag.core.language.translation import tr
from desktop_rag.core.query import Filters, Query
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import ScopeItem
from desktop_rag.ui.foundation.document_kinds import DocumentKind, types_of
from desktop_rag.ui.foundation.wording import value_in_words

_FIRST_MONTH = 1


class FilterKind(Enum):
    """The value is the word on its button."""

    TYPE = "Type"
    FOLDER = "Folder"
    COLLECTION = "Collection"
    DATE = "Date"
    TAG = "Tag"


@dataclass(frozen=True, slots=True)
class DateSpan:
    """Days from `after`, included, to `before`, excluded; None is open."""

    after: date | None = None
    before: date | None = None


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """One chosen value: a DocumentKind or a tag by its name, a part of the library, or days."""

    kind: FilterKind
    label: str
    value: str | ScopeItem | DateSpan

    @property
    def words(self) -> str:
        """The chip: `Type: PDF`; a tag and days say what they are."""
        match self.kind:
            case FilterKind.TAG:
                return f"#{self.label}"
            case FilterKind.DATE:
                return self.label
            case kind:
                return f"{value_in_words(kind, begins=True)}: {self.label}"


def with_filter(filters: tuple[SearchFilter, ...], added: SearchFilter) -> tuple[SearchFilter, ...]:
    """The filters with one more; there is one span of days only."""
    is_date = added.kind is FilterKind.DATE
    kept = [f for f in filters if f != added and not (is_date and f.kind is added.kind)]
    return (*kept, added)


def reach_of(filters: Iterable[SearchFilter]) -> SearchScope:
    """The limits of a search with these filters: of one kind they are alternatives."""
    by_kind = {kind: [f.value for f in filters if f.kind is kind] for kind in FilterKind}
    items = {
        kind: [v for v in values if isinstance(v, ScopeItem)] for kind, values in by_kind.items()
    }
    names = {kind: [v for v in values if isinstance(v, str)] for kind, values in by_kind.items()}
    span = next((v for v in by_kind[FilterKind.DATE] if isinstance(v, DateSpan)), DateSpan())
    types, other_types = types_of([DocumentKind(name) for name in names[FilterKind.TYPE]])
    limits = Filters(
        types=types,
        other_types=other_types,
        tags=tuple(names[FilterKind.TAG]),
        after=span.after,
        before=span.before,
    )
    return SearchScope(
        collection_ids=tuple(item.key for item in items[FilterKind.COLLECTION]),
        limits=Query("", filters=limits),
        about=tuple(items[FilterKind.FOLDER]),
    )


def usual_dates(today: date) -> tuple[SearchFilter, ...]:
    """Spans of days that people search for."""
    year = date(today.year, _FIRST_MONTH, 1)
    last_year = date(today.year - 1, _FIRST_MONTH, 1)
    return tuple(
        SearchFilter(FilterKind.DATE, label, span)
        for label, span in (
            (tr("Today"), DateSpan(today)),
            (tr("Last 7 days"), DateSpan(today - timedelta(days=6))),
            (tr("Last 30 days"), DateSpan(today - timedelta(days=29))),
            (tr("This year"), DateSpan(year)),
            (tr("Last year"), DateSpan(last_year, year)),
            (tr("Before {year}", year=last_year.year), DateSpan(None, last_year)),
        )
    )


def chosen_dates(first: date | None, last: date | None) -> SearchFilter | None:
    """The filter for days from the first to the last, both included; None for neither."""
    if first is None and last is None:
        return None
    said = [
        tr("from {day}", day=_day(first)) if first else "",
        tr("to {day}", day=_day(last)) if last else "",
    ]
    span = DateSpan(first, last + timedelta(days=1) if last else None)
    label = " ".join(filter(None, said))
    return SearchFilter(FilterKind.DATE, label[0].upper() + label[1:], span)


def _day(day: date) -> str:
    return f"{day.day} {day:%b} {day.year}"
