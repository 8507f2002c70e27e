"""The filters beside the words of a search, with their numbers of files.

The library is counted on worker threads, the results on any thread.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum
from pathlib import Path

from desktop_rag.core.domain import Document, Source
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import LibraryFacets
from desktop_rag.core.query import Filters, Query
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.document_kinds import (
    DocumentKind,
    kind_in_words,
    kind_of,
    kinds_of_format,
    types_of,
)
from desktop_rag.ui.foundation.wording import collection_name, one_line, value_in_words


class FilterKind(Enum):
    """A kind of filter; the value is the word on its button."""

    TYPE = "Type"
    FOLDER = "Folder"
    COLLECTION = "Collection"
    DATE = "Date"
    TAG = "Tag"


@dataclass(frozen=True, slots=True)
class DateSpan:
    """Days from `after`, included, to `before`, excluded; None is open-ended."""

    after: date | None = None
    before: date | None = None


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """One chosen value: a DocumentKind or tag by name, a part of the library, or days."""

    kind: FilterKind
    label: str
    value: str | ScopeItem | DateSpan

    @property
    def words(self) -> str:
        """The text of the chip: `Type: PDF`; tags and days stand alone."""
        match self.kind:
            case FilterKind.TAG:
                return f"#{self.label}"
            case FilterKind.DATE:
                return self.label
            case kind:
                return f"{value_in_words(kind, begins=True)}: {self.label}"


def with_filter(filters: tuple[SearchFilter, ...], added: SearchFilter) -> tuple[SearchFilter, ...]:
    """The filters and one more; it replaces another span of days."""
    is_date = added.kind is FilterKind.DATE
    kept = [f for f in filters if f != added and not (is_date and f.kind is added.kind)]
    return (*kept, added)


def reach_of(filters: Iterable[SearchFilter]) -> SearchScope:
    """The limits of a search with these filters; those of one kind are alternatives."""
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
    """Common spans of days."""
    year = date(today.year, 1, 1)
    last_year = date(today.year - 1, 1, 1)
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


# Longer menus would have to be scrolled.
_MOST_TAGS, _MOST_FOLDERS = 30, 12


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter with the number of files that pass it; None if unknown.

    `parts` is the number of documents inside files. Folders have their subfolders in `inside`.
    """

    filter: SearchFilter
    files: int | None = None
    inside: "tuple[Choice, ...]" = ()
    parts: int = 0


Choices = Mapping[FilterKind, Sequence[Choice]]


def choices_of(library: Library) -> Choices:
    """The available choices, without dates, which are always the same."""
    facets, sources = library.documents.facets(), library.collections.searchable_sources()
    searchable = {s.source_id: library.documents.counts(s.source_id).searchable for s in sources}
    tags = sorted(library.tags.counts(), key=lambda tag: -tag.files)[:_MOST_TAGS]
    collections = [
        Choice(
            SearchFilter(FilterKind.COLLECTION, collection_name(c), ScopeItem.of_collection(c)),
            sum(searchable[s.source_id] for s in sources if s.collection_id == c.collection_id),
        )
        for c in library.collections.searchable()
    ]
    return {
        FilterKind.TYPE: _kinds(facets),
        FilterKind.FOLDER: [_of_source(s, searchable[s.source_id], facets) for s in sources],
        FilterKind.COLLECTION: collections if len(collections) > 1 else [],
        FilterKind.TAG: [
            Choice(SearchFilter(FilterKind.TAG, one_line(tag.name), tag.name), tag.files)
            for tag in sorted(tags, key=lambda tag: tag.name.casefold())
        ],
    }


def _kinds(facets: LibraryFacets) -> list[Choice]:
    """The kinds of documents; formats of several kinds have no number."""
    files, parts = _by_kind(facets.formats), _by_kind(facets.formats_inside)
    return [
        Choice(
            SearchFilter(FilterKind.TYPE, kind_in_words(kind), kind.value),
            files.get(kind, 0),
            parts=parts.get(kind) or 0,
        )
        for kind in DocumentKind
        if kind in files or kind in parts
    ]


def _by_kind(formats: Mapping[str, int]) -> dict[DocumentKind, int | None]:
    counts: dict[DocumentKind, int | None] = {}
    for name, number in formats.items():
        kinds = kinds_of_format(name)
        for kind in kinds:
            before = counts.get(kind, 0)
            counts[kind] = None if before is None or len(kinds) > 1 else before + number
    return counts


@dataclass(frozen=True, slots=True)
class Found:
    """The documents that a search found; `is_complete` if there are no others."""

    documents: tuple[Document, ...]
    is_complete: bool


def choices_among(choices: Sequence[Choice], found: Found) -> Sequence[Choice]:
    """The choices with the number of found files that pass each, those with none last.

    There are no numbers if the search found only the best.
    """
    counted = [_among(choice, found) for choice in choices]
    return sorted(counted, key=lambda choice: choice.files == 0 and not choice.parts)


def _among(choice: Choice, found: Found) -> Choice:
    passing = [(_passes(document, choice.filter), document.part) for document in found.documents]
    inside = tuple(choices_among(choice.inside, found))
    if not found.is_complete or any(passes is None for passes, _ in passing):
        return replace(choice, files=None, inside=inside, parts=0)
    parts = sum(bool(passes and part) for passes, part in passing)
    files = sum(bool(passes) for passes, _ in passing) - parts
    return replace(choice, files=files, inside=inside, parts=parts)


def _passes(document: Document, chosen: SearchFilter) -> bool | None:
    """True if a document passes a filter by type, tag or folder; None if its row can't tell."""
    match chosen.kind, chosen.value:
        case FilterKind.TYPE, str(name):
            return kind_of(document) == name
        case FilterKind.TAG, str(name):
            return name.casefold() in {tag.casefold() for tag in document.all_tags}
        case _, ScopeItem(kind=ScopeKind.FOLDER, key=path):
            return not document.url and document.path.is_relative_to(path)
        case _, ScopeItem(kind=ScopeKind.LINK, key=source_id):
            return document.source_id == source_id
        case _:
            return None


def folder_filter(path: Path) -> SearchFilter:
    """The filter for everything below a folder."""
    item = ScopeItem.of_folder(path)
    return SearchFilter(FilterKind.FOLDER, one_line(item.name), item)


def _of_source(source: Source, files: int, facets: LibraryFacets) -> Choice:
    item = ScopeItem.of_source(source)
    chosen = SearchFilter(FilterKind.FOLDER, one_line(item.name), item)
    if not source.is_on_disk:
        return Choice(chosen, files)
    parts = sum(_below(source.path, facets.folders_inside).values())
    return Choice(chosen, files, tuple(_inside(source.path, facets)), parts)


def _inside(path: Path, facets: LibraryFacets) -> Iterable[Choice]:
    """The largest folders directly below a path."""
    files = _below(path, facets.folders)
    parts = _below(path, facets.folders_inside)
    names = [name for name in {**files, **parts} if name]
    largest = sorted(names, key=lambda name: -files.get(name, 0))[:_MOST_FOLDERS]
    for name in sorted(largest, key=str.casefold):
        yield Choice(folder_filter(path / name), files.get(name, 0), parts=parts.get(name, 0))


def _below(path: Path, folders: Mapping[str, int]) -> dict[str, int]:
    """The counts below a path, by the folder directly below; "" is the path itself."""
    counts: dict[str, int] = {}
    depth = len(path.parts)
    for folder, count in folders.items():
        parts = Path(folder).parts
        if parts[:depth] == path.parts:
            name = parts[depth] if len(parts) > depth else ""
            counts[name] = counts.get(name, 0) + count
    return counts
