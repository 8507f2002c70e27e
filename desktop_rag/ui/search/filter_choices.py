"""The filters that are offered, with the number of files of each. Worker threads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_rag.core.domain import Source
from desktop_rag.core.question_scope import ScopeItem
from desktop_rag.ui.foundation.wording import collection_name, one_line
from desktop_rag.ui.search.search_filters import FilterKind, SearchFilter

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

# A longer menu is scrolled, not read.
_MOST_TAGS, _MOST_FOLDERS = 30, 12


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter with the number of files that pass it; folders have those inside them."""

    filter: SearchFilter
    files: int
    inside: "tuple[Choice, ...]" = ()


Choices = Mapping[FilterKind, Sequence[Choice]]


def choices_of(library: "Library") -> Choices:
    """What can be chosen now; dates are always the same."""
    facets, sources = library.documents.facets(), library.collections.searchable_sources()
    searchable = {s.source_id: library.documents.counts(s.source_id).searchable for s in sources}
    types = [
        Choice(SearchFilter(FilterKind.TYPE, _shown(name), name), count)
        for name, count in sorted(facets.formats.items(), key=lambda one: (-one[1], one[0]))
        if name
    ]
    tags = sorted(library.tags.counts(), key=lambda tag: -tag.files)[:_MOST_TAGS]
    collections = [
        Choice(
            SearchFilter(FilterKind.COLLECTION, collection_name(c), ScopeItem.of_collection(c)),
            sum(searchable[s.source_id] for s in sources if s.collection_id == c.collection_id),
        )
        for c in library.collections.searchable()
    ]
    return {
        FilterKind.TYPE: types,
        FilterKind.FOLDER: [
            _of_source(s, searchable[s.source_id], facets.folders) for s in sources
        ],
        FilterKind.COLLECTION: collections if len(collections) > 1 else [],
        FilterKind.TAG: [
            Choice(SearchFilter(FilterKind.TAG, one_line(tag.name), tag.name), tag.files)
            for tag in sorted(tags, key=lambda tag: tag.name.casefold())
        ],
    }


def folder_filter(path: Path) -> SearchFilter:
    """The filter for all that lies below a folder."""
    item = ScopeItem.of_folder(path)
    return SearchFilter(FilterKind.FOLDER, one_line(item.name), item)


def _of_source(source: Source, files: int, folders: Mapping[str, int]) -> Choice:
    item = ScopeItem.of_source(source)
    chosen = SearchFilter(FilterKind.FOLDER, one_line(item.name), item)
    return Choice(chosen, files, tuple(_inside(source.path, folders)) if source.is_on_disk else ())


def _inside(path: Path, folders: Mapping[str, int]) -> Iterable[Choice]:
    """The largest folders directly below a path."""
    counts: dict[str, int] = {}
    depth = len(path.parts)
    for folder, count in folders.items():
        parts = Path(folder).parts
        if len(parts) > depth and parts[:depth] == path.parts:
            counts[parts[depth]] = counts.get(parts[depth], 0) + count
    largest = sorted(counts, key=lambda name: -counts[name])[:_MOST_FOLDERS]
    for name in sorted(largest, key=str.casefold):
        yield Choice(folder_filter(path / name), counts[name])


def _shown(name: str) -> str:
    """The name of a format at the beginning of a line."""
    return name[0].upper() + name[1:]
