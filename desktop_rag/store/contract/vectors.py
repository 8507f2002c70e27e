"""The vectors of models, the search by meaning, and which model answers. Protocols; any thread."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.search import EVERYWHERE, Scope

# Below this number of vectors the search is exact.
EXACT_UP_TO = 1000
# The largest error of a similarity: an engine may store a byte per dimension.
ROUNDING = 0.005


@dataclass(frozen=True, slots=True)
class VectorMatches:
    """Chunks with a vector of one model, compared with a query.

    `similarities` are right to ±ROUNDING. `vectors` are unit vectors that may be rounded, shape
    (len(chunk_ids), dimensions); chunks of equal content have equal rows. `window_similarities` are
    those of each chunk's best window, right to ±4 ROUNDING, NaN for chunks without windows.
    """

    chunk_ids: list[int]
    similarities: NDArray[np.float32]
    vectors: NDArray[np.float32]
    window_similarities: NDArray[np.float64]

    def ranking(self) -> list[tuple[int, float]]:
        """(chunk id, similarity) in their order."""
        return list(zip(self.chunk_ids, self.similarities.tolist(), strict=True))


class VectorStore(Protocol):
    """The vectors of one model, by content hash (32 lower-case hexadecimal digits).

    It knows no chunks and no documents: `ChunkStore` says which contents need a vector. Vectors are
    unit vectors of 32-bit floats.
    """

    @property
    def model_id(self) -> int:
        """The number of the model, from 1 up; distinct for each pair of name and dimensions."""
        ...

    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store vectors, shape (len(hashes), dimensions), in one transaction.

        The hashes are distinct and have no vector yet; no chunk need have them.
        """
        ...

    def missing(self, hashes: Sequence[str]) -> set[str]:
        """The content hashes that have no vector."""
        ...

    def stored(self, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The unit vectors by content hash, for a copy; absent for contents without one.

        Right to ±ROUNDING; storing them again loses nothing more.
        """
        ...

    def stored_windows(self, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The unit vectors of windows by content hash, shape (windows, dimensions), for a copy.

        Absent for contents whose windows were not made yet. Rounded as `window_similarities` are.
        """
        ...

    # --- windows: a few sentences each, parts of a passage -----------------------------------

    def add_windows(self, hashes: Sequence[str], windows: Sequence[NDArray[np.float32]]) -> None:
        """Store the unit vectors of each content's windows, shape (windows, dimensions) or (0, …).

        In one transaction. The contents have a vector and no windows yet. One stored with zero
        windows counts as done.
        """
        ...

    def window_counts(self) -> tuple[int, int]:
        """(contents with a vector, those of them without windows yet)."""
        ...

    def drop_windows(self) -> None:
        """Remove all windows; from then on their contents are without windows again."""
        ...


class VectorSearch(Protocol):
    """Finds chunks by the vectors of one model; similarity is the inner product."""

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> VectorMatches:
        """The `limit` chunks most similar to a unit vector, best first.

        While the scope has at most EXACT_UP_TO vectors, the choice is right to ±ROUNDING; of equal
        ones the lower id comes first. For any number, recall@10 is at least .99 over real
        questions.
        """
        ...

    def compare(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> VectorMatches:
        """The chunks that have a vector, compared with the query, in any order."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that has made vectors."""

    model_id: int
    name: str
    dimensions: int
    spec: str  # a folder, the address of an endpoint, or "" for the bundled one


class ModelStore(Protocol):
    """The models that made vectors, and which of them answer for which collection.

    Vectors of two models never mix.
    """

    def vectors(self, name: str, dimensions: int, spec: str | None = None) -> VectorStore:
        """The vectors of a model, identified by name and dimensions; empty for a new one.

        `spec`, if given, is where to find the model from now on.
        """
        ...

    def stored(self) -> list[ModelRow]:
        """Every model that has vectors here, whether it answers or not, by its number."""
        ...

    def search(self, model_id: int) -> VectorSearch:
        """The search over vectors that `vectors` has opened."""
        ...

    def answering(self) -> dict[str, ModelRow]:
        """Collection id → the model whose vectors answer; absent for a collection without any."""
        ...

    def answer(self, model_id: int, collection_ids: Sequence[str]) -> None:
        """Let the vectors of this model answer for these collections from now on, all at once."""
        ...

    def drop_unused(self, wanted: Collection[str]) -> None:
        """Remove models, with their vectors, that neither answer nor are being filled.

        The newest model of each `wanted` spec is kept. Nobody may be using the others' vectors.
        """
        ...
