"""The passages in the race for a question, as words and each model rank them. Any worker thread."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.answer.at_once import at_once
from desktop_rag.answer.fusion import Scores, with_windows
from desktop_rag.answer.naming import NamedDocuments
from desktop_rag.answer.own_scale import OwnScale, rescaled
from desktop_rag.answer.question import Wanted
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import Embedder, EmbedderFaultError
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import LexicalStore
from desktop_rag.store.contract.vectors import VectorStore

log = logging.getLogger(__name__)

# Deep enough that what one list ranks first is scored by the other too.
_DEPTH = 100
# Of documents that the question names, so many passages of each list join the race.
_NAMED_DEPTH = 30


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
    windows. `greatest` is what no score by words reaches. `is_named` is 1 for passages of documents
    that the question names, else 0. `alike` has the similarity of each passage to each other one,
    NaN where it is not known. Similarities are told in the scale of their model, see `OwnScale`.
    """

    ids: tuple[int, ...]
    lexical: Scores
    similar: Scores
    near: Scores
    greatest: float
    is_named: Scores
    alike: Scores


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What one model says of passages, arrays of one length; see `Pool`."""

    ids: tuple[int, ...]
    similar: Scores
    near: Scores
    alike: Scores


class PoolGatherer:
    """Gathers what either list ranks among its first, every passage scored by both."""

    def __init__(
        self,
        lexical: LexicalStore,
        answering: Callable[[], Sequence[AnsweringIndex]],
        gate: ModelGate,
        names: NamedDocuments,
    ) -> None:
        """`answering` gives the models to ask now with their vectors, none without any."""
        self._lexical = lexical
        self._answering = answering
        self._gate = gate
        self._names = names
        self._own_scale = OwnScale()

    def gather(self, wanted: Wanted, scope: Scope, limit: int = 0) -> Pool | None:
        """The passages that a list ranks among its first 100, or `limit` if that is more.

        None when no model answers with vectors.
        """
        limit = max(limit, _DEPTH)
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
            lambda: self._lexical.scores(weights, ids),
            lambda: [self._answer(near, best) for near in nearest],
        )
        return self._scored(ids, lexical, answers, weights.greatest(), named)

    def _by_words(
        self, wanted: Wanted, limit: int, scope: Scope
    ) -> tuple[dict[int, float], Scope | None]:
        """The best chunks, also of the documents that the question names, and these as a scope."""
        best = dict(self._lexical.best(wanted.words, limit, scope))
        named = scope.of_documents(self._names.of(wanted.text, scope))
        if named:
            best |= self._lexical.best(wanted.words, _NAMED_DEPTH, named)
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
                    unrelated = self._own_scale.unrelated(index.embedder)
            except EmbedderFaultError as error:
                log.info("meaning was not searched: %s", error.title)
                continue
            near = _Near(index, vector, unrelated, narrowed, set())
            near.take(limit, narrowed)
            if near.ids:
                found.append(near)
        return found

    def _answer(self, near: "_Near", best: Iterable[int]) -> ModelAnswer:
        """What a model says of the chunks it finds near and of those of `best`."""
        others = [i for i in best if i not in near.ids]
        if near.index.collection_ids is not None:
            # What another model answers for may have vectors of this one too.
            others = list(self._lexical.inside(others, near.scope))
        found = near.index.vectors.compared(near.vector, [*near.ids, *others])
        vectors = found.vectors
        # Not `@`: the threads of a BLAS library go on spinning for a while when it is done.
        similar = rescaled(np.vecdot(vectors, near.vector), near.unrelated)
        windows = rescaled(found.windows, near.unrelated)
        alike = rescaled(np.vecdot(vectors[:, np.newaxis], vectors), near.unrelated)
        return ModelAnswer(tuple(found.chunk_ids), similar, with_windows(similar, windows), alike)

    def _scored(
        self,
        ids: tuple[int, ...],
        lexical: dict[int, float],
        answers: Sequence[ModelAnswer],
        greatest: float,
        named: Scope | None,
    ) -> Pool:
        similar: dict[int, float] = {}
        near: dict[int, float] = {}
        for answer in answers:
            similar |= zip(answer.ids, answer.similar.tolist(), strict=True)
            near |= zip(answer.ids, answer.near.tolist(), strict=True)
        return Pool(
            ids,
            _array(lexical.get(i, 0.0) for i in ids),
            _filled(ids, similar),
            _filled(ids, near),
            greatest,
            self._of_named(ids, named),
            _alike(ids, answers),
        )

    def _of_named(self, ids: Sequence[int], named: Scope | None) -> Scores:
        inside = self._lexical.inside(ids, named) if named else frozenset[int]()
        return _array(float(i in inside) for i in ids)


@dataclass(slots=True)
class _Near:
    """The chunks that one model finds near a question's vector."""

    index: AnsweringIndex
    vector: NDArray[np.float32]
    unrelated: float
    scope: Scope
    ids: set[int]

    def add(self, named: Scope) -> None:
        """Take in the nearest of the documents that the question names."""
        self.take(_NAMED_DEPTH, named.within(self.index.collection_ids))

    def take(self, limit: int, scope: Scope) -> None:
        """Take in the nearest of a scope."""
        self.ids |= {i for i, _ in self.index.vectors.nearest(self.vector, limit, scope)}


def _alike(ids: Sequence[int], answers: Sequence[ModelAnswer]) -> Scores:
    """The similarity of each passage to each other one: known between those of one model."""
    places = {chunk_id: place for place, chunk_id in enumerate(ids)}
    alike = np.full((len(ids), len(ids)), np.nan)
    for answer in answers:
        own = [places[i] for i in answer.ids]
        alike[np.ix_(own, own)] = answer.alike
    return alike


def _filled(ids: Sequence[int], values: dict[int, float]) -> Scores:
    """The values of the ids; one without a vector yet stands at the pool's end."""
    last = min(values.values(), default=0.0)
    return _array(values.get(i, last) for i in ids)


def _array(values: Iterable[float]) -> Scores:
    return np.fromiter(values, dtype=np.float64)
