"""Translates a scope into a condition of DuckDB's SQL. Any thread, on an open cursor."""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

from desktop_rag.core.query import Filters
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.duckdb.database.database import Connection
from desktop_rag.store.duckdb.search.library_statistics import LibraryStatistics
from desktop_rag.store.sql.text_sql import folded, key_of, readable_rows

_CHUNKS_OF = (
    " AND {column} IN (SELECT c.{column} FROM chunks c JOIN documents d USING (document_id)"
    " JOIN sources s USING (source_id) LEFT JOIN collections k USING (collection_id)"
    " WHERE {conditions})"
)
_HOLDING = (
    "SELECT chunk_id FROM (SELECT key, chunk_id FROM postings"
    " UNION ALL SELECT key, chunk_id FROM recent_postings)"
    " WHERE key IN (SELECT unnest(${name}::UBIGINT[]))"
)
_NANOSECONDS = 1_000_000_000
# Files attached to chats are few: without other conditions, they are excluded from everything.
_ATTACHED = "(SELECT document_id FROM documents JOIN sources USING (source_id) WHERE is_attached)"
_ATTACHED_CHUNKS = (
    "(SELECT unnest(range(first_chunk, last_chunk + 1)) FROM document_texts"
    f" WHERE document_id IN {_ATTACHED})"
)
_NOT_ATTACHED = {
    "document_id": f" AND document_id NOT IN {_ATTACHED}",
    "chunk_id": f" AND chunk_id NOT IN {_ATTACHED_CHUNKS}",
    "content_hash": " AND content_hash NOT IN (SELECT unnest($attached_only::UUID[]))",
}


