"""Remembered questions with their answers. A protocol; any thread."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.conversation import Interaction

Vector = NDArray[np.float32]


class InteractionStore(Protocol):
    """Interactions with the vectors of their questions, each of a named embedder.

    Those of a hidden conversation are hidden with it, and purged with it.
    """

    def add(
        self, interaction: Interaction, embedder: str = "", vector: Vector | None = None
    ) -> None:
        """Store it in place of one with the same id. Without a vector it is never similar."""
        ...

    def set_vector(self, interaction_id: str, embedder: str, vector: Vector) -> None:
        """Set the vector of an interaction's question; no effect when the interaction is gone."""
        ...

    def similar(
        self,
        vector: Vector,
        embedder: str,
        *,
        assistant_id: str,
        outside: str,
        least: float,
        most: int,
    ) -> list[Interaction]:
        """The most similar ones that may serve as examples, liked ones first.

        A model answered them successfully in one step for the same assistant. Their answer still
        exists in a conversation other than `outside` and is not disliked. Unless it is liked, none
        of its claims was found contradicted, unsupported or supported in part only. The inner
        product of their vector and `vector` is at least `least`. Questions in the same words are
        returned once.
        """
        ...

    def without_vector_of(self, embedder: str, most: int) -> list[Interaction]:
        """The newest interactions without a vector of this embedder."""
        ...

    def get(self, interaction_ids: Sequence[str]) -> list[Interaction]:
        """The stored ones among them, in the given order."""
        ...

    def newest(self, most: int) -> list[Interaction]:
        """The newest interactions that are not hidden, the newest first."""
        ...

    def count(self) -> int:
        """The number of interactions that are not hidden."""
        ...

    def forget(self, interaction_ids: Sequence[str]) -> None:
        """Remove these permanently."""
        ...

    def forget_all(self) -> None:
        """Remove all permanently, hidden ones too."""
        ...
