"""Rows of the documents table: cell texts, sort keys and filter text. Any thread.

Pure and fast: there may be 50,000 rows.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import attrgetter
from typing import Any

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.language.translation import number_in_words, told, tr
from desktop_rag.core.parsed import HEADING_SEPARATOR
from desktop_rag.core.text import sentences
from desktop_rag.ui.foundation.days import moment_in_words
from desktop_rag.ui.foundation.wording import one_line, size_in_words, value_in_words
from desktop_rag.ui.library.facets.facet_values import FacetKey, KeyCounts, key_of


class Column(IntEnum):
    """The columns from left to right."""

    NAME = 0
    FOLDER = 1
    STATE = 2
    REASON = 3
    PASSAGES = 4
    SIZE = 5
    INDEXED = 6


TITLES = (
    tr("Name"),
    tr("Folder"),
    tr("State"),
    tr("Reason"),
    tr("Passages"),
    tr("Size"),
    tr("Indexed"),
)
NUMBER_COLUMNS = frozenset({Column.PASSAGES, Column.SIZE})
_MAX_MERGED = 2000
_STATE_RANKS = {state: rank for rank, state in enumerate(DocumentState)}


_ID_CHARS = 32


class Row:
    """One document with its sort and filter texts, computed once per change.

    `key` is the unique sort key of the current order, `facets` the values it is filtered by. The
    model sets `is_shown`: True while the row passes the filter.
    """

    __slots__ = ("document", "facets", "folder", "haystack", "is_shown", "key", "name", "name_key")

    def __init__(self, document: Document, root: str) -> None:
        """`root` is the path of the document's source, empty when unknown."""
        self.is_shown = False
        self.read(document, root)

    def read(self, document: Document, root: str) -> None:
        """Read a new state of the same document; `key` is reset to the name."""
        self.document = document
        whole = str(document.path)
        self.folder, self.name = _place(document, whole, root)
        # The folder begins with the name of the source if the file is below it.
        is_below = bool(document.url or (root and whole.startswith(root) and whole != root))
        self.facets: FacetKey = key_of(document, self.folder if is_below else "")
        # The folder of what was fetched is named by the id of its source.
        own = document.source_id
        if len(own) == _ID_CHARS and self.folder.startswith(own):
            self.folder = self.folder.removeprefix(own).lstrip("/\\")
        self.name_key = f"{self.name.casefold()}\0{whole}\0{document.document_id}"
        texts = (self.folder, self.name, document.title, told(document.reason), *document.all_tags)
        self.haystack = " ".join(texts).casefold()
        self.key: Any = self.name_key


StateCounts = dict[str, Counter[DocumentState]]


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """All documents prepared for the model, with counts by source and state, and by facets."""

    rows: list[Row]
    by_id: dict[str, Row]
    counts: StateCounts
    facets: KeyCounts
    roots: dict[str, str]


def make_table(documents: Iterable[Document], roots: Mapping[str, str]) -> DocumentRows:
    """Prepare the documents that still exist. `roots` maps source ids to paths."""
    rows = [
        Row(document, roots.get(document.source_id, ""))
        for document in documents
        if not document.is_forgotten
    ]
    rows.sort(key=attrgetter("key"))
    counts: StateCounts = {}
    for row in rows:
        count(counts, row.document, 1)
    by_id = {row.document.document_id: row for row in rows}
    return DocumentRows(rows, by_id, counts, facet_counts(rows), dict(roots))


def facet_counts(rows: Iterable[Row]) -> KeyCounts:
    """The number of rows of each key."""
    return Counter(map(attrgetter("facets"), rows))


def count(counts: StateCounts, document: Document, by: int) -> None:
    """Add `by` (1 or -1) to the count of the document's source and state.

    Documents inside files don't count, here as in the store.
    """
    if document.parent_id:
        return
    of_source = counts.get(document.source_id)
    if of_source is None:
        of_source = counts[document.source_id] = Counter()
    of_source[document.state] += by


def position_of(row: Row, ordered: Sequence[Row]) -> int:
    """The row's index, or its insertion point, in rows sorted by key."""
    return bisect_left(ordered, row.key, key=attrgetter("key"))


def merged(ordered: list[Row], moved: list[Row]) -> list[Row]:
    """`ordered` with the rows of `moved`, which it lacks, inserted in order; fast for few rows."""
    if len(moved) > _MAX_MERGED:
        return sorted([*ordered, *moved], key=attrgetter("key"))
    result: list[Row] = []
    at = 0
    for row in sorted(moved, key=attrgetter("key")):
        place = bisect_left(ordered, row.key, lo=at, key=attrgetter("key"))
        result += ordered[at:place]
        result.append(row)
        at = place
    return result + ordered[at:]


def sort_key(row: Row, column: int) -> Any:
    """The sort key for a column; ties are sorted by name."""
    document = row.document
    match column:
        case Column.FOLDER:
            return f"{row.folder.casefold()}\0{row.name_key}"
        case Column.STATE:
            return (_STATE_RANKS[document.state], row.name_key)
        case Column.REASON:
            return (not document.reason, told(document.reason).casefold(), row.name_key)
        case Column.PASSAGES:
            return (document.chunk_count, row.name_key)
        case Column.SIZE:
            return (document.stat.size_bytes, row.name_key)
        case Column.INDEXED:
            return (document.indexed_at, row.name_key)
        case _:
            return row.name_key


def cell_text(row: Row, column: int) -> str:
    """The text of a cell, on one line."""
    document = row.document
    match column:
        case Column.NAME:
            return one_line(row.name)
        case Column.FOLDER:
            return one_line(row.folder)
        case Column.STATE:
            return value_in_words(document.state, begins=True)
        case Column.REASON:
            # What happened; the tooltip also says what can be done.
            return reason_in_short(document.reason)
        case Column.PASSAGES:
            return number_in_words(document.chunk_count) if document.chunk_count else ""
        case Column.SIZE:
            return size_in_words(document.stat.size_bytes)
        case _:
            return moment_in_words(document.indexed_at)


def reason_in_short(reason: str) -> str:
    """The first sentence of a reason, on one line."""
    text = told(reason)
    start, end = next(iter(sentences(text)), (0, len(text)))
    return one_line(text[start:end].strip())


def whole_text(row: Row, column: int) -> str:
    """The tooltip of a cell: the full path, and the reason for the file's state."""
    place = one_line(row.document.url or str(row.document.path))
    reason = one_line(told(row.document.reason))
    whole = {
        Column.NAME: (place, reason),
        Column.FOLDER: (place,),
        Column.STATE: (reason,),
        Column.REASON: (reason,),
    }.get(Column(column), ())
    return "\n".join(line for line in whole if line)


def _place(document: Document, whole: str, root: str) -> tuple[str, str]:
    if document.url:
        _, _, rest = document.url.partition("://")
        host, _, path = rest.partition("/")
        return host, f"/{path}"
    folder, name = _split(whole, root)
    return folder, f"{name}{HEADING_SEPARATOR}{document.part}" if document.part else name


def _split(whole: str, root: str) -> tuple[str, str]:
    """The folder, relative to the parent of the source, and the file name."""
    separator = "\\" if "\\" in whole and "/" not in whole else "/"
    parent, _, name = whole.rpartition(separator)
    above = root.rpartition(separator)[0]
    is_inside = bool(root) and whole.startswith(root + separator)
    return parent[len(above) + 1 :] if is_inside else parent, name