def condition_of(
    scope: Scope, con: Connection, statistics: LibraryStatistics, column: str
) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, and its parameters; empty when everything may be found.

    `column` belongs to the table chunks: chunk_id, content_hash or document_id.
    """
    conditions, parameters = _of_documents(scope)
    # Files that vanished in great numbers are kept for a while, out of reach of searches.
    if statistics.has_gone:
        conditions.append("d.state <> 'gone'")
    for n, word in enumerate((*scope.required, *scope.excluded)):
        negation = "" if n < len(scope.required) else "NOT "
        conditions.append(f"c.chunk_id {negation}IN ({_HOLDING.format(name=f'word{n}')})")
        parameters[f"word{n}"] = [key_of(term) for term in word]
    if scope.chunk_ids is not None:
        conditions.append("c.chunk_id IN (SELECT unnest($chunks::BIGINT[]))")
        parameters["chunks"] = list(scope.chunk_ids)
    if scope.attached:
        conditions.append("d.source_id IN (SELECT unnest($attached))")
        parameters["attached"] = list(scope.attached)
    elif statistics.has_attached:
        if not conditions:
            only = _attached_only(con) if column == "content_hash" else None
            return _NOT_ATTACHED[column], {} if only is None else {"attached_only": only}
        conditions.append("NOT s.is_attached")
    if not conditions:
        return "", {}
    return _CHUNKS_OF.format(column=column, conditions=" AND ".join(conditions)), parameters


def _attached_only(con: Connection) -> list[str]:
    """The contents of attached files that the library lacks: the same text may occur in both.

    A query of its own: as a part of the search it would take several times as long.
    """
    attached = con.execute(
        f"SELECT chunk_id, content_hash::VARCHAR FROM chunks WHERE chunk_id IN {_ATTACHED_CHUNKS}"
    ).fetchall()
    hashes = {content_hash for _, content_hash in attached}
    elsewhere = con.execute(
        "SELECT DISTINCT content_hash::VARCHAR FROM chunks WHERE content_hash IN"
        " (SELECT unnest($hashes::UUID[])) AND chunk_id NOT IN (SELECT unnest($chunks::BIGINT[]))",
        {"hashes": list(hashes), "chunks": [chunk_id for chunk_id, _ in attached]},
    ).fetchall()
    return sorted(hashes - {row[0] for row in elsewhere})


def _of_documents(scope: Scope) -> tuple[list[str], dict[str, Any]]:
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    if scope.collection_ids is not None:
        conditions.append("s.collection_id IN (SELECT unnest($collections))")
        parameters["collections"] = list(scope.collection_ids)
    if scope.document_ids is not None:
        conditions.append("d.document_id IN (SELECT unnest($documents))")
        parameters["documents"] = list(scope.document_ids)
    if scope.about:
        each, keys = _about(scope.about)
        conditions.append(f"({' OR '.join(each)})")
        parameters |= keys
    if scope.readable:
        condition, values = readable_rows(scope.readable, "s.collection_id", "d.document_id")
        conditions.append(condition)
        parameters |= values
    if scope.but:
        conditions.append("d.path NOT IN (SELECT unnest($but))")
        parameters["but"] = list(scope.but)
    for prefix, filters in (("", scope.filters), ("limit_", scope.limits)):
        found, values = _passing(filters, prefix)
        conditions += found
        parameters |= values
    return conditions, parameters


def _about(items: Sequence[ScopeItem]) -> tuple[list[str], dict[str, list[str]]]:
    """Alternative conditions for what the items stand for, and their parameters."""

    def listed(kind: ScopeKind) -> Iterator[ScopeItem]:
        return (item for item in items if item.kind is kind)

    folders = [item.key.rstrip(os.sep) + os.sep for item in listed(ScopeKind.FOLDER)]
    alternatives = {
        "about_documents": (
            "d.document_id IN (SELECT unnest($about_documents))",
            [item.key for item in listed(ScopeKind.FILE)],
        ),
        "about_paths": (
            "(d.path IN (SELECT unnest($about_paths)) AND d.url = '')",
            [item.path for item in listed(ScopeKind.FILE) if item.path],
        ),
        "about_folders": (
            "len(list_filter($about_folders, lambda folder: starts_with(d.path, folder))) > 0",
            folders,
        ),
        "about_sources": (
            "s.source_id IN (SELECT unnest($about_sources))",
            [item.key for item in listed(ScopeKind.LINK)],
        ),
        "about_collections": (
            "s.collection_id IN (SELECT unnest($about_collections))",
            [item.key for item in listed(ScopeKind.COLLECTION)],
        ),
    }
    used = {name: found for name, found in alternatives.items() if found[1]}
    conditions = [condition for condition, _ in used.values()]
    return conditions, {name: values for name, (_, values) in used.items()}


def _passing(filters: Filters, prefix: str) -> tuple[list[str], dict[str, Any]]:
    """Conditions for documents that pass the filters; parameter names begin with the prefix."""
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    for name, column, values in (
        ("file", "parse_filename(d.path) || ' ' || d.part || ' ' || d.url", filters.files),
        ("folder", "parse_dirpath(d.path) || '/'", filters.folders),
        ("kind", "k.name", filters.collections),
    ):
        if values:
            keys = {f"{prefix}{name}{n}": value for n, value in enumerate(values)}
            each = [_within(_column(name, column, value), key) for key, value in keys.items()]
            conditions.append(f"({' OR '.join(each)})")
            parameters |= {key: _anywhere(value) for key, value in keys.items()}
    if filters.types:
        conditions.append(
            f"(lower(d.format) IN (SELECT unnest(${prefix}types)) OR"
            f" list_contains(${prefix}types,"
            " lower(regexp_extract(d.path, '\\.([^./\\\\]+)$', 1))))"
        )
        parameters[f"{prefix}types"] = list(filters.types)
    if filters.tags:
        tags = {f"{prefix}tag{n}": _pattern(tag) for n, tag in enumerate(filters.tags)}
        conditions.append(_tagged(list(tags)))
        parameters |= tags
    for day, name, sign in ((filters.after, "after", ">="), (filters.before, "before", "<")):
        if day:
            key = f"{prefix}{name}"
            conditions.append(
                f"CASE d.dated WHEN '' THEN d.mtime_ns {sign} ${key}"
                f" ELSE d.dated {sign} ${key}_day END"
            )
            parameters |= {key: _nanoseconds(day), f"{key}_day": day.isoformat()}
    return conditions, parameters


def _column(name: str, column: str, value: str) -> str:
    """For a file filter with a slash, which is a part of a path or address, all of the path."""
    if name == "file" and ("/" in value or "\\" in value):
        return "d.path || ' ' || d.part || ' ' || d.url"
    return column


def _within(column: str, key: str) -> str:
    return f"{folded(column)} LIKE {folded(f'${key}')} ESCAPE '!'"


def _tagged(keys: Sequence[str]) -> str:
    """SQL that holds when a tag that the file states, or was given, fits one of the patterns."""
    stated, given = (
        " OR ".join(_fits(column, key) for key in keys) for column in ("d.tags", "tags")
    )
    given_to = f"SELECT path FROM file_tags WHERE {given}"
    return f"((d.tags <> '' AND ({stated})) OR d.path IN ({given_to}))"


def _fits(column: str, key: str) -> str:
    """SQL that holds when a tag, or one above it as in `project/roof`, fits the pattern."""
    pattern = folded(f"${key}")
    fits = f"tag LIKE {pattern} ESCAPE '!' OR tag LIKE {pattern} || '/%' ESCAPE '!'"
    return f"len(list_filter(string_split({folded(column)}, chr(10)), lambda tag: {fits})) > 0"


def _anywhere(part: str) -> str:
    """The LIKE pattern of texts that contain this part; a star in it matches anything."""
    return f"%{_pattern(part)}%"


def _pattern(whole: str) -> str:
    """The LIKE pattern of a text; a star in it matches anything."""
    return re.sub(r"[!%_]", r"!\g<0>", whole).replace("*", "%")


def _nanoseconds(day: date) -> int:
    """The start of a day in the local time zone."""
    begins = datetime(day.year, day.month, day.day).astimezone()
    return int(begins.astimezone(UTC).timestamp()) * _NANOSECONDS
