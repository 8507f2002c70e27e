"""Finds documents by the names of their files. Any thread; own cursors."""

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from desktop_rag.store.contract.database import folded, plain
from desktop_rag.store.contract.search import NamedDocuments, NameStore, Scope
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.index_cache import IndexCache, condition_of

# Runs of letters and digits are also split here: BestBuy2019 is Best, Buy and 2019 as well.
_SPLITS = (
    (r"(\p{Ll})(\p{Lu})", r"\1 \2"),
    (r"(\p{Lu})(\p{Lu}\p{Ll})", r"\1 \2"),
    (r"([0-9]+)", r" \1 "),
)
_IS_SPLIT = r"\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}[0-9]|[0-9]\p{L}"
_BETWEEN_WORDS = r"[^\p{L}\p{M}\p{N}]+"


def _words(name: str) -> str:
    """SQL for the words of a name, each surrounded by spaces."""
    return f"' ' || regexp_replace({name}, '{_BETWEEN_WORDS}', ' ', 'g') || ' '"


def _split(name: str) -> str:
    for pattern, replacement in _SPLITS:
        name = f"regexp_replace({name}, '{pattern}', '{replacement}', 'g')"
    return name


# True when a part occurs in the name at a valid place. Splitting a name takes ten times as long as
# finding the part in it, so it is done only where it matters.
_IS_IN_PLACE = (
    "CASE WHEN ending IS NULL THEN true"
    f" WHEN contains({_words('name')}, ' ' || sought || ending) THEN true"
    f" WHEN NOT regexp_matches(written, '{_IS_SPLIT}') THEN false"
    f" ELSE contains({_words(folded(_split('nfc_normalize(written)')))},"
    " ' ' || sought || ending) END"
)


def _groups(condition: str, limit: int) -> str:
    """SQL for the sets of parts, each with its number of documents and up to `limit` of them.

    Handing tens of thousands of names to Python and back, for a word that all of them contain,
    takes many times as long as the rest of a search.
    """
    return (
        "WITH wanted AS (SELECT unnest($parts) AS part, unnest($endings) AS ending,"
        " unnest($sought) AS sought),"
        " names AS MATERIALIZED (SELECT document_id, parse_filename(path) AS written,"
        " plain_name AS name FROM documents WHERE chunk_count > 0"
        f" AND regexp_matches(plain_name, $any){condition}),"
        " held AS (SELECT document_id, list_sort(list(DISTINCT part)) AS parts FROM names"
        f" JOIN wanted ON contains(name, sought) WHERE {_IS_IN_PLACE} GROUP BY document_id)"
        f" SELECT parts, count(*), min(document_id, {limit:d}) FROM held GROUP BY parts"
    )


_LEAST_SPELLED = 3
_MANY_CHARS = 12


def _squeezed(text: str) -> str:
    """SQL for the letters and digits of a text."""
    return f"regexp_replace({text}, '[^\\p{{L}}\\p{{N}}]+', '', 'g')"


_STEM = _squeezed("regexp_replace(plain_name, '\\.[^.]{1,8}$', '')")


def _spelled(condition: str, limit: int) -> str:
    return (
        f"SELECT document_id, path FROM (SELECT document_id, path, {_STEM} AS stem FROM documents"
        f" WHERE url = ''{condition}) WHERE length(stem) >= {_LEAST_SPELLED}"
        f" AND contains({_squeezed('$text')}, stem) ORDER BY length(stem) DESC, path"
        f" LIMIT {limit:d}"
    )


def _alike(condition: str, limit: int) -> str:
    slips = f"damerau_levenshtein({_squeezed('plain_name')}, {_squeezed('$text')})"
    return (
        f"SELECT document_id, path FROM (SELECT document_id, path, {slips} AS slips FROM documents"
        f" WHERE url = ''{condition}) WHERE slips <= $slips ORDER BY slips, path LIMIT {limit:d}"
    )


# With more documents the names are read for each question, and take a hundred bytes each.
_MOST_KNOWN = 50_000
_PARTS_REMEMBERED = 1_000


