"""What is remembered of questions and their answers. A protocol; any thread."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.interaction import Interaction

Vector = NDArray[np.float32]


class InteractionStore(Protocol):
    """Interactions with the vectors of their questions, each made by an embedder of some name.

    Those of a hidden conversation are hidden with it, and purged with it.
    """

    def add(
        self, interaction: Interaction, embedder: str = "", vector: Vector | None = None
    ) -> None:
        """Keep it, in the place of one of the same id. Without a vector it is like nothing."""
        ...

    def set_vector(self, interaction_id: str, embedder: str, vector: Vector) -> None:
        """Give an interaction the vector of its question; nothing when it is gone."""
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
        """The most similar ones that may serve as examples, those that the person likes first.

        They were answered by a model in one step, with success and for the same assistant; their
        answer still stands, in another conversation than `outside`, and is not disliked; unless
        it is liked, no claim of it was found contradicted or not in its sources. The inner product
        of their vector and `vector` is at least `least`. Of those with the same words one is taken.
        """
        ...

    def without_vector_of(self, embedder: str, most: int) -> list[Interaction]:
        """The newest that have no vector of this embedder."""
        ...

    def get(self, interaction_ids: Sequence[str]) -> list[Interaction]:
        """Those of them that are remembered, in the order asked for."""
        ...

    def newest(self, most: int) -> list[Interaction]:
        """The last ones that are not hidden, the newest first."""
        ...

    def count(self) -> int:
        """How many are not hidden."""
        ...

    def forget(self, interaction_ids: Sequence[str]) -> None:
        """Remove these for good."""
        ...

    def forget_all(self) -> None:
        """Remove every one for good, hidden ones too."""
        ...
