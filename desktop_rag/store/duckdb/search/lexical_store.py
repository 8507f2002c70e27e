"""Finds chunks by words, and the passages of chunk ids. Any thread; own cursors.

The ranking, the same for every engine, is in `bm25_ranking.py`, the postings are in `postings.py`.
Functions that take a snapshot may run on any thread.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from desktop_rag.core.domain import Passage
from desktop_rag.core.question import Readable
from desktop_rag.store.contract.bm25_ranking import (
    CHEAP,
    Ids,
    PostingList,
    WordPostings,
    best_chunks,
    counted,
    keys_of,
    neighbour_scores,
)
from desktop_rag.store.contract.database import fetched
from desktop_rag.store.contract.document_rows import read_sites
from desktop_rag.store.contract.search import (
    EVERYWHERE,
    SHORTEST_COMPLETED,
    LexicalStore,
    Scope,
    Weights,
    WordCounts,
    Words,
    chosen_nearest,
    chosen_terms,
    passages_of,
    stems_of,
    term_counts_of,
    weighted,
)
from desktop_rag.store.duckdb.database.bulk_rows import sql_in_numbers
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.index_cache import IndexCache, IndexSnapshot
from desktop_rag.store.duckdb.search.postings import FINISHED
from desktop_rag.store.duckdb.search.scope_sql import condition_of
from desktop_rag.store.sql.scope_filters import key_of


def counts_of(
    snapshot: IndexSnapshot, words: Words, readable: Readable | None = None
) -> WordCounts:
    """The statistics behind the weight of each distinct word."""
    if readable is not None:
        part = snapshot.part(readable)
        return counted(
            words,
            lambda keys: counts_within(snapshot, keys, readable),
            len(part.chunk_ids),
            part.terms,
        )
    statistics = snapshot.statistics

    def in_library(keys: Sequence[int]) -> dict[int, int]:
        found = snapshot.document_frequencies(keys)
        recent = snapshot.recent_postings(keys)
        return {
            key: found[key] + (len(recent[key].chunk_ids) if key in recent else 0) for key in keys
        }

    return counted(words, in_library, statistics.chunk_count, statistics.terms)


def counts_within(
    snapshot: IndexSnapshot, keys: Sequence[int], readable: Readable
) -> dict[int, int]:
    """The number of readable chunks that each term occurs in."""
    inside = snapshot.part(readable).chunk_ids
    found = dict.fromkeys(keys, 0)
    if len(inside) and keys:
        distinct = list(found)
        for lists in (snapshot.sorted_postings(distinct), snapshot.recent_postings(distinct)):
            for key, postings in lists.items():
                found[key] += len(postings.in_chunks(inside).chunk_ids)
    return found


def best(
    snapshot: IndexSnapshot, weights: Weights, limit: int, scope: Scope, cheap: int = CHEAP
) -> list[tuple[int, float]]:
    """The `limit` chunks with the highest score: (chunk id, score), best first. Exact."""
    allowed = _AllowedChunks.of(snapshot, scope)
    return best_chunks(weights, _postings(snapshot, weights), allowed.only, limit, cheap)


def scores_of(
    snapshot: IndexSnapshot, weights: Weights, chunk_ids: Sequence[int]
) -> dict[int, float]:
    """The scores of given chunks read with their neighbours; those without any word are absent."""
    near = {i + step for i in chunk_ids for step in (-1, 0, 1)}
    found = snapshot.chunks().select(np.array(sorted(near), np.int64))
    ids, lengths = found.chunk_ids, found.terms.astype(np.float64)
    if not len(ids) or not weights.words:
        return {}
    tf = _postings(snapshot, weights).tf_in(ids)
    totals = neighbour_scores(weights, ids, lengths, found.continues, tf)
    wanted = np.isin(ids, np.array(chunk_ids, np.int64)) & snapshot.visible(ids) & (totals > 0)
    return dict(zip(ids[wanted].tolist(), totals[wanted].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _AllowedChunks:
    """The chunks in scope: those of `inside` (None: all) that are not deleted."""

    inside: Ids | None
    deleted: Ids

    @classmethod
    def of(cls, snapshot: IndexSnapshot, scope: Scope) -> "_AllowedChunks":
        con = snapshot.con
        rest = replace(scope, readable=None)
        condition, parameters = condition_of(rest, con, snapshot.statistics, "chunk_id")
        inside = snapshot.part(scope.readable).chunk_ids if scope.readable else None
        if condition:
            sql = f"SELECT chunk_id FROM chunks WHERE true{condition}"
            others = con.execute(sql, parameters).fetchnumpy()["chunk_id"]
            inside = others if inside is None else np.intersect1d(inside, others)
        return cls(inside, snapshot.postings_state.deleted)

    def only(self, postings: PostingList) -> PostingList:
        """The postings of these chunks."""
        if self.inside is not None:
            postings = postings.where(np.isin(postings.chunk_ids, self.inside))
        if len(self.deleted):
            postings = postings.where(np.isin(postings.chunk_ids, self.deleted, invert=True))
        return postings


def _postings(snapshot: IndexSnapshot, weights: Weights) -> WordPostings:
    """The sorted and the unsorted postings of each word."""
    # The unsorted ones are scanned once for all words.
    recent = snapshot.recent_postings([key for keys in keys_of(weights) for key in keys])

    def read(keys: Sequence[int]) -> dict[int, list[PostingList]]:
        found = snapshot.sorted_postings(keys)
        return {key: [found[key]] + ([recent[key]] if key in recent else []) for key in found}

    return WordPostings(weights, read)


_ALL = "(SELECT term FROM terms UNION SELECT term FROM recent_postings)"


def nearest_within(snapshot: IndexSnapshot, term: str, errors: int, readable: Readable) -> str:
    """As `LexicalStore.nearest_term`, among the terms of readable chunks."""
    rows = snapshot.con.execute(
        f"SELECT damerau_levenshtein(term, $term) AS errors, term FROM {_ALL}"
        " WHERE starts_with(term, $first) AND abs(length(term) - length($term)) <= $errors"
        " AND damerau_levenshtein(term, $term) <= $errors ORDER BY errors, term",
        {"term": term, "errors": errors, "first": term[:1]},
    ).fetchall()
    return chosen_nearest(rows, lambda terms: _counts(snapshot, terms, readable))


def completing_within(
    snapshot: IndexSnapshot, word: str, stems: Sequence[str], limit: int, readable: Readable
) -> tuple[str, ...]:
    """As `LexicalStore.terms_completing`, among the terms of readable chunks."""
    rows = snapshot.con.execute(
        f"SELECT term FROM {_ALL} WHERE starts_with(term, $word) OR list_contains($stems, term)",
        {"word": word, "stems": list(stems)},
    ).fetchall()
    return chosen_terms(_counts(snapshot, [term for (term,) in rows], readable), word, limit)


def _counts(snapshot: IndexSnapshot, terms: Sequence[str], readable: Readable) -> dict[str, int]:
    """The number of readable chunks of each term that is in any."""
    return term_counts_of(terms, lambda keys: counts_within(snapshot, keys, readable))


class DuckdbLexicalStore(LexicalStore):
    """Ranks chunks by the words of a question, tuples of alternative terms; see the contract."""

    def __init__(self, database: Database, cache: IndexCache) -> None:
        self._database = database
        self._cache = cache

    def count(self, words: Words, readable: Readable | None = None) -> WordCounts:
        with self._cache.snapshot() as snapshot:
            return counts_of(snapshot, words, readable)

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        with self._cache.snapshot() as snapshot:
            weights = _weights(snapshot, words, scope.readable)
            return best(snapshot, weights, limit, scope)

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        with self._cache.snapshot() as snapshot:
            return scores_of(snapshot, _weights(snapshot, words), chunk_ids)

    def in_scope(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        with self._database.read() as con:
            condition, parameters = condition_of(scope, con, self._cache.statistics, "chunk_id")
            which = sql_in_numbers(con, "chunk_id", chunk_ids)
            rows = con.execute(
                f"SELECT chunk_id FROM chunks WHERE {which}{condition}", parameters
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        with self._database.read() as con:
            which = sql_in_numbers(con, "chunk_id", chunk_ids)
            rows = con.execute(f"SELECT DISTINCT document_id FROM chunks WHERE {which}").fetchall()
        return frozenset(row[0] for row in rows)

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        with self._cache.snapshot() as snapshot:
            con = snapshot.con
            condition, parameters = condition_of(scope, con, snapshot.statistics, "chunk_id")
            rows = con.execute(
                "SELECT chunk_id, mtime_ns / 1e9 FROM chunks JOIN documents USING (document_id)"
                f" WHERE position = 0 AND {FINISHED}{condition} ORDER BY 2 DESC, 1 LIMIT {limit}",
                parameters,
            ).fetchall()
        return dict(rows)

    def languages(self, readable: Readable | None = None) -> Mapping[str, int]:
        if readable is None:
            return dict(self._cache.statistics.languages)
        with self._cache.snapshot() as snapshot:
            return dict(snapshot.part(readable).languages)

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        if readable is not None:
            with self._cache.snapshot() as snapshot:
                return nearest_within(snapshot, term, errors, readable)
        rows = fetched(
            self._database,
            "SELECT term FROM (SELECT term, chunks FROM terms UNION ALL"
            " SELECT term, count(*) AS chunks FROM recent_postings GROUP BY term)"
            " WHERE starts_with(term, $first) AND abs(length(term) - length($term)) <= $errors"
            " AND damerau_levenshtein(term, $term) <= $errors"
            " GROUP BY term ORDER BY damerau_levenshtein(term, $term), sum(chunks) DESC, term"
            " LIMIT 1",
            {"term": term, "errors": errors, "first": term[:1]},
        )
        return rows[0][0] if rows else ""

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        if len(word) < SHORTEST_COMPLETED:
            return ()
        stems = stems_of(word)
        if readable is not None:
            with self._cache.snapshot() as snapshot:
                return completing_within(snapshot, word, stems, limit, readable)
        rows = fetched(
            self._database,
            "SELECT term, starts_with(term, $word) AS is_longer FROM (SELECT term, chunks"
            " FROM terms WHERE starts_with(term, $word) OR list_contains($stems, term)"
            " UNION ALL SELECT term, count(*) AS chunks FROM recent_postings"
            " WHERE starts_with(term, $word) OR list_contains($stems, term) GROUP BY term)"
            " GROUP BY term ORDER BY is_longer DESC,"
            " if(is_longer, sum(chunks), length(term)) DESC, term LIMIT $limit",
            {"word": word, "stems": stems, "limit": limit},
        )
        longer = tuple(term for term, is_longer in rows if is_longer)
        return longer or tuple(term for term, _ in rows[:1])

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        with self._database.read() as con:
            # Two statements: a join would read the texts of all rows around.
            chunks = con.execute(
                "SELECT chunk_id, document_id, text, anchor, start_offset, end_offset FROM chunks"
                f" WHERE {sql_in_numbers(con, 'chunk_id', scores)}"
            ).fetchall()
            keys = [key_of(document_id) for document_id in {row[1] for row in chunks}]
            documents = con.execute(
                "SELECT document_id, path, title, part, url, source_id FROM documents"
                f" WHERE {sql_in_numbers(con, 'key', keys, 'UBIGINT')}"
            ).fetchall()
        rows = {document_id: rest for document_id, *rest in documents}
        whole = [(*chunk, *rows[chunk[1]]) for chunk in chunks if chunk[1] in rows]
        return passages_of(whole, scores, self._database.cached(read_sites))


def _weights(
    snapshot: IndexSnapshot, words: Words | Weights, readable: Readable | None = None
) -> Weights:
    if isinstance(words, Weights):
        return words
    return weighted(counts_of(snapshot, words, readable))
