"""The passages in the race for a question, as words and each model rank them. Any worker thread."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.answer.search.filename_matching import FilenameMatcher
from desktop_rag.answer.search.fusion import Scores, with_windows
from desktop_rag.answer.search.question_terms import Wanted
from desktop_rag.answer.search.run_in_parallel import run_in_parallel
from desktop_rag.answer.search.similarity_calibration import SimilarityCalibration, rescaled
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import Embedder, EmbedderFaultError
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import LexicalStore, Weights
from desktop_rag.store.contract.vectors import VectorMatches, VectorSearch

log = logging.getLogger(__name__)

# Deep enough that what one list ranks first is scored by the other too.
_DEPTH = 100
# Of documents that the question names, so many passages of each list join the race.
_NAMED_DEPTH = 30


@dataclass(frozen=True, slots=True)
class AnsweringIndex:
    """An embedder, the search over its vectors, the collections it answers for (None: all)."""

    embedder: Embedder
    vectors: VectorSearch
    collection_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The passages in the race, arrays of one length.

    `lexical` are scores by words, `similar` the similarities of whole passages, `near` those with
    windows. `is_compared` is 1 where a model has a vector of the passage, 0 where it was just read
    and has none yet. `greatest` is what no score by words reaches, `has_all_words` whether each
    word of the question stands somewhere in the library. `is_named` is 1 for passages of documents
    that the question names, else 0. `alike` has the similarity of each passage to each other one,
    NaN where it is not known. Similarities are calibrated, see `SimilarityCalibration`.
    """

    ids: tuple[int, ...]
    lexical: Scores
    similar: Scores
    near: Scores
    is_compared: Scores
    greatest: float
    has_all_words: bool
    is_named: Scores
    alike: Scores


def shares(pool: Candidates) -> Scores:
    """How much of the best possible score by words each passage has."""
    return pool.lexical / (pool.greatest or 1.0)


def leads(pool: Candidates) -> Scores:
    """How much more of it than the passage in the middle."""
    own = shares(pool)
    return own - np.median(own)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What one model says of passages, arrays of one length; see `Candidates`."""

    ids: tuple[int, ...]
    similar: Scores
    near: Scores
    alike: Scores


class CandidateSearch:
    """Gathers what either list ranks among its first, every passage scored by both."""

    def __init__(
        self,
        lexical: LexicalStore,
        answering: Callable[[], Sequence[AnsweringIndex]],
        gate: ModelGate,
        names: FilenameMatcher,
    ) -> None:
        """`answering` gives the models to ask now with their vectors, none without any."""
        self._lexical = lexical
        self._answering = answering
        self._gate = gate
        self._names = names
        self._calibration = SimilarityCalibration()

    def gather(self, wanted: Wanted, scope: Scope, limit: int = 0) -> Candidates | None:
        """The passages that a list ranks among its first 100, or `limit` if that is more.

        None when no model answers with vectors.
        """
        limit = max(limit, _DEPTH)
        reading, asked = run_in_parallel(
            lambda: wanted.reading, lambda: self._asked(wanted.text, scope)
        )
        if not asked:
            return None
        weights = reading.words
        found, named = run_in_parallel(
            lambda: self._first(weights, asked, limit, scope),
            lambda: scope.of_documents(self._names.of(wanted.text, scope)),
        )
        if named:
            found = found.joined(self._first(weights, asked, _NAMED_DEPTH, named))
        # A model that has nothing has no vectors here.
        answering = [pair for pair in zip(asked, found.compared, strict=True) if pair[1].chunk_ids]
        if not answering:
            return None
        near = {chunk_id for _, held in answering for chunk_id in held.chunk_ids}
        ids = tuple(sorted(found.best.keys() | near))
        lexical, answers = run_in_parallel(
            lambda: self._lexical.scores(weights, ids),
            lambda: [model.answer(held) for model, held in answering],
        )
        return self._scored(ids, lexical, answers, weights, named)

    def _first(
        self, weights: Weights, asked: Sequence["_Model"], limit: int, scope: Scope
    ) -> "_First":
        """What the lists rank first in a scope; all of it compared by each model."""

        def by_words() -> tuple[dict[int, float], list[VectorMatches]]:
            best = dict(self._lexical.best(weights, limit, scope))
            return best, [model.compared(list(best), scope, self._lexical) for model in asked]

        (best, others), nearest = run_in_parallel(
            by_words, lambda: [model.nearest(limit, scope) for model in asked]
        )
        return _First(best, _pairwise(nearest, others))

    def _asked(self, text: str, scope: Scope) -> list["_Model"]:
        """The models that have a part in the scope and embed now, with the question's vector."""
        found: list[_Model] = []
        for index in self._answering():
            if scope.within(index.collection_ids).collection_ids == ():
                continue
            try:
                with self._gate.question():
                    vector = index.embedder.embed_query(text)
                    unrelated = self._calibration.unrelated(index.embedder)
            except EmbedderFaultError as error:
                log.info("meaning was not searched: %s", error.title)
                continue
            found.append(_Model(index, vector, unrelated))
        return found

    def _scored(
        self,
        ids: tuple[int, ...],
        lexical: dict[int, float],
        answers: Sequence[ModelAnswer],
        weights: Weights,
        named: Scope | None,
    ) -> Candidates:
        similar: dict[int, float] = {}
        near: dict[int, float] = {}
        for answer in answers:
            similar |= zip(answer.ids, answer.similar.tolist(), strict=True)
            near |= zip(answer.ids, answer.near.tolist(), strict=True)
        return Candidates(
            ids,
            _array(lexical.get(i, 0.0) for i in ids),
            _filled(ids, similar),
            _filled(ids, near),
            _array(float(i in near) for i in ids),
            weights.greatest(),
            all(weights.counts),
            self._of_named(ids, named),
            _alike(ids, answers),
        )

    def _of_named(self, ids: Sequence[int], named: Scope | None) -> Scores:
        inside = self._lexical.in_scope(ids, named) if named else frozenset[int]()
        return _array(float(i in inside) for i in ids)


