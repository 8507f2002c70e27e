"""Translates a scope into SQL. Any thread, on an open cursor."""

from typing import Any

from desktop_rag.store.contract.scope import Dialect, LibraryStatistics, documents_in
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.sql.scope_filters import key_of, readable_rows

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
    conditions, parameters = documents_in(scope, _DIALECT, has_gone=statistics.has_gone)
    if scope.collection_ids is not None:
        conditions.append(_DIALECT.among("s.collection_id", "collections"))
        parameters["collections"] = list(scope.collection_ids)
    if scope.readable:
        condition, values = readable_rows(scope.readable, "s.collection_id", "d.document_id")
        conditions.append(condition)
        parameters |= values
    for n, word in enumerate((*scope.required, *scope.excluded)):
        negation = "" if n < len(scope.required) else "NOT "
        conditions.append(f"c.chunk_id {negation}IN ({_HOLDING.format(name=f'word{n}')})")
        parameters[f"word{n}"] = [key_of(term) for term in word]
    if scope.chunk_ids is not None:
        conditions.append("c.chunk_id IN (SELECT unnest($chunks::BIGINT[]))")
        parameters["chunks"] = list(scope.chunk_ids)
    if statistics.has_attached and not scope.attached:
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
