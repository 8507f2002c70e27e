"""The facets of files: what the table can be filtered by, and the number of files per value.

Pure and fast, because there may be 50,000 rows: each row has one key, few keys differ, and all
counting is done over the keys. Any thread.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import StrEnum

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.ui.foundation.document_kinds import kind_of


class StateGroup(StrEnum):
    """The states as people filter by them: searchable at least by words, failed or skipped."""

    SEARCHABLE = "Searchable"
    IN_PROGRESS = "In progress"
    NOT_READ = "Not read"
    EXCLUDED = "Excluded"
    OFFLINE = "Offline"


class Facet(StrEnum):
    """The facets, in their order beside the table."""

    STATE = "State"
    KIND = "Type"
    FOLDER = "Folder"
    COLLECTION = "Collection"
    TAG = "Tag"


_GROUP_OF_STATE: Mapping[DocumentState, StateGroup] = {
    DocumentState.SEARCHABLE: StateGroup.SEARCHABLE,
    DocumentState.SEARCHABLE_BY_WORDS: StateGroup.SEARCHABLE,
    DocumentState.WAITING: StateGroup.IN_PROGRESS,
    DocumentState.READING: StateGroup.IN_PROGRESS,
    DocumentState.FAILED: StateGroup.NOT_READ,
    DocumentState.SKIPPED: StateGroup.NOT_READ,
    DocumentState.OFFLINE: StateGroup.OFFLINE,
    DocumentState.GONE: StateGroup.OFFLINE,
}
# Between the id of a source and the name of a folder in it.
_SEPARATOR = "\0"
# State, kind, source id, folder in the source, tags, and True inside a file; plain texts, since
# hashing an enum runs Python code.
FacetKey = tuple[str, str, str, str, tuple[str, ...], bool]
KeyCounts = Counter[FacetKey]
# The number of files of each value of each facet.
ValueCounts = Mapping[Facet, Mapping[str, int]]


def group_of(document: Document) -> StateGroup:
    """The state as people filter by it."""
    return StateGroup.EXCLUDED if document.is_excluded else _GROUP_OF_STATE[document.state]


def key_of(document: Document, folder: str) -> FacetKey:
    """The values of a document; `folder` is its folder, beginning with the name of the source."""
    inside = folder.replace("\\", "/").split("/", 2)
    sub = inside[1] if len(inside) > 1 else ""
    state, kind = group_of(document).value, kind_of(document).value
    tags = tuple(document.all_tags)
    return (state, kind, document.source_id, sub, tags, bool(document.parent_id))


def is_inside(key: FacetKey) -> bool:
    """True for documents inside files, such as attachments of mail, which don't count as files."""
    return key[5]


def inside_count(of_keys: KeyCounts) -> int:
    """The number of documents inside files."""
    return sum(number for key, number in of_keys.items() if is_inside(key))


def folder_value(source_id: str, sub: str = "") -> str:
    """The value of FOLDER for a source, or for a folder in it."""
    return f"{source_id}{_SEPARATOR}{sub}" if sub else source_id


def source_and_folder(value: str) -> tuple[str, str]:
    """The inverse of `folder_value`."""
    source_id, _, sub = value.partition(_SEPARATOR)
    return source_id, sub


@dataclass(frozen=True, slots=True)
class FileFilter:
    """What the table shows: files that have one of the chosen values of each facet, and all words.

    A facet without chosen values admits every file. `collections` maps sources to collections.
    """

    text: str = ""
    chosen: Mapping[Facet, frozenset[str]] = field(default_factory=dict[Facet, frozenset[str]])
    collections: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a file must contain, in lower case."""
        return tuple(self.text.casefold().split())

    def values(self, facet: Facet) -> frozenset[str]:
        """The chosen values of a facet."""
        return self.chosen.get(facet, frozenset())

    def with_values(self, facet: Facet, values: Iterable[str]) -> "FileFilter":
        """The filter with other values of one facet."""
        chosen = {**self.chosen, facet: frozenset(values)}
        return replace(self, chosen={f: v for f, v in chosen.items() if v})

    def toggled(self, facet: Facet, value: str) -> "FileFilter":
        """The filter with one value added or removed."""
        return self.with_values(facet, self.values(facet) ^ {value})

    def values_of(self, key: FacetKey, facet: Facet) -> tuple[str, ...]:
        """The values that files with this key have of a facet."""
        state, kind, source_id, sub, tags, _inside = key
        match facet:
            case Facet.STATE:
                return (state,)
            case Facet.KIND:
                return (kind,)
            case Facet.FOLDER:
                return (source_id, folder_value(source_id, sub)) if sub else (source_id,)
            case Facet.COLLECTION:
                return (self.collections.get(source_id, ""),)
            case Facet.TAG:
                return tags

    def admits(self, key: FacetKey, *, but: Facet | None = None) -> bool:
        """True if files with this key are shown; the facet `but` is ignored."""
        return all(
            facet is but or not wanted.isdisjoint(self.values_of(key, facet))
            for facet, wanted in self.chosen.items()
        )

    def admitted(self, keys: Iterable[FacetKey]) -> AbstractSet[FacetKey]:
        """The keys whose files are shown."""
        return {key for key in keys if self.admits(key)}

    def counts(self, facet: Facet, of_keys: KeyCounts) -> Counter[str]:
        """The number of files of each value, among those that the other facets admit."""
        found: Counter[str] = Counter()
        for key, number in of_keys.items():
            if number and not is_inside(key) and self.admits(key, but=facet):
                for value in self.values_of(key, facet):
                    found[value] += number
        return found
