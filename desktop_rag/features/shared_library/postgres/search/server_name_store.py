"""Finds documents by file name on a server. Any thread.

The server finds names that contain a part; whether its position counts is decided here, since
PostgreSQL's regular expressions know fewer classes of letters.
"""

import unicodedata
from collections.abc import Callable, Collection
from hashlib import md5
from typing import Any

from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.search.server_scope import document_condition
from desktop_rag.store.contract.database import edits, plain, squeezed, stem
from desktop_rag.store.contract.scope import read_statistics
from desktop_rag.store.contract.search import NamedDocuments, NameStore, Scope

_LEAST_SPELLED = 3
_MANY_CHARS = 12


def words_in(name: str) -> str:
    """The words of a name, each surrounded by spaces."""
    kept = (c if unicodedata.category(c)[0] in "LMN" else " " for c in name)
    return f" {' '.join(''.join(kept).split())} "


def split_words(written: str) -> str:
    """A name with spaces between lower and upper case and around numbers."""
    given = unicodedata.normalize("NFC", written)
    parts: list[str] = []
    for n, c in enumerate(given):
        before, after = given[n - 1 : n], given[n + 1 : n + 2]
        starts = (_is(before, "Ll") and _is(c, "Lu")) or (
            _is(before, "Lu") and _is(c, "Lu") and _is(after, "Ll")
        )
        is_digit, was_digit = c in "0123456789", bool(before) and before in "0123456789"
        if n and (starts or is_digit != was_digit):
            parts.append(" ")
        parts.append(c)
    return "".join(parts)


def _is(char: str, category: str) -> bool:
    return bool(char) and unicodedata.category(char) == category


class ServerNameStore(NameStore):
    """The names of the documents."""

    day = "to_char(to_timestamp(mtime_ns / 1000000000), 'YYYY-MM-DD DD.MM.YYYY')"

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
        limit: int,
    ) -> tuple[list[NamedDocuments], int]:
        endings: dict[str | None, Collection[str]] = {" ": words, "": beginnings, None: pieces}
        wanted = [(part, plain(part), end) for end, parts in endings.items() for part in parts]
        with self._database.snapshot(scope.readable, search="file names") as snapshot:
            total = snapshot.cached(read_statistics).indexed_documents
            if not wanted:
                return [], total
            condition, parameters = document_condition(scope, snapshot)
            rows = snapshot.con.execute(
                "SELECT document_id, parse_filename(path), plain_name FROM documents"
                " WHERE chunk_count > 0 AND EXISTS"
                " (SELECT 1 FROM unnest($sought::text[]) AS s(part)"
                f" WHERE strpos(plain_name, s.part) > 0){condition} ORDER BY document_id",
                parameters | {"sought": [sought for _, sought, _ in wanted]},
            ).fetchall()
        groups: dict[frozenset[str], list[str]] = {}
        for document_id, written, name in rows:
            held = frozenset(p for p, sought, end in wanted if _holds(written, name, sought, end))
            if held:
                groups.setdefault(held, []).append(document_id)
        return [
            NamedDocuments(parts, len(ids), tuple(ids[:limit])) for parts, ids in groups.items()
        ], total

    def spelled_in(self, text: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        wanted = squeezed(plain(text))
        found: list[tuple[int, str, str]] = []
        for document_id, path, name in self._names(scope):
            spelled = stem(name)
            if len(spelled) >= _LEAST_SPELLED and spelled in wanted:
                found.append((-len(spelled), path, document_id))
        return [(document_id, path) for _, path, document_id in sorted(found)[:limit]]

    def spelled_like(self, name: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        most = 2 if sum(map(str.isalnum, name)) >= _MANY_CHARS else 1
        wanted = squeezed(plain(name))
        found: list[tuple[int, str, str]] = []
        for document_id, path, known in self._names(scope):
            slips = edits(squeezed(known), wanted, most)
            if slips <= most:
                found.append((slips, path, document_id))
        return [(document_id, path) for _, path, document_id in sorted(found)[:limit]]

    def fingerprint(self, scope: Scope) -> str:
        sql = "SELECT path, part, url, content_hash FROM documents WHERE state <> 'gone'"
        rows = self.rows(scope, lambda condition: (sql + condition, {}))
        mixed = 0
        for row in rows:
            digest = md5("\x1f".join(row).encode(), usedforsecurity=False).digest()
            mixed ^= int.from_bytes(digest[8:], "little")
        return f"{len(rows)}-{mixed:016x}"

    def _names(self, scope: Scope) -> list[Any]:
        sql = "SELECT document_id, path, plain_name FROM documents WHERE url = ''"
        return self.rows(scope, lambda condition: (sql + condition, {}))

    def rows(
        self, scope: Scope, statement: Callable[[str], tuple[str, dict[str, Any]]]
    ) -> list[Any]:
        with self._database.snapshot(scope.readable) as snapshot:
            condition, parameters = document_condition(scope, snapshot)
            sql, values = statement(condition)
            return snapshot.con.execute(sql, parameters | values).fetchall()


def _holds(written: str, name: str, sought: str, ending: str | None) -> bool:
    """Whether a part occurs in the name at a position that counts."""
    if sought not in name:
        return False
    if ending is None or f" {sought}{ending}" in words_in(name):
        return True
    return f" {sought}{ending}" in words_in(plain(split_words(written)))