class _KnownNames:
    """All names, as a fast check that a question names no file, as most don't.

    Planning one of the statements takes many times as long.
    """

    def __init__(self, held: str, spelled: tuple[str, ...]) -> None:
        """`held`: names of searchable documents, a line each; `spelled`: stems for `_spelled`."""
        self.spelled = spelled
        # While a question is typed, all but its last word was looked for before.
        self.holds = lru_cache(_PARTS_REMEMBERED)(held.__contains__)


def _known_names(con: Connection) -> _KnownNames | None:
    """The names of all documents; None when there are very many."""
    [(count,)] = con.execute("SELECT count(*) FROM documents").fetchall()
    if count > _MOST_KNOWN:
        return None
    [(held, spelled)] = con.execute(
        "SELECT string_agg(plain_name, chr(10)) FILTER (chunk_count > 0),"
        f" list(DISTINCT stem) FILTER (url = '' AND length(stem) >= {_LEAST_SPELLED})"
        f" FROM (SELECT plain_name, chunk_count, url, {_STEM} AS stem FROM documents)"
    ).fetchall()
    return _KnownNames(held or "", tuple(spelled or ()))


class DuckdbNameStore(NameStore):
    """The names of the documents."""

    day = "strftime(make_timestamp(mtime_ns // 1000), '%Y-%m-%d %d.%m.%Y')"

    def __init__(self, database: Database, cache: IndexCache) -> None:
        self._database = database
        self._cache = cache

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
        limit: int,
    ) -> tuple[list[NamedDocuments], int]:
        endings = {" ": words, "": beginnings, None: pieces}
        wanted = [(part, ending) for ending, parts in endings.items() for part in parts]
        statistics = self._cache.statistics
        every = self._cache.part(scope.readable).statistics if scope.readable else statistics
        sought = [plain(part) for part, _ in wanted]
        known = self._known(scope)
        if not wanted or (known and not any(map(known.holds, sought))):
            return [], every.indexed_documents
        values = {
            "any": "|".join(re.escape(part) for part in sought),
            "parts": [part for part, _ in wanted],
            "endings": [ending for _, ending in wanted],
            "sought": sought,
        }
        rows = self.rows(scope, lambda condition: (_groups(condition, limit), values))
        found = [NamedDocuments(frozenset(parts), count, tuple(ids)) for parts, count, ids in rows]
        # Documents may be added between the two reads.
        return found, max(every.indexed_documents, sum(group.count for group in found))

    def spelled_in(self, text: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        text = plain(text)
        if known := self._known(scope):
            squeezed = "".join(filter(str.isalnum, text))
            if not any(stem in squeezed for stem in known.spelled):
                return []
        return self.rows(scope, lambda condition: (_spelled(condition, limit), {"text": text}))

    def spelled_like(self, name: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        slips = 2 if sum(map(str.isalnum, name)) >= _MANY_CHARS else 1
        values = {"text": plain(name), "slips": slips}
        return self.rows(scope, lambda condition: (_alike(condition, limit), values))

    def fingerprint(self, scope: Scope) -> str:
        content = "concat_ws(chr(31), path, part, url, content_hash)"
        sql = (
            f"SELECT count(*), coalesce(bit_xor(md5_number_lower({content})), 0)"
            " FROM documents WHERE state <> 'gone'"
        )
        [(count, mixed)] = self.rows(scope, lambda condition: (sql + condition, {}))
        return f"{count}-{mixed:016x}"

    def _known(self, scope: Scope) -> "_KnownNames | None":
        """All names; None with limited rights, as the time taken would reveal existing names."""
        return None if scope.readable else self._database.cached(_known_names)

    def rows(
        self, scope: Scope, statement: Callable[[str], tuple[str, dict[str, Any]]]
    ) -> list[Any]:
        with self._database.read() as con:
            condition, parameters = condition_of(scope, con, self._cache.statistics, "document_id")
            sql, values = statement(condition)
            return con.execute(sql, parameters | values).fetchall()
