"""Translates a scope into a condition of PostgreSQL's SQL. Pure.

What somebody may read is no condition here: the transaction sees nothing else, see rights.py.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from desktop_rag.core.query import Filters
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.postgres.documents.server_content import signed_key
from desktop_rag.store.sql.text_sql import folded

_NANOSECONDS = 1_000_000_000
_HOLDING = "SELECT chunk_id FROM postings WHERE key = ANY (${name}::bigint[])"


# SQL that holds for a document below one of the folders.
_BELOW = (
    "EXISTS (SELECT 1 FROM unnest($about_folders::text[]) AS f(folder)"
    " WHERE starts_with(d.path, f.folder))"
)


@dataclass(frozen=True, slots=True)
class Visible:
    """What a condition has to leave out, and may: facts about what the transaction sees.

    `collections` are the only ones with documents that it sees; None where it sees all.
    """

    has_gone: bool
    has_attached: bool
    collections: tuple[str, ...] | None = None


def collections_in(scope: Scope, visible: Visible) -> tuple[str, ...] | None:
    """The only collections that have something in the scope; None for all."""
    limits = [scope.collection_ids, visible.collections]
    if scope.about and all(item.kind is ScopeKind.COLLECTION for item in scope.about):
        limits.append(tuple(item.key for item in scope.about))
    given = [frozenset(each) for each in limits if each is not None]
    return tuple(sorted(frozenset.intersection(*given))) if given else None


def named(column: str, collections: Sequence[str] | None) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for rows of these collections, and its parameters.

    The server leaves out the other partitions.
    """
    if collections is None:
        return "", {}
    parameters = {f"named{n}": each for n, each in enumerate(collections)}
    # One by one: the partitions of an array are not known before a prepared plan is run.
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
    """The same for rows of `documents` or their texts: those that a chunk in the scope is of."""
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


def _of_documents(scope: Scope, visible: Visible) -> tuple[list[str], dict[str, Any]]:
    """All conditions but that of the collections, which the rows themselves name."""
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    for column, name, wanted in (
        ("d.document_id", "documents", scope.document_ids),
        ("d.source_id", "attached", scope.attached or None),
    ):
        if wanted is not None:
            conditions.append(f"{column} = ANY (${name}::text[])")
            parameters[name] = list(wanted)
    if scope.about:
        each, keys = _about(scope.about)
        conditions.append(f"({' OR '.join(each)})")
        parameters |= keys
    if scope.but:
        conditions.append("NOT d.path = ANY ($but::text[])")
        parameters["but"] = list(scope.but)
    for prefix, filters in (("", scope.filters), ("limit_", scope.limits)):
        found, values = _passing(filters, prefix)
        conditions += found
        parameters |= values
    if visible.has_gone:
        conditions.append("d.state <> 'gone'")
    if visible.has_attached and not scope.attached:
        conditions.append("NOT s.is_attached")
    return conditions, parameters


def _about(items: Sequence[ScopeItem]) -> tuple[list[str], dict[str, list[str]]]:
    """Alternative conditions for what the items stand for, and their parameters."""

    def listed(kind: ScopeKind) -> Iterator[ScopeItem]:
        return (item for item in items if item.kind is kind)

    alternatives = {
        "about_documents": (
            "d.document_id = ANY ($about_documents::text[])",
            [item.key for item in listed(ScopeKind.FILE)],
        ),
        "about_paths": (
            "(d.path = ANY ($about_paths::text[]) AND d.url = '')",
            [item.path for item in listed(ScopeKind.FILE) if item.path],
        ),
        "about_folders": (
            _BELOW,
            [item.key.rstrip(os.sep) + os.sep for item in listed(ScopeKind.FOLDER)],
        ),
        "about_sources": (
            "s.source_id = ANY ($about_sources::text[])",
            [item.key for item in listed(ScopeKind.LINK)],
        ),
        "about_collections": (
            "d.collection_id = ANY ($about_collections::text[])",
            [item.key for item in listed(ScopeKind.COLLECTION)],
        ),
    }
    used = {name: found for name, found in alternatives.items() if found[1]}
    conditions = [condition for condition, _ in used.values()] or ["false"]
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
            parameters |= {key: f"%{_pattern(value)}%" for key, value in keys.items()}
    if filters.types:
        conditions.append(
            f"(lower(d.format) = ANY (${prefix}types::text[]) OR"
            f" lower(substring(d.path from '\\.([^./\\\\]+)$')) = ANY (${prefix}types::text[]))"
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
                f"CASE d.dated WHEN '' THEN d.mtime_ns {sign} ${key}::bigint"
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
    tags = f"unnest(string_split({folded(column)}, chr(10))) AS tag"
    return f"EXISTS (SELECT 1 FROM {tags} WHERE {fits})"


def _pattern(whole: str) -> str:
    """The LIKE pattern of a text; a star in it matches anything."""
    return re.sub(r"[!%_]", r"!\g<0>", whole).replace("*", "%")


def _nanoseconds(day: date) -> int:
    """The start of a day in the local time zone."""
    begins = datetime(day.year, day.month, day.day).astimezone()
    return int(begins.astimezone(UTC).timestamp()) * _NANOSECONDS
