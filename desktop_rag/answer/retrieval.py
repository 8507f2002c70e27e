"""Finds the passages for a question: words and meaning, fused. Any worker thread."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from desktop_rag.answer.fusion import (
    FusionModel,
    Scores,
    fuse,
    measure,
    ordered,
    standardised,
    with_windows,
)
from desktop_rag.answer.naming import NamedDocuments
from desktop_rag.answer.question import QuestionReader, Wanted
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.query import Query, parse_query
from desktop_rag.core.terms import holds_phrase
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import Embedder, EmbedderFaultError
from desktop_rag.store.lexical import LexicalStore
from desktop_rag.store.scope import Scope
from desktop_rag.store.vectors import VectorStore

log = logging.getLogger(__name__)

# Deep enough that what one list ranks first is scored by the other too.
_POOL = 100
# Of documents that the question names, so many passages of each list join the race, this much
# ahead in deviations.
_NAMED_POOL = 30
_NAMED_BONUS = 1.0
# Within a document that is named, the words that named it tell nothing any more: meaning counts
# this many times as much as elsewhere.
_NAMED_MEANING = 3.0
# Where passages are checked one by one, so many times the wanted are looked at.
_CHECKED = 5


@dataclass(frozen=True, slots=True)
class AnsweringIndex:
    """An embedder, the vectors it made, and the collections it answers for (None: all)."""

    embedder: Embedder
    vectors: VectorStore
    collection_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """The passages in the race, arrays of one length.

    `lexical` are scores by words, `similar` the similarities of whole passages, `dense` those with
    windows, standardised where several models answer. `greatest` is what no score by words
    reaches. `is_named` is 1 for passages of documents that the question names, else 0.
    """

    ids: tuple[int, ...]
    lexical: Scores
    similar: Scores
    dense: Scores
    greatest: float
    is_named: Scores


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, best first, and the words that were searched for in place of others."""

    passages: list[Passage]
    repaired: tuple[tuple[str, str], ...] = ()


