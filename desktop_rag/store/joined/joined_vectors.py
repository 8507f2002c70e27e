"""Searches the vectors of the same model in two libraries. Any thread.

A model is the same where its name and its dimensions are. Vectors are added to the own library.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.scope import EVERYWHERE, Scope
from desktop_rag.store.contract.vectors import (
    ModelRow,
    ModelStore,
    VectorMatches,
    VectorSearch,
)
from desktop_rag.store.joined.shared_ids import OFFSET, own_chunks, scope_here
from desktop_rag.store.joined.shared_side import SharedSide, begin_within


class JoinedModelStore:
    """The models of the own library, whose searches cover both."""

    def __init__(self, own: ModelStore, shared: SharedSide) -> None:
        self._own = own
        self._shared = shared
        self.vectors, self.stored, self.answering = own.vectors, own.stored, own.answering
        self.answer, self.drop_unused = own.answer, own.drop_unused

    def search(self, model_id: int) -> "JoinedVectorSearch":
        """The search over the vectors of a model in both."""
        [row] = [row for row in self._own.stored() if row.model_id == model_id]
        return JoinedVectorSearch(self._own.search(model_id), row, self._shared)


class JoinedVectorSearch:
    """Search over the vectors of one model."""

    def __init__(self, own: VectorSearch, model: ModelRow, shared: SharedSide) -> None:
        self._own = own
        self._model = model
        self._shared = shared

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> VectorMatches:
        """The `limit` chunks of both most similar to a unit vector, best first."""
        nothing = _no_matches(len(query))
        begun = (
            begin_within(
                self._shared,
                scope,
                lambda e, part: self._there(e).nearest(query, limit, part),
                nothing,
            )
            if self._is_there
            else (lambda: nothing)
        )
        here = scope_here(scope)
        own = self._own.nearest(query, limit, here) if here else nothing
        found = _together(own, begun())
        order = np.lexsort((np.array(found.chunk_ids, np.int64), -found.similarities))[:limit]
        return VectorMatches(
            [found.chunk_ids[n] for n in order],
            found.similarities[order],
            found.vectors[order],
            found.window_similarities[order],
        )

    def compare(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> VectorMatches:
        """The chunks that have a vector, in any order."""
        nothing = _no_matches(len(query))
        begun = (
            begin_within(
                self._shared,
                Scope(chunk_ids=tuple(chunk_ids)),
                lambda e, part: self._there(e).compare(query, part.chunk_ids or ()),
                nothing,
            )
            if self._is_there
            else (lambda: nothing)
        )
        return _together(self._own.compare(query, own_chunks(chunk_ids)), begun())

    @property
    def _is_there(self) -> bool:
        return (self._model.name, self._model.dimensions) in self._shared.facts.models

    def _there(self, engine: Engine) -> VectorSearch:
        vectors = engine.models.vectors(self._model.name, self._model.dimensions)
        return engine.models.search(vectors.model_id)


def _no_matches(dimensions: int) -> VectorMatches:
    none = np.empty(0, np.float32)
    return VectorMatches([], none, np.empty((0, dimensions), np.float32), np.empty(0))


def _together(own: VectorMatches, other: VectorMatches) -> VectorMatches:
    if not other.chunk_ids:
        return own
    return VectorMatches(
        [*own.chunk_ids, *(chunk_id + OFFSET for chunk_id in other.chunk_ids)],
        np.concatenate([own.similarities, other.similarities]),
        np.concatenate([own.vectors, other.vectors]),
        np.concatenate([own.window_similarities, other.window_similarities]),
    )
