"""Translates scopes into conditions in PostgreSQL's SQL, and reads the facts that these need.

What somebody may read is no condition here: the transaction sees nothing else, see rights.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from desktop_rag.core.question_scope import ScopeKind
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerSnapshot
from desktop_rag.features.shared_library.postgres.documents.server_content import signed_key
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.sql.scope_filters import Conditions, Dialect, about, passing

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


@dataclass(frozen=True, slots=True)
class Visible:
    """What the transaction sees, and conditions have to leave out.

    `collections` are the only ones of which it sees documents; None where it sees all.
    """

    has_gone: bool
    has_attached: bool
    collections: tuple[str, ...] | None = None


def collections_in(scope: Scope, visible: Visible) -> tuple[str, ...] | None:
    """The only collections that the scope can include; None for all."""
    limits = [scope.collection_ids, visible.collections]
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


def chunk_condition(scope: Scope, visible: Visible) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for rows of `chunks`, and its parameters; empty without limits."""
    conditions, parameters = _of_documents(scope, visible)
    collections = collections_in(scope, visible)
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


def document_condition(scope: Scope, visible: Visible) -> tuple[str, dict[str, Any]]:
    """The same for rows of `documents` or their texts, with a chunk in the scope."""
    if scope.required or scope.excluded or scope.chunk_ids is not None:
        sql, parameters = chunk_condition(scope, visible)
        return f" AND document_id IN (SELECT document_id FROM chunks WHERE true{sql})", parameters
    conditions, parameters = _of_documents(scope, visible)
    sql, names = named("collection_id", collections_in(scope, visible))
    if conditions:
        sql += f" AND document_id IN ({_documents('d.document_id', conditions)})"
    return sql, parameters | names


def _documents(columns: str, conditions: Sequence[str]) -> str:
    return (
        f"SELECT {columns} FROM documents d JOIN sources s USING (source_id)"
        " LEFT JOIN collections k ON k.collection_id = d.collection_id"
        f" WHERE {' AND '.join(conditions)}"
    )


def _of_documents(scope: Scope, visible: Visible) -> Conditions:
    """All conditions but that of the collections, which the rows name themselves."""
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    for column, name, wanted in (
        ("d.document_id", "documents", scope.document_ids),
        ("d.source_id", "attached", scope.attached or None),
    ):
        if wanted is not None:
            conditions.append(_DIALECT.among(column, name))
            parameters[name] = list(wanted)
    if scope.about:
        each, keys = about(scope.about, _DIALECT)
        conditions.append(f"({' OR '.join(each)})")
        parameters |= keys
    if scope.but:
        conditions.append(f"NOT {_DIALECT.among('d.path', 'but')}")
        parameters["but"] = list(scope.but)
    for prefix, filters in (("", scope.filters), ("limit_", scope.limits)):
        found, values = passing(filters, prefix, _DIALECT)
        conditions += found
        parameters |= values
    if visible.has_gone:
        conditions.append("d.state <> 'gone'")
    if visible.has_attached and not scope.attached:
        conditions.append("NOT s.is_attached")
    return conditions, parameters


@dataclass(frozen=True, slots=True)
class ServerStatistics:
    """Facts that every question needs, about the documents and chunks that the transaction sees.

    `languages` has the number of documents in each, the most frequent first ("" is unknown).
    `indexed_documents` have chunks. `terms` is the number of terms in all chunks.
    """

    languages: Mapping[str, int]
    indexed_documents: int
    has_gone: bool
    has_attached: bool
    chunk_count: int
    terms: int


def read_statistics(con: ServerConnection) -> ServerStatistics:
    """Read the statistics, once per state of the library: see `ServerSnapshot.cached`."""
    documents = con.execute(
        "SELECT language, count(*) FILTER (WHERE chunk_count > 0),"
        " count(*) FILTER (WHERE state = 'gone'), count(*) FROM documents GROUP BY language"
        " ORDER BY count(*) DESC, language"
    ).fetchall()
    [(chunk_count, terms)] = con.execute(
        "SELECT count(*), coalesce(sum(term_count), 0)::bigint FROM chunks"
    ).fetchall()
    attached = con.execute("SELECT 1 FROM sources WHERE is_attached LIMIT 1").fetchall()
    return ServerStatistics(
        {language: count for language, _, _, count in documents},
        sum(indexed for _, indexed, _, _ in documents),
        any(gone for _, _, gone, _ in documents),
        bool(attached),
        chunk_count,
        terms,
    )


def read_collections(con: ServerConnection) -> tuple[str, ...]:
    """The collections with documents that the transaction sees."""
    rows = con.execute("SELECT DISTINCT collection_id FROM documents").fetchall()
    return tuple(sorted(row[0] for row in rows))


def visible_in(snapshot: ServerSnapshot) -> Visible:
    """What the snapshot sees, and conditions have to leave out."""
    statistics = snapshot.cached(read_statistics)
    return Visible(statistics.has_gone, statistics.has_attached, collections_seen(snapshot))


def collections_seen(snapshot: ServerSnapshot) -> tuple[str, ...] | None:
    """The only collections of which the snapshot sees documents; None where it sees all."""
    return snapshot.cached(read_collections) if snapshot.is_limited else None
