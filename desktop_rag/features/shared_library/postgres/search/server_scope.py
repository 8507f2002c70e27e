"""Translates scopes into conditions in PostgreSQL's SQL.

What somebody may read is no condition here: the transaction sees nothing else, see rights.py.
"""

from collections.abc import Sequence
from typing import Any

from desktop_rag.core.question_scope import ScopeKind
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerSnapshot
from desktop_rag.features.shared_library.postgres.documents.server_content import signed_key
from desktop_rag.store.contract.scope import Conditions, Dialect, documents_in, read_statistics
from desktop_rag.store.contract.search import Scope

_HOLDING = "SELECT chunk_id FROM postings WHERE key = ANY (${name}::bigint[])"
_DIALECT = Dialect(
    among=lambda sql, name: f"{sql} = ANY (${name}::text[])",
    below=lambda name: (
        f"EXISTS (SELECT 1 FROM unnest(${name}::text[]) AS f(folder)"
        " WHERE starts_with(d.path, f.folder))"
    ),
    any_tag=lambda lines, fits: (
        f"EXISTS (SELECT 1 FROM unnest(string_split({lines}, chr(10))) AS tag WHERE {fits})"
    ),
    ending="substring(d.path from '\\.([^./\\\\]+)$')",
    collection="d.collection_id",
)


def collections_in(scope: Scope, snapshot: ServerSnapshot) -> tuple[str, ...] | None:
    """The only collections that the scope can include; None for all."""
    limits = [scope.collection_ids, collections_seen(snapshot)]
    if scope.about and all(item.kind is ScopeKind.COLLECTION for item in scope.about):
        limits.append(tuple(item.key for item in scope.about))
    given = [frozenset(each) for each in limits if each is not None]
    return tuple(sorted(frozenset.intersection(*given))) if given else None


def named(column: str, collections: Sequence[str] | None) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for rows of these collections, and its parameters.

    Lets the server skip the other partitions.
    """
    if collections is None:
        return "", {}
    parameters = {f"named{n}": each for n, each in enumerate(collections)}
    # One by one, since a prepared plan can't tell the partitions of an array.
    holes = ", ".join(f"${name}" for name in parameters)
    return (f" AND {column} IN ({holes})" if holes else " AND false"), parameters


def chunk_condition(scope: Scope, snapshot: ServerSnapshot) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for rows of `chunks`, and its parameters; empty without limits."""
    conditions, parameters = _of_documents(scope, snapshot)
    collections = collections_in(scope, snapshot)
    sql, names = named("chunks.collection_id", collections)
    among, _ = named("postings.collection_id", collections)
    parameters |= names
    if conditions:
        sql += (
            " AND (chunks.document_id, chunks.collection_id) IN"
            f" ({_documents('d.document_id, d.collection_id', conditions)})"
        )
    for n, word in enumerate((*scope.required, *scope.excluded)):
        negation = "" if n < len(scope.required) else "NOT "
        sql += f" AND {negation}chunks.chunk_id IN ({_HOLDING.format(name=f'word{n}')}{among})"
        parameters[f"word{n}"] = [signed_key(term) for term in word]
    if scope.chunk_ids is not None:
        sql += " AND chunks.chunk_id = ANY ($chunks::bigint[])"
        parameters["chunks"] = list(scope.chunk_ids)
    return sql, parameters


def document_condition(scope: Scope, snapshot: ServerSnapshot) -> tuple[str, dict[str, Any]]:
    """The same for rows of `documents` or their texts, with a chunk in the scope."""
    if scope.required or scope.excluded or scope.chunk_ids is not None:
        sql, parameters = chunk_condition(scope, snapshot)
        return f" AND document_id IN (SELECT document_id FROM chunks WHERE true{sql})", parameters
    conditions, parameters = _of_documents(scope, snapshot)
    sql, names = named("collection_id", collections_in(scope, snapshot))
    if conditions:
        sql += f" AND document_id IN ({_documents('d.document_id', conditions)})"
    return sql, parameters | names


def _documents(columns: str, conditions: Sequence[str]) -> str:
    return (
        f"SELECT {columns} FROM documents d JOIN sources s USING (source_id)"
        " LEFT JOIN collections k ON k.collection_id = d.collection_id"
        f" WHERE {' AND '.join(conditions)}"
    )


def _of_documents(scope: Scope, snapshot: ServerSnapshot) -> Conditions:
    """All conditions but that of the collections, which the rows name themselves."""
    statistics = snapshot.cached(read_statistics)
    conditions, parameters = documents_in(scope, _DIALECT, has_gone=statistics.has_gone)
    if statistics.has_attached and not scope.attached:
        conditions.append("NOT s.is_attached")
    return conditions, parameters


def read_collections(con: ServerConnection) -> tuple[str, ...]:
    """The collections with documents that the transaction sees."""
    rows = con.execute("SELECT DISTINCT collection_id FROM documents").fetchall()
    return tuple(sorted(row[0] for row in rows))


def collections_seen(snapshot: ServerSnapshot) -> tuple[str, ...] | None:
    """The only collections of which the snapshot sees documents; None where it sees all."""
    return snapshot.cached(read_collections) if snapshot.is_limited else None
