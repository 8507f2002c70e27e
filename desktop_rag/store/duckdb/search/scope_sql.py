"""Translates a scope into SQL, and reads library-wide statistics. Any thread, on an open cursor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desktop_rag.store.contract.search import Scope
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.sql.scope_filters import (
    Conditions,
    Dialect,
    about,
    key_of,
    passing,
    readable_rows,
)


@dataclass(frozen=True, slots=True)
class LibraryStatistics:
    """Facts about all documents and chunks that every question needs."""

    languages: Mapping[str, int]  # documents in each ("" is unknown), the most frequent first
    indexed_documents: int  # with chunks
    has_gone: bool
    has_attached: bool  # some source is attached to a chat
    chunk_count: int
    last_chunk_id: int
    terms: int  # in all chunks


def read_statistics(con: Connection) -> LibraryStatistics:
    """Read the statistics; a few milliseconds in a large library, so use `Database.cached`."""
    documents = con.execute(
        "SELECT language, count(*) FILTER (chunk_count > 0), count(*) FILTER (state = 'gone'),"
        " count(*) FROM documents GROUP BY language ORDER BY count(*) DESC, language"
    ).fetchall()
    [(chunk_count, last_chunk_id, terms)] = con.execute(
        "SELECT count(*), coalesce(max(chunk_id), 0), coalesce(sum(term_count), 0)::BIGINT"
        " FROM chunks"
    ).fetchall()
    attached = con.execute("SELECT 1 FROM sources WHERE is_attached LIMIT 1").fetchall()
    return LibraryStatistics(
        {language: count for language, _, _, count in documents},
        sum(indexed for _, indexed, _, _ in documents),
        any(gone for _, _, gone, _ in documents),
        bool(attached),
        chunk_count,
        last_chunk_id,
        terms,
    )


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
_DIALECT = Dialect(
    among=lambda sql, name: f"{sql} IN (SELECT unnest(${name}))",
    below=lambda name: f"len(list_filter(${name}, lambda folder: starts_with(d.path, folder))) > 0",
    any_tag=lambda lines, fits: (
        f"len(list_filter(string_split({lines}, chr(10)), lambda tag: {fits})) > 0"
    ),
    ending="regexp_extract(d.path, '\\.([^./\\\\]+)$', 1)",
    collection="s.collection_id",
)
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
        conditions.append(_DIALECT.among("d.source_id", "attached"))
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
    """The contents that only attached files have.

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


def _of_documents(scope: Scope) -> Conditions:
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    if scope.collection_ids is not None:
        conditions.append(_DIALECT.among("s.collection_id", "collections"))
        parameters["collections"] = list(scope.collection_ids)
    if scope.document_ids is not None:
        conditions.append(_DIALECT.among("d.document_id", "documents"))
        parameters["documents"] = list(scope.document_ids)
    if scope.about:
        each, keys = about(scope.about, _DIALECT)
        conditions.append(f"({' OR '.join(each)})")
        parameters |= keys
    if scope.readable:
        condition, values = readable_rows(scope.readable, "s.collection_id", "d.document_id")
        conditions.append(condition)
        parameters |= values
    if scope.but:
        conditions.append(f"NOT {_DIALECT.among('d.path', 'but')}")
        parameters["but"] = list(scope.but)
    for prefix, filters in (("", scope.filters), ("limit_", scope.limits)):
        found, values = passing(filters, prefix, _DIALECT)
        conditions += found
        parameters |= values
    return conditions, parameters