@dataclass(frozen=True, slots=True)
class _First:
    """What stands first in a scope: chunk id → score by words, and what each model has of all."""

    best: dict[int, float]
    compared: list[VectorMatches]

    def joined(self, other: "_First") -> "_First":
        """With what stands first in another scope."""
        return _First(self.best | other.best, _pairwise(self.compared, other.compared))


@dataclass(frozen=True, slots=True)
class _Model:
    """A model that is asked: its vectors, that of the question, the similarity of strangers."""

    index: AnsweringIndex
    vector: NDArray[np.float32]
    unrelated: float

    def nearest(self, limit: int, scope: Scope) -> VectorMatches:
        """The chunks of a scope that it finds near."""
        narrowed = scope.within(self.index.collection_ids)
        return self.index.vectors.nearest(self.vector, limit, narrowed)

    def compared(
        self, chunk_ids: Sequence[int], scope: Scope, lexical: LexicalStore
    ) -> VectorMatches:
        """Those of the chunks that it answers for."""
        if self.index.collection_ids is not None:
            # What another model answers for may have vectors of this one too.
            chunk_ids = list(lexical.in_scope(chunk_ids, scope.within(self.index.collection_ids)))
        return self.index.vectors.compare(self.vector, chunk_ids)

    def answer(self, found: VectorMatches) -> ModelAnswer:
        """What it says of the chunks, in its own scale."""
        vectors = found.vectors
        similar = rescaled(found.similarities, self.unrelated)
        windows = rescaled(found.window_similarities, self.unrelated)
        # Not `@`: the threads of a BLAS library go on spinning for a while when it is done.
        alike = rescaled(np.vecdot(vectors[:, np.newaxis], vectors), self.unrelated)
        return ModelAnswer(tuple(found.chunk_ids), similar, with_windows(similar, windows), alike)


def _pairwise(
    some: Sequence[VectorMatches], others: Sequence[VectorMatches]
) -> list[VectorMatches]:
    return [_together(pair) for pair in zip(some, others, strict=True)]


def _together(parts: Sequence[VectorMatches]) -> VectorMatches:
    """The chunks of all parts, each once, in ascending order."""
    ids = np.concatenate([np.array(part.chunk_ids, np.int64) for part in parts])
    ids, first = np.unique(ids, return_index=True)
    return VectorMatches(
        ids.tolist(),
        np.concatenate([part.similarities for part in parts])[first],
        np.concatenate([part.vectors for part in parts])[first],
        np.concatenate([part.window_similarities for part in parts])[first],
    )


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
