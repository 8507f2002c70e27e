"""Finds chunks by words, and the passages of chunk ids, on a server. Any thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.domain import Passage
from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_database import (
    ServerDatabase,
    ServerSnapshot,
)
from desktop_rag.features.shared_library.postgres.search.server_postings import (
    PostingsInMemory,
    read_state,
)
from desktop_rag.features.shared_library.postgres.search.server_scope import (
    chunk_condition,
    document_condition,
)
from desktop_rag.store.contract.bm25_ranking import (
    Ids,
    PostingList,
    WordPostings,
    best_chunks,
    counted,
    merged,
    neighbour_scores,
)
from desktop_rag.store.contract.document_rows import read_sites
from desktop_rag.store.contract.scope_conditions import read_statistics
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
from desktop_rag.store.sql.file_names import edits
from desktop_rag.store.sql.scope_filters import key_of

# The share of the memory limit for postings, of eight bytes each: with 2 GB, sixty words that occur
# in every fourth of a million chunks.
_POSTINGS_SHARE = 1 / 16
_Ranges = tuple[Ids, Ids]


@dataclass(frozen=True, slots=True)
class _AllowedChunks:
    """The chunks that a search by words may find; None means no limit."""

    inside: _Ranges | None
    dead: _Ranges | None
    holding: tuple[Ids, ...]
    without: tuple[Ids, ...]

    @classmethod
    def of(
        cls, snapshot: ServerSnapshot, scope: Scope, postings: PostingsInMemory
    ) -> "_AllowedChunks":
        """The chunks of a scope that the snapshot sees."""
        holding = [_holding(snapshot, word, postings) for word in scope.required]
        if scope.chunk_ids is not None:
            holding.append(np.unique(np.array(scope.chunk_ids, np.int64)))
        state = None if snapshot.is_limited else snapshot.cached(read_state)
        has_dead = state is not None and len(state.dead_firsts) > 0
        return cls(
            _documents(snapshot, scope),
            (state.dead_firsts, state.dead_lasts) if state is not None and has_dead else None,
            tuple(holding),
            tuple(_holding(snapshot, word, postings) for word in scope.excluded),
        )

    def only(self, postings: PostingList) -> PostingList:
        """The postings in these chunks."""
        if self.inside is not None:
            postings = postings.where(_within(postings.chunk_ids, self.inside))
        if self.dead is not None:
            postings = postings.where(~_within(postings.chunk_ids, self.dead))
        for ids in self.holding:
            postings = postings.where(np.isin(postings.chunk_ids, ids))
        for ids in self.without:
            postings = postings.where(np.isin(postings.chunk_ids, ids, invert=True))
        return postings


def _within(ids: Ids, ranges: _Ranges) -> NDArray[np.bool_]:
    """True for ids in one of the ranges, which are ordered and disjoint."""
    firsts, lasts = ranges
    if not len(firsts):
        return np.zeros(len(ids), np.bool_)
    place = np.searchsorted(firsts, ids, "right")
    return (place > 0) & (ids <= lasts[np.maximum(place, 1) - 1])


def _holding(snapshot: ServerSnapshot, word: Sequence[str], postings: PostingsInMemory) -> Ids:
    """The chunks with one of the terms."""
    found = postings.get(snapshot, [key_of(term) for term in word])
    return merged(list(found.values())).chunk_ids


def _documents(snapshot: ServerSnapshot, scope: Scope) -> _Ranges | None:
    """The chunks of the documents in a scope, whatever their words; None for all."""
    whole = replace(scope, required=(), excluded=(), chunk_ids=None)
    condition, parameters = document_condition(whole, snapshot)
    if not condition:
        return None
    rows = snapshot.con.execute(
        "SELECT first_chunk, last_chunk FROM document_texts"
        f" WHERE last_chunk >= first_chunk{condition} ORDER BY first_chunk",
        parameters,
    ).fetchall()
    ranges = np.array(rows, np.int64).reshape(-1, 2)
    return ranges[:, 0], ranges[:, 1]


class ServerLexicalStore(LexicalStore):
    """Ranks chunks by the words of a question."""

    def __init__(self, database: ServerDatabase, memory_mb: int) -> None:
        self._database = database
        self._postings = PostingsInMemory(int(_POSTINGS_SHARE * 1_000_000 * memory_mb))
        database.release_listeners.append(self._postings.clear)

    def count(self, words: Words, readable: Readable | None = None) -> WordCounts:
        with self._database.snapshot(readable, search="counts of words") as snapshot:
            return self._counted(snapshot, words)

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        with self._database.snapshot(scope.readable, search="words") as snapshot:
            weights = self._weights(snapshot, words)
            allowed = _AllowedChunks.of(snapshot, scope, self._postings)
            return best_chunks(weights, self._of(snapshot, weights), allowed.only, limit)

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        with self._database.snapshot(search="words of given passages") as snapshot:
            weights = self._weights(snapshot, words)
            near = sorted({i + step for i in chunk_ids for step in (-1, 0, 1)})
            rows = snapshot.con.execute(
                "SELECT chunk_id, term_count, position > 0 FROM chunks"
                " WHERE chunk_id = ANY (?::bigint[]) ORDER BY chunk_id",
                [near],
            ).fetchall()
            if not rows or not weights.words:
                return {}
            ids = np.array([row[0] for row in rows], np.int64)
            lengths = np.array([row[1] for row in rows], np.float64)
            continues = np.array([row[2] for row in rows], np.bool_)
            tf = self._of(snapshot, weights).tf_in(ids)
        totals = neighbour_scores(weights, ids, lengths, continues, tf)
        wanted = np.isin(ids, np.array(chunk_ids, np.int64)) & (totals > 0)
        return dict(zip(ids[wanted].tolist(), totals[wanted].tolist(), strict=True))

    def in_scope(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        with self._database.snapshot(scope.readable) as snapshot:
            condition, parameters = chunk_condition(scope, snapshot)
            rows = snapshot.con.execute(
                f"SELECT chunk_id FROM chunks WHERE chunk_id = ANY ($asked::bigint[]){condition}",
                parameters | {"asked": list(chunk_ids)},
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        with self._database.read() as con:
            rows = con.execute(
                "SELECT DISTINCT document_id FROM chunks WHERE chunk_id = ANY (?::bigint[])",
                [list(chunk_ids)],
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        with self._database.snapshot(scope.readable) as snapshot:
            condition, parameters = chunk_condition(scope, snapshot)
            rows = snapshot.con.execute(
                "SELECT chunks.chunk_id, documents.mtime_ns::float8 / 1e9 FROM chunks"
                " JOIN documents USING (document_id, collection_id)"
                f" WHERE chunks.position = 0{condition} ORDER BY documents.mtime_ns DESC, 1"
                f" LIMIT {limit:d}",
                parameters,
            ).fetchall()
        return dict(rows)

    def languages(self, readable: Readable | None = None) -> Mapping[str, int]:
        with self._database.snapshot(readable) as snapshot:
            return dict(snapshot.cached(read_statistics).languages)

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        # Distances are computed here: few servers have a function for them.
        with self._database.snapshot(readable, search="spelling") as snapshot:
            rows = snapshot.con.execute(
                "SELECT term FROM terms WHERE starts_with(term, $first)"
                " AND abs(length(term) - length($term)) <= $errors",
                {"first": term[:1], "term": term, "errors": errors},
            ).fetchall()
            near = sorted(
                (distance, known)
                for (known,) in rows
                if (distance := edits(term, known, errors)) <= errors
            )
            return chosen_nearest(near, lambda terms: self._counts(snapshot, terms))

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        if len(word) < SHORTEST_COMPLETED:
            return ()
        with self._database.snapshot(readable, search="completion") as snapshot:
            rows = snapshot.con.execute(
                "SELECT term FROM terms WHERE starts_with(term, $word)"
                " OR term = ANY ($stems::text[])",
                {"word": word, "stems": stems_of(word)},
            ).fetchall()
            counts = self._counts(snapshot, [term for (term,) in rows])
        return chosen_terms(counts, word, limit)

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        with self._database.read() as con:
            rows = con.execute(
                "SELECT c.chunk_id, c.document_id, c.text, c.anchor, c.start_offset, c.end_offset,"
                " d.path, d.title, d.part, d.url, d.source_id FROM chunks c"
                " JOIN documents d USING (document_id, collection_id)"
                " WHERE c.chunk_id = ANY (?::bigint[])",
                [list(scores)],
            ).fetchall()
            sites = read_sites(con)
        return passages_of(rows, scores, sites)

    def _weights(self, snapshot: ServerSnapshot, words: Words | Weights) -> Weights:
        if isinstance(words, Weights):
            return words
        return weighted(self._counted(snapshot, words))

    def _counted(self, snapshot: ServerSnapshot, words: Words) -> WordCounts:
        """The counts of which the weights of words are made."""
        statistics = snapshot.cached(read_statistics)
        counts = partial(self._postings.counts, snapshot)
        return counted(words, counts, statistics.chunk_count, statistics.terms)

    def _of(self, snapshot: ServerSnapshot, weights: Weights) -> WordPostings:
        """The postings of the words."""

        def read(keys: Sequence[int]) -> dict[int, list[PostingList]]:
            return {key: [found] for key, found in self._postings.get(snapshot, keys).items()}

        return WordPostings(weights, read)

    def _counts(self, snapshot: ServerSnapshot, terms: Sequence[str]) -> dict[str, int]:
        """The number of visible chunks of each term that has any."""
        return term_counts_of(terms, lambda keys: self._postings.counts(snapshot, keys))
