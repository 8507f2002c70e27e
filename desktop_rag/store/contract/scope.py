"""What a search may find, in SQL, and the statistics of a library. Any thread, on an open cursor.

In conditions, the tables are called `d` (documents), `s` (sources) and `k` (collections).
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from desktop_rag.core.query import Filters
from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.store.contract.database import Connection, folded


@dataclass(frozen=True, slots=True)
class Scope:
    """The chunks that a search may find; all limits apply together.

    With the defaults, everything is found except documents that are gone and files attached to
    chats. With `attached`, only the files of these sources are found. With `about`, only what one
    of these items stands for: a document with its id, or with its path and the documents inside;
    what lies below a folder, compared by code points; the documents of a source or a collection.
    With `but`, nothing of the files with these paths. With `readable`, only what that covers, and
    whatever else is returned depends on nothing else either.
    `collection_ids`, `document_ids` and `chunk_ids`: None means all, an empty tuple none.
    A chunk must contain one of the alternative terms of each `required` word, and none of those of
    an `excluded` word.

    `filters` and `limits` are compared with a document in the same way. `files`, `folders` and
    `collections` match a part of the file's name, part and address, of its folder, and of the
    collection's name; letter case and Unicode normal form are ignored, ß equals ss, and a final
    sigma any other one. `types` match the format, or the suffix of the file in lower case. `after`
    and `before` are days in the local time zone, compared with the file's modification time.
    """

    collection_ids: tuple[str, ...] | None = None
    filters: Filters = field(default_factory=Filters)
    limits: Filters = field(default_factory=Filters)
    document_ids: tuple[str, ...] | None = None
    required: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    chunk_ids: tuple[int, ...] | None = None
    attached: tuple[str, ...] = ()
    about: tuple[ScopeItem, ...] = ()
    but: tuple[str, ...] = ()
    readable: Readable | None = None

    def within(self, collection_ids: tuple[str, ...] | None) -> "Scope":
        """The scope limited to these collections; None means all."""
        if collection_ids is None:
            return self
        own = self.collection_ids
        both = collection_ids if own is None else tuple(i for i in own if i in collection_ids)
        return replace(self, collection_ids=both)

    def of_documents(self, document_ids: tuple[str, ...]) -> "Scope | None":
        """The scope limited to these documents; None when there are none."""
        return replace(self, document_ids=document_ids) if document_ids else None


EVERYWHERE = Scope()


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


@dataclass(frozen=True, slots=True)
class LibraryStatistics:
    """Facts that every question needs, about the documents and chunks that a connection sees."""

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
        "SELECT language, count(*) FILTER (WHERE chunk_count > 0),"
        " count(*) FILTER (WHERE state = 'gone'), count(*) FROM documents"
        " GROUP BY language ORDER BY count(*) DESC, language"
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


def documents_in(scope: Scope, dialect: Dialect, *, has_gone: bool) -> Conditions:
    """Conditions for the documents in a scope, by their rows.

    Without those for its collections, for what is readable, and for attached files in no chat.
    """
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    for column, name, wanted in (
        ("d.document_id", "documents", scope.document_ids),
        ("d.source_id", "attached", scope.attached or None),
    ):
        if wanted is not None:
            conditions.append(dialect.among(column, name))
            parameters[name] = list(wanted)
    if scope.about:
        each, keys = _about(scope.about, dialect)
        conditions.append(f"({' OR '.join(each)})")
        parameters |= keys
    if scope.but:
        conditions.append(f"NOT {dialect.among('d.path', 'but')}")
        parameters["but"] = list(scope.but)
    for prefix, filters in (("", scope.filters), ("limit_", scope.limits)):
        found, values = _passing(filters, prefix, dialect)
        conditions += found
        parameters |= values
    # Files that vanished in great numbers are kept for a while, out of reach of searches.
    if has_gone:
        conditions.append("d.state <> 'gone'")
    return conditions, parameters


def _about(items: Sequence[ScopeItem], dialect: Dialect) -> Conditions:
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


def _passing(filters: Filters, prefix: str, dialect: Dialect) -> Conditions:
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
