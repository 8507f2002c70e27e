"""Finds the passages for a question: words and meaning, fused. Any worker thread."""

import logging
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from desktop_rag.answer.at_once import at_once
from desktop_rag.answer.fusion import (
    FEW,
    FusionModel,
    Scores,
    company,
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
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import LexicalStore
from desktop_rag.store.contract.vectors import VectorStore

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

    `lexical` are scores by words, `similar` the similarities of whole passages, `near` those with
    windows, `dense` the same, standardised where several models answer. `greatest` is what no score
    by words reaches. `is_named` is 1 for passages of documents that the question names, else 0.
    `alike` has the similarity of each passage to each other one, NaN where it is not known.
    """

    ids: tuple[int, ...]
    lexical: Scores
    similar: Scores
    near: Scores
    dense: Scores
    greatest: float
    is_named: Scores
    alike: Scores


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model says of passages, arrays of one length; see `Pool`."""

    ids: tuple[int, ...]
    similar: Scores
    near: Scores
    vectors: NDArray[np.float32]


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
        # Background work would take the cores from every step, not only from the embedding.
        with self._gate.question():
            return self._search(parse_query(query), mode, limit, collection_id, lexical_weight)

    def _search(
        self, asked: Query, mode: SearchMode, limit: int, collection_id: str, preference: float
    ) -> Found:
        scope = self._scope(asked, collection_id)
        if asked.is_only_filters:
            return Found(self.lexical.passages(self.lexical.newest(limit, scope)))
        wanted = self.reader.read(asked)
        is_checked = any((*asked.phrases, *(" " in word for word in asked.excluded)))
        depth = limit * _CHECKED if is_checked else limit
        scores, relevance = self._ranked(wanted, mode, depth, scope, preference)
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
        weights = wanted.words
        (best, named), nearest = at_once(
            lambda: self._by_words(wanted, limit, scope),
            lambda: self._by_meaning(wanted.text, limit, scope),
        )
        if not nearest:
            return None
        if named:
            for near in nearest:
                near.add(named)
        ids = tuple(sorted(best.keys() | {i for near in nearest for i in near.ids}))
        lexical, answers = at_once(
            lambda: self.lexical.scores(weights, ids),
            lambda: [self._answer(near, best) for near in nearest],
        )
        return self._scored(ids, lexical, answers, weights.greatest(), named)

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
            signals = measure(pool.lexical, pool.similar, pool.dense, pool.alike)
            if pool.is_named.any():
                preference /= preference + _NAMED_MEANING * (1 - preference)
            weight = self._fusion.lexical_weight(signals, preference)
            fused = fuse(pool.lexical, pool.dense, weight)
            fused += self._fusion.company_weight(signals) * company(fused, pool.alike)
            fused += _NAMED_BONUS * pool.is_named
        scores = ordered(pool.ids, fused, limit)
        return scores, self._relevance(pool, scores)

    def _relevance(self, pool: Pool, chunk_ids: Container[int]) -> dict[int, float]:
        standout = standardised(pool.lexical)
        share = pool.lexical / (pool.greatest or 1.0)
        among_few = len(pool.ids) < FEW
        relevance = self._fusion.relevance_among_few if among_few else self._fusion.relevance
        return {
            i: relevance(
                {
                    "nearness": float(pool.near[place]),
                    "standout": float(standout[place]),
                    "share": float(share[place]),
                }
            )
            for place, i in enumerate(pool.ids)
            if i in chunk_ids
        }

    def _by_words(
        self, wanted: Wanted, limit: int, scope: Scope
    ) -> tuple[dict[int, float], Scope | None]:
        """The best chunks, also of the documents that the question names, and these as a scope."""
        best = dict(self.lexical.best(wanted.words, limit, scope))
        named = scope.of_documents(self._names.of(wanted.text, scope))
        if named:
            best |= self.lexical.best(wanted.words, _NAMED_POOL, named)
        return best, named

    def _by_meaning(self, text: str, limit: int, scope: Scope) -> list["_Near"]:
        """The most similar chunks by each model that has a part in the scope and embeds now."""
        found: list[_Near] = []
        for index in self._answering():
            narrowed = scope.within(index.collection_ids)
            if narrowed.collection_ids == ():
                continue
            try:
                with self._gate.question():
                    vector = index.embedder.embed_query(text)
            except EmbedderFaultError as error:
                log.info("meaning was not searched: %s", error.title)
                continue
            near = _Near(index, vector, narrowed, set())
            near.take(limit, narrowed)
            if near.ids:
                found.append(near)
        return found

    def _answer(self, near: "_Near", best: Iterable[int]) -> Answer:
        """What a model says of the chunks it finds near and of those of `best`."""
        others = [i for i in best if i not in near.ids]
        if near.index.collection_ids is not None:
            # What another model answers for may have vectors of this one too.
            others = list(self.lexical.inside(others, near.scope))
        store = near.index.vectors
        ids, vectors = store.vectors([*near.ids, *others])
        similar = (vectors @ near.vector).astype(np.float64)
        windows = store.window_similarities(near.vector, ids)
        windowed = with_windows(similar, _array(windows.get(i, np.nan) for i in ids))
        return Answer(tuple(ids), similar, windowed, vectors)

    def _scored(
        self,
        ids: tuple[int, ...],
        lexical: dict[int, float],
        answers: Sequence[Answer],
        greatest: float,
        named: Scope | None,
    ) -> Pool:
        similar: dict[int, float] = {}
        near: dict[int, float] = {}
        dense: dict[int, float] = {}
        for answer in answers:
            # Similarities of two models have different scales; distances from the mean don't.
            scores = answer.near if len(answers) == 1 else standardised(answer.near)
            similar |= zip(answer.ids, answer.similar.tolist(), strict=True)
            near |= zip(answer.ids, answer.near.tolist(), strict=True)
            dense |= zip(answer.ids, scores.tolist(), strict=True)
        return Pool(
            ids,
            _array(lexical.get(i, 0.0) for i in ids),
            _filled(ids, similar),
            _filled(ids, near),
            _filled(ids, dense),
            greatest,
            self._of_named(ids, named),
            _alike(ids, answers),
        )

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


@dataclass(slots=True)
class _Near:
    """The chunks that one model finds near a question's vector."""

    index: AnsweringIndex
    vector: NDArray[np.float32]
    scope: Scope
    ids: set[int]

    def add(self, named: Scope) -> None:
        """Take in the nearest of the documents that the question names."""
        self.take(_NAMED_POOL, named.within(self.index.collection_ids))

    def take(self, limit: int, scope: Scope) -> None:
        """Take in the nearest of a scope."""
        self.ids |= {i for i, _ in self.index.vectors.nearest(self.vector, limit, scope)}


def _is_as_asked(text: str, asked: Query) -> bool:
    return all(holds_phrase(text, phrase) for phrase in asked.phrases) and not any(
        holds_phrase(text, words) for words in asked.excluded if " " in words
    )


def _alike(ids: Sequence[int], answers: Sequence[Answer]) -> Scores:
    """The similarity of each passage to each other one: known between those of one model."""
    places = {chunk_id: place for place, chunk_id in enumerate(ids)}
    alike = np.full((len(ids), len(ids)), np.nan)
    for answer in answers:
        own = [places[i] for i in answer.ids]
        alike[np.ix_(own, own)] = answer.vectors @ answer.vectors.T
    return alike


def _filled(ids: Sequence[int], values: dict[int, float]) -> Scores:
    """The values of the ids; one without a vector yet stands at the pool's end."""
    last = min(values.values(), default=0.0)
    return _array(values.get(i, last) for i in ids)


def _array(values: Iterable[float]) -> Scores:
    return np.fromiter(values, dtype=np.float64)
