"""What finds by meaning: the vectors of models, and which model answers. Protocols; any thread."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.scope import EVERYWHERE, Scope

# Up to so many vectors all are compared to find the nearest.
EXACT_UP_TO = 1000
# An engine may keep a byte a dimension: a similarity may be so far from that of the floats.
ROUNDING = 0.005


@dataclass(frozen=True, slots=True)
class Compared:
    """Chunks that have a vector of one model, compared with a query.

    `similar` are their similarities, right to ±ROUNDING. `vectors` are unit vectors that may be
    rounded, shape (len(chunk_ids), dimensions); chunks of equal content have equal rows. `windows`
    is the similarity of each one's best window, right to ±4 ROUNDING, and NaN for those without
    windows.
    """

    chunk_ids: list[int]
    similar: NDArray[np.float32]
    vectors: NDArray[np.float32]
    windows: NDArray[np.float64]

    def ranking(self) -> list[tuple[int, float]]:
        """(chunk id, similarity) in their order."""
        return list(zip(self.chunk_ids, self.similar.tolist(), strict=True))


class VectorStore(Protocol):
    """The vectors of one model, by content hash (32 hexadecimal digits in small letters).

    Vectors are unit vectors of 32-bit floats; similarity is their inner product. Chunks of equal
    content share one vector. Where a method takes `collection_ids`, None is every collection and
    an empty sequence none.
    """

    @property
    def model_id(self) -> int:
        """Which model: from 1 up, never that of two names or two numbers of dimensions."""
        ...

    # --- what lacks vectors ------------------------------------------------------------------

    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store vectors, shape (len(hashes), dimensions), in one transaction.

        Of different hashes that lack one (`missing`, `lacking`); no chunk need have them yet.
        """
        ...

    def missing(
        self, limit: int, collection_ids: Sequence[str] | None = None
    ) -> list[tuple[str, str, str]]:
        """Up to `limit` (content hash, context, text) of chunks without a vector, each hash once.

        In any order.
        """
        ...

    def lacking(self, hashes: Sequence[str]) -> set[str]:
        """Those of the content hashes that have no vector."""
        ...

    def counts(self, collection_ids: Sequence[str] | None = None) -> tuple[int, int]:
        """(different contents among the chunks, those of them without a vector)."""
        ...

    def finish_documents(self, collection_ids: Sequence[str] | None = None) -> list[str]:
        """Documents searchable by words whose chunks all have vectors become searchable.

        Returns their ids. Looking and changing are one transaction: a document that was stored
        anew meanwhile is not finished by the vectors of its former chunks.
        """
        ...

    def reopen_documents(self, collection_ids: Sequence[str] | None = None) -> list[str]:
        """Searchable documents that lack vectors become searchable by words; returns their ids."""
        ...

    def prune(self, collection_ids: Sequence[str] | None = None) -> None:
        """Drop vectors and windows that no chunk of these collections needs any more."""
        ...

    # --- searching ---------------------------------------------------------------------------

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> Compared:
        """The `limit` chunks most similar to a unit vector, best first.

        While at most EXACT_UP_TO vectors lie in the scope, the choice is right to ±ROUNDING; of
        equal ones the lower id comes first. Of any number, a share of at least .99 of the first ten
        that are really the nearest must be found, averaged over real questions.
        """
        ...

    def compared(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> Compared:
        """Those of the chunks that have a vector, in any order."""
        ...

    # --- windows: a few sentences each, inside of passages -----------------------------------

    def add_windows(self, hashes: Sequence[str], windows: Sequence[NDArray[np.float32]]) -> None:
        """Store the unit vectors of each content's windows, shape (windows, dimensions) or (0, …).

        Of hashes that `missing_windows` gave, in one transaction. A content with no windows has
        been looked at all the same.
        """
        ...

    def window_counts(self) -> tuple[int, int]:
        """(contents with a vector, those of them whose windows were not looked at)."""
        ...

    def missing_windows(self, limit: int) -> list[tuple[str, str]]:
        """Up to `limit` (content hash, text) of chunks that have a vector and no windows yet."""
        ...

    def drop_windows(self) -> None:
        """Forget all windows; `missing_windows` gives their contents again."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that has made vectors.

    `spec` is where it is found again: a folder, the address of an endpoint, or empty for the
    bundled one.
    """

    model_id: int
    name: str
    dimensions: int
    spec: str


class ModelStore(Protocol):
    """The models of the vectors, and which of them answer for which collection.

    Vectors of two models never mix: no method of one `VectorStore` gives or changes those of
    another.
    """

    def vectors(self, name: str, dimensions: int, spec: str | None = None) -> VectorStore:
        """The vectors of a model, kept apart by name and dimensions, from now on or from before.

        `spec`, if given, is where the model is found from now on.
        """
        ...

    def answering(self) -> dict[str, ModelRow]:
        """Collection id → the model whose vectors answer; without those that have none yet."""
        ...

    def answer(self, model_id: int, collection_ids: Sequence[str]) -> None:
        """From now on the vectors of this model answer for these collections, all at once."""
        ...

    def drop_unused(self, wanted: Collection[str]) -> None:
        """Remove models with their vectors that neither answer nor are being made.

        Of each of the `wanted` specs the model that came last is kept. Nobody may be using the
        others' vectors.
        """
        ...
