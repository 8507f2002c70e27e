"""Finds chunks by words, and documents by the names of their files. Any thread; own cursors.

The ranking is that of the contract; `postings.py` reads the postings.
"""

import re
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.question import Readable
from desktop_rag.store.contract.database import folded, plain
from desktop_rag.store.contract.search import (
    Ids,
    LexicalStore,
    NamedDocuments,
    NameStore,
    Numbers,
    PostingList,
    Scope,
    Weights,
    WordIndex,
    WordPostings,
    keys_of,
)
from desktop_rag.store.duckdb.database.connections import Connection, sql_in_numbers
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.index_cache import IndexCache, IndexSnapshot, condition_of
from desktop_rag.store.duckdb.search.postings import FINISHED

_COUNTED = (
    "SELECT term, sum(chunks)::BIGINT FROM (SELECT term, chunks FROM terms WHERE {condition}"
    " UNION ALL SELECT term, count(*) AS chunks FROM recent_postings WHERE {condition}"
    " GROUP BY term) GROUP BY term"
)


class DuckdbWordIndex(WordIndex):
    """The words of a snapshot."""

    vocabulary = "(SELECT term FROM terms UNION SELECT term FROM recent_postings)"
    is_near = " AND damerau_levenshtein(term, $term) <= $errors"

    def __init__(self, snapshot: IndexSnapshot, readable: Readable | None = None) -> None:
        self.con = snapshot.con
        self._snapshot = snapshot
        self._part = None if readable is None else snapshot.part(readable)
        self.statistics = self._part.statistics if self._part else snapshot.statistics

    def counts(self, keys: Sequence[int]) -> Mapping[int, int]:
        recent = self._snapshot.recent_postings(keys)
        if self._part is None:
            found = self._snapshot.document_frequencies(keys)
            lists = {key: [recent[key]] if key in recent else [] for key in keys}
            return {key: found[key] + sum(len(p.chunk_ids) for p in lists[key]) for key in keys}
        inside = self._part.chunk_ids
        found = dict.fromkeys(keys, 0)
        if len(inside) and keys:
            for lists in (self._snapshot.sorted_postings(list(found)), recent):
                for key, postings in lists.items():
                    found[key] += len(postings.in_chunks(inside).chunk_ids)
        return found

    def postings(self, weights: Weights) -> WordPostings:
        """The sorted and the unsorted postings of each word."""
        # The unsorted ones are scanned once for all words.
        keys = [key for keys in keys_of(weights) for key in keys]
        recent = self._snapshot.recent_postings(keys)

        def read(keys: Sequence[int]) -> dict[int, list[PostingList]]:
            found = self._snapshot.sorted_postings(keys)
            return {key: [found[key]] + ([recent[key]] if key in recent else []) for key in found}

        return WordPostings(weights, read)

    def allowed(self, scope: Scope) -> Callable[[PostingList], PostingList]:
        condition, parameters = self.condition(replace(scope, readable=None))
        inside = self._snapshot.part(scope.readable).chunk_ids if scope.readable else None
        if condition:
            sql = f"SELECT chunk_id FROM chunks WHERE true{condition}"
            others = self._snapshot.con.execute(sql, parameters).fetchnumpy()["chunk_id"]
            inside = others if inside is None else np.intersect1d(inside, others)
        deleted = self._snapshot.postings_state.deleted

        def only(postings: PostingList) -> PostingList:
            if inside is not None:
                postings = postings.where(np.isin(postings.chunk_ids, inside))
            if len(deleted):
                postings = postings.where(np.isin(postings.chunk_ids, deleted, invert=True))
            return postings

        return only

    def lengths(self, chunk_ids: Ids) -> tuple[Ids, Numbers, NDArray[np.bool_]]:
        found = self._snapshot.chunks().select(chunk_ids)
        found = found.where(self._snapshot.visible(found.chunk_ids))
        return found.chunk_ids, found.terms.astype(np.float64), found.continues

    def condition(self, scope: Scope) -> tuple[str, dict[str, Any]]:
        return condition_of(scope, self._snapshot.con, self._snapshot.statistics, "chunk_id")

    def counted_terms(self, condition: str, parameters: object) -> dict[str, int]:
        """In one statement for the whole library: a short beginning has thousands of terms."""
        if self._part is not None:
            return super().counted_terms(condition, parameters)
        sql = _COUNTED.format(condition=condition)
        return dict(self.con.execute(sql, parameters).fetchall())


class DuckdbLexicalStore(LexicalStore):
    """Ranks chunks by the words of a question, tuples of alternative terms; see the contract."""

    is_finished = f" AND {FINISHED}"

    def __init__(self, database: Database, cache: IndexCache) -> None:
        super().__init__(database)
        self._cache = cache

    @contextmanager
    def index(
        self, readable: Readable | None = None, search: str = ""
    ) -> Generator[DuckdbWordIndex]:
        with self._cache.snapshot() as snapshot:
            yield DuckdbWordIndex(snapshot, readable)

    def among(self, con: Connection, chunk_ids: Collection[int]) -> tuple[str, dict[str, Any]]:
        return sql_in_numbers(con, "chunk_id", chunk_ids), {}


# Runs of letters and digits are also split here: BestBuy2019 is Best, Buy and 2019 as well.
_SPLITS = (
    (r"(\p{Ll})(\p{Lu})", r"\1 \2"),
    (r"(\p{Lu})(\p{Lu}\p{Ll})", r"\1 \2"),
    (r"([0-9]+)", r" \1 "),
)
_IS_SPLIT = r"\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}[0-9]|[0-9]\p{L}"
_BETWEEN_WORDS = r"[^\p{L}\p{M}\p{N}]+"


def _sql_words(name: str) -> str:
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
    f" WHEN contains({_sql_words('name')}, ' ' || sought || ending) THEN true"
    f" WHEN NOT regexp_matches(written, '{_IS_SPLIT}') THEN false"
    f" ELSE contains({_sql_words(folded(_split('nfc_normalize(written)')))},"
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
