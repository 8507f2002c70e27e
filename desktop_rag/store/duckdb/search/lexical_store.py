"""Finds chunks by words, and the passages of chunk ids. Any thread; own cursors.

The ranking is that of the contract; `postings.py` reads the postings.
"""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.question import Readable
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import (
    Ids,
    LexicalStore,
    Numbers,
    PostingList,
    Weights,
    WordIndex,
    WordPostings,
    keys_of,
)
from desktop_rag.store.duckdb.database.bulk_rows import sql_in_numbers
from desktop_rag.store.duckdb.database.connections import Connection
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