class Retriever:
    """Search over the whole index or one collection.

    With no embedder, or no vectors yet, every mode falls back on words: the person gets what
    there is.
    """

    def __init__(
        self,
        lexical: LexicalStore,
        answering: Callable[[], Sequence[AnsweringIndex]],
        gate: ModelGate,
        names: NamedDocuments,
        fusion: FusionModel,
    ) -> None:
        """`answering` gives the models to ask now with their vectors, none without any."""
        self.lexical = lexical
        self._answering = answering
        self._gate = gate
        self._names = names
        self._fusion = fusion
        self.reader = QuestionReader(lexical)

    def search(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        collection_id: str = "",
        lexical_weight: float = 0.5,
    ) -> Found:
        """The best passages first. Scores are comparable within one result only.

        `lexical_weight` moves the balance of hybrid search, see `FusionModel.lexical_weight`.
        """
        asked = parse_query(query)
        scope = self._scope(asked, collection_id)
        if asked.is_only_filters:
            return Found(self.lexical.passages(self.lexical.newest(limit, scope)))
        wanted = self.reader.read(asked)
        is_checked = any((*asked.phrases, *(" " in word for word in asked.excluded)))
        depth = limit * _CHECKED if is_checked else limit
        scores, relevance = self._ranked(wanted, mode, depth, scope, lexical_weight)
        passages = [
            replace(passage, relevance=relevance.get(passage.chunk_id, 1.0))
            for passage in self.lexical.passages(scores)
            if not is_checked or _is_as_asked(passage.text, asked)
        ]
        return Found(passages[:limit], wanted.repaired)

    def pool(self, wanted: Wanted, scope: Scope, limit: int = _POOL) -> Pool | None:
        """Every passage that either list ranks among its first, scored by both; None without any
        model that answers.
        """
        similar: dict[int, float] = {}
        dense: dict[int, float] = {}
        weights = wanted.words
        best = dict(self.lexical.best(weights, limit, scope))
        named = scope.of_documents(self._names.of(wanted.text, scope))
        if named:
            best |= self.lexical.best(weights, _NAMED_POOL, named)
        answers = [
            answer
            for index in self._answering()
            if (answer := self._similar(index, wanted.text, limit, scope, named, best)) is not None
        ]
        if not answers:
            return None
        for found, windowed in answers:
            similar |= found
            dense |= windowed if len(answers) == 1 else _comparable(windowed)
        ids = tuple(sorted(best.keys() | similar.keys()))
        lexical = self.lexical.scores(weights, ids)
        lowest, last = min(similar.values(), default=0.0), min(dense.values(), default=0.0)
        return Pool(
            ids,
            _array(lexical.get(i, 0.0) for i in ids),
            # One without a vector yet stands at the pool's end.
            _array(similar.get(i, lowest) for i in ids),
            _array(dense.get(i, last) for i in ids),
            weights.greatest(),
            self._of_named(ids, named),
        )

    def _ranked(
        self, wanted: Wanted, mode: SearchMode, limit: int, scope: Scope, preference: float
    ) -> tuple[dict[int, float], dict[int, float]]:
        """(chunk id → score, best first; chunk id → relevance)."""
        pool = None if mode == "lexical" else self.pool(wanted, scope, max(_POOL, limit))
        if pool is None:
            weights = wanted.words
            scores = dict(self.lexical.best(weights, limit, scope))
            greatest = weights.greatest()
            return scores, {
                i: self._fusion.relevance_by_words({"share": score / greatest})
                for i, score in scores.items()
            }
        if not pool.ids:
            return {}, {}
        fused = pool.dense
        if mode == "hybrid":
            signals = measure(pool.lexical, pool.similar)
            if pool.is_named.any():
                preference /= preference + _NAMED_MEANING * (1 - preference)
            weight = self._fusion.lexical_weight(signals, preference)
            fused = fuse(pool.lexical, pool.dense, weight) + _NAMED_BONUS * pool.is_named
        scores = ordered(pool.ids, fused, limit)
        return scores, self._relevance(pool, scores)

    def _relevance(self, pool: Pool, chunk_ids: Iterable[int]) -> dict[int, float]:
        places = {chunk_id: place for place, chunk_id in enumerate(pool.ids)}
        spread = measure(pool.lexical, pool.similar).spread
        return {
            i: self._fusion.relevance(
                {
                    "similarity": float(pool.similar[places[i]]),
                    "spread": spread,
                    "share": float(pool.lexical[places[i]]) / (pool.greatest or 1.0),
                }
            )
            for i in chunk_ids
        }

    def _similar(
        self,
        index: AnsweringIndex,
        text: str,
        limit: int,
        scope: Scope,
        named: Scope | None,
        best: Iterable[int],
    ) -> tuple[dict[int, float], dict[int, float]] | None:
        """Chunk id → similarity of the passage, and with its windows; of one model.

        None when it has no part in the scope, or can't embed now.
        """
        narrowed = scope.within(index.collection_ids)
        if narrowed.collection_ids == ():
            return None
        try:
            with self._gate.question():
                vector = index.embedder.embed_query(text)
        except EmbedderFaultError as error:
            log.info("meaning was not searched: %s", error.title)
            return None
        similar = dict(index.vectors.nearest(vector, limit, narrowed))
        if named:
            inside = named.within(index.collection_ids)
            similar |= index.vectors.nearest(vector, _NAMED_POOL, inside)
        others = [i for i in best if i not in similar]
        if index.collection_ids is not None:
            # What another model answers for may have vectors of this one too.
            others = list(self.lexical.inside(others, narrowed))
        similar |= index.vectors.similarities(vector, others)
        windows = index.vectors.window_similarities(vector, list(similar))
        passages = _array(similar.values())
        dense = with_windows(passages, _array(windows.get(i, np.nan) for i in similar))
        return similar, dict(zip(similar, dense.tolist(), strict=True))

    def _of_named(self, ids: Sequence[int], named: Scope | None) -> Scores:
        inside = self.lexical.inside(ids, named) if named else frozenset[int]()
        return _array(float(i in inside) for i in ids)

    def _scope(self, asked: Query, collection_id: str) -> Scope:
        return Scope(
            collection_ids=(collection_id,) if collection_id else None,
            filters=asked.filters,
            required=self.reader.alternatives(asked.phrases),
            excluded=self.reader.alternatives(
                tuple(word for word in asked.excluded if " " not in word)
            ),
        )


def _is_as_asked(text: str, asked: Query) -> bool:
    return all(holds_phrase(text, phrase) for phrase in asked.phrases) and not any(
        holds_phrase(text, words) for words in asked.excluded if " " in words
    )


def _comparable(scores: dict[int, float]) -> dict[int, float]:
    """Similarities of two models have different scales; their distances from the mean don't."""
    if not scores:
        return {}
    return dict(zip(scores, standardised(_array(scores.values())).tolist(), strict=True))


def _array(values: Iterable[float]) -> Scores:
    return np.fromiter(values, dtype=np.float64)
