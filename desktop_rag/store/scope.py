"""Which chunks a search may find: a collection, what the question filters, nothing that is gone.

Conditions for SQL, made on an open cursor. Any thread.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from desktop_rag.core.query import Filters
from desktop_rag.store.database import Connection

_CHUNKS_OF = (
    " AND {column} IN (SELECT c.{column} FROM chunks c JOIN documents d USING (document_id)"
    " JOIN sources s USING (source_id) LEFT JOIN collections k USING (collection_id)"
    " WHERE {conditions})"
)
_HOLDING = (
    "SELECT chunk_id FROM (FROM postings UNION ALL FROM recent_postings)"
    " WHERE term IN (SELECT unnest(${name}))"
)
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be found. With empty values it is everything.

    `collection_ids` and `document_ids` None is every one, an empty tuple none at all. Of each
    `required` word one of its alternative terms must stand in the chunk, of each `excluded` one
    none may.
    """

    collection_ids: tuple[str, ...] | None = None
    filters: Filters = field(default_factory=Filters)
    document_ids: tuple[str, ...] | None = None
    required: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()

    def within(self, collection_ids: tuple[str, ...] | None) -> "Scope":
        """The part of the scope that lies in these collections; None is every one."""
        if collection_ids is None:
            return self
        own = self.collection_ids
        both = collection_ids if own is None else tuple(i for i in own if i in collection_ids)
        return replace(self, collection_ids=both)

    def of_documents(self, document_ids: tuple[str, ...]) -> "Scope | None":
        """The part of the scope in these documents; None without any."""
        return replace(self, document_ids=document_ids) if document_ids else None

    def condition(self, con: Connection, column: str) -> tuple[str, dict[str, Any]]:
        """SQL that begins with AND, and its parameters; empty when everything may be found.

        `column` is of the table chunks: chunk_id, content_hash or document_id.
        """
        conditions, parameters = self._of_documents()
        # Files that vanished in great numbers are kept for a while, and found by no one.
        [(hidden,)] = con.execute("SELECT count(*) FROM documents WHERE state = 'gone'").fetchall()
        if hidden:
            conditions.append("d.state <> 'gone'")
        for n, word in enumerate((*self.required, *self.excluded)):
            negation = "" if n < len(self.required) else "NOT "
            conditions.append(f"c.chunk_id {negation}IN ({_HOLDING.format(name=f'word{n}')})")
            parameters[f"word{n}"] = list(word)
        if not conditions:
            return "", {}
        return _CHUNKS_OF.format(column=column, conditions=" AND ".join(conditions)), parameters

    def _of_documents(self) -> tuple[list[str], dict[str, Any]]:
        filters = self.filters
        conditions: list[str] = []
        parameters: dict[str, Any] = {}
        if self.collection_ids is not None:
            conditions.append("s.collection_id IN (SELECT unnest($collections))")
            parameters["collections"] = list(self.collection_ids)
        if self.document_ids is not None:
            conditions.append("d.document_id IN (SELECT unnest($documents))")
            parameters["documents"] = list(self.document_ids)
        for name, column, values in (
            ("file", "parse_filename(d.path) || ' ' || d.part || ' ' || d.url", filters.files),
            ("folder", "parse_dirpath(d.path) || '/'", filters.folders),
            ("kind", "k.name", filters.collections),
        ):
            if values:
                holes = [
                    f"contains(lower({column}), lower(${name}{n}))" for n in range(len(values))
                ]
                conditions.append(f"({' OR '.join(holes)})")
                parameters |= {f"{name}{n}": value for n, value in enumerate(values)}
        if filters.types:
            conditions.append(
                "(d.format IN (SELECT unnest($types)) OR"
                " list_contains($types, lower(regexp_extract(d.path, '\\.([^./\\\\]+)$', 1))))"
            )
            parameters["types"] = list(filters.types)
        if filters.after:
            conditions.append("d.mtime_ns >= $after")
            parameters["after"] = _nanoseconds(filters.after)
        if filters.before:
            conditions.append("d.mtime_ns < $before")
            parameters["before"] = _nanoseconds(filters.before)
        return conditions, parameters


def _nanoseconds(day: date) -> int:
    """The first moment of a day where the person is."""
    begins = datetime(day.year, day.month, day.day).astimezone()
    return int(begins.astimezone(UTC).timestamp()) * _NANOSECONDS
