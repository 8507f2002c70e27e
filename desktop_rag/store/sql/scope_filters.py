"""SQL that all engines share: text comparison, reading rights, the documents of a scope. Pure.

In conditions, the tables are called `d` (documents), `s` (sources) and `k` (collections).
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from desktop_rag.core.query import Filters
from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeItem, ScopeKind


@lru_cache(maxsize=50_000)
def key_of(text: str) -> int:
    """The key of a term, or of another text that is looked up often; SQL: md5_number_lower()."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")


def folded(text: str) -> str:
    """SQL for a text in lower case and NFC; macOS returns names in another Unicode form."""
    return f"replace(replace(nfc_normalize(lower({text})), 'ß', 'ss'), '\u03c2', '\u03c3')"


def plain_name(path: str) -> str:
    """SQL for the value of `documents.plain_name`, stored because every question scans it."""
    return folded(f"parse_filename({path})")


_MOST_PARTS = 8


def completing(text: str, day: str, condition: str, limit: int) -> tuple[str, dict[str, str]]:
    """SQL for the ids of documents whose name, title, address, folder or day of change hold each
    part of a folded text, and its parameters. `day` is SQL for that day.
    """
    parts = {f"part{n}": part for n, part in enumerate(text.split()[:_MOST_PARTS])}
    folder, title = folded("parse_dirpath(path)"), folded("title")
    held = f"concat_ws(' ', plain_name, {title}, lower(url), {folder}, {day})" if parts else "''"
    holds = "".join(f" AND contains(held, ${name})" for name in parts)
    named = " + ".join(f"contains(plain_name, ${name})::INT" for name in parts)
    by_name = f"NOT starts_with(plain_name, $text), {named} DESC, length(plain_name), path"
    sql = (
        f"SELECT document_id FROM (SELECT *, {held} AS held FROM documents) AS documents"
        f" WHERE parent_id = '' AND state <> 'gone'{condition}{holds}"
        f" ORDER BY {by_name if parts else 'mtime_ns DESC, path'} LIMIT {limit:d}"
    )
    return sql, (parts | {"text": text}) if parts else {}


def readable_documents(readable: Readable | None) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for readable rows of `documents`, and its parameters."""
    if readable is None:
        return "", {}
    collection = "(SELECT collection_id FROM sources s WHERE s.source_id = documents.source_id)"
    condition, parameters = readable_rows(readable, collection, "document_id")
    return f" AND {condition}", parameters


def readable_rows(
    readable: Readable, collection_id: str, document_id: str
) -> tuple[str, dict[str, Any]]:
    """SQL that holds for what is readable, by SQL for the two ids, and its parameters."""
    sql = (
        f"({collection_id} IN (SELECT unnest($readable_collections::VARCHAR[]))"
        f" OR {document_id} IN (SELECT unnest($readable_documents::VARCHAR[])))"
    )
    values = {
        "readable_collections": list(readable.collection_ids),
        "readable_documents": list(readable.document_ids),
    }
    return sql, values


_NANOSECONDS = 1_000_000_000

# SQL that begins with neither AND nor OR, and its parameters by their names.
Conditions = tuple[list[str], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The SQL that differs between engines.

    `among` is true if an expression equals one of the texts of a parameter, `below` if `d.path`
    begins with one of them, `any_tag` if one line of a text, called `tag`, meets a condition.
    """

    among: Callable[[str, str], str]
    below: Callable[[str], str]
    any_tag: Callable[[str, str], str]
    ending: str  # of `d.path`
    collection: str  # of a document


def about(items: Sequence[ScopeItem], dialect: Dialect) -> Conditions:
    """Alternative conditions for the documents that the items stand for."""

    def listed(kind: ScopeKind) -> Iterator[ScopeItem]:
        return (item for item in items if item.kind is kind)

    among = dialect.among
    alternatives = {
        "about_documents": (
            among("d.document_id", "about_documents"),
            [item.key for item in listed(ScopeKind.FILE)],
        ),
        "about_paths": (
            f"({among('d.path', 'about_paths')} AND d.url = '')",
            [item.path for item in listed(ScopeKind.FILE) if item.path],
        ),
        "about_folders": (
            dialect.below("about_folders"),
            [item.key.rstrip(os.sep) + os.sep for item in listed(ScopeKind.FOLDER)],
        ),
        "about_sources": (
            among("s.source_id", "about_sources"),
            [item.key for item in listed(ScopeKind.LINK)],
        ),
        "about_collections": (
            among(dialect.collection, "about_collections"),
            [item.key for item in listed(ScopeKind.COLLECTION)],
        ),
    }
    used = {name: found for name, found in alternatives.items() if found[1]}
    conditions = [condition for condition, _ in used.values()] or ["false"]
    return conditions, {name: values for name, (_, values) in used.items()}


def passing(filters: Filters, prefix: str, dialect: Dialect) -> Conditions:
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
        key = f"{prefix}types"
        forms = ("d.format", dialect.ending, _format_and_ending(dialect))
        of_type = (dialect.among(f"lower({form})", key) for form in forms)
        conditions.append(f"({' OR '.join(of_type)})")
        parameters[key] = list(filters.types)
    if filters.other_types:
        key = f"{prefix}other_types"
        conditions.append(f"NOT {dialect.among(f'lower({_format_and_ending(dialect)})', key)}")
        parameters[key] = list(filters.other_types)
    if filters.tags:
        tags = {f"{prefix}tag{n}": _pattern(tag) for n, tag in enumerate(filters.tags)}
        conditions.append(_tagged(list(tags), dialect))
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


def _format_and_ending(dialect: Dialect) -> str:
    return f"d.format || '/' || coalesce({dialect.ending}, '')"


def _column(name: str, column: str, value: str) -> str:
    """The column to search; a file filter with a slash is compared with the whole path."""
    if name == "file" and ("/" in value or "\\" in value):
        return "d.path || ' ' || d.part || ' ' || d.url"
    return column


def _within(column: str, key: str) -> str:
    return f"{folded(column)} LIKE {folded(f'${key}')} ESCAPE '!'"


def _tagged(keys: Sequence[str], dialect: Dialect) -> str:
    """SQL that holds when a tag that the file states, or was given, fits one of the patterns."""
    stated, given = (
        " OR ".join(dialect.any_tag(folded(column), _fits(key)) for key in keys)
        for column in ("d.tags", "tags")
    )
    given_to = f"SELECT path FROM file_tags WHERE {given}"
    return f"((d.tags <> '' AND ({stated})) OR d.path IN ({given_to}))"


def _fits(key: str) -> str:
    """SQL that holds when `tag`, or one above it as in `project/roof`, fits the pattern."""
    pattern = folded(f"${key}")
    return f"tag LIKE {pattern} ESCAPE '!' OR tag LIKE {pattern} || '/%' ESCAPE '!'"


def _pattern(whole: str) -> str:
    """The LIKE pattern of a text; a star in it matches anything."""
    return re.sub(r"[!%_]", r"!\g<0>", whole).replace("*", "%")


def _nanoseconds(day: date) -> int:
    """The start of a day in the local time zone."""
    begins = datetime(day.year, day.month, day.day).astimezone()
    return int(begins.astimezone(UTC).timestamp()) * _NANOSECONDS
