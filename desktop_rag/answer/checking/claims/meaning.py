"""The similarity in meaning of claims and passages, by both bundled models. One worker thread."""

from collections.abc import Callable, Sequence

from desktop_rag.models.embedding.joined_embedding import bundled_opener, joined_embedding
from desktop_rag.models.ports import Vectors

Embed = Callable[[Sequence[str]], Vectors]


class Meaning:
    """Compares claims with passages; the models are loaded with the first of them."""

    def __init__(self, embed: Embed | None = None) -> None:
        """`embed` gives the vectors of `joined_embedding`; without it both models are loaded."""
        self._embed = embed or joined_embedding(bundled_opener(threads=1))

    def similarities(self, claim: str, passages: Sequence[str]) -> list[float]:
        """The cosine of the claim and each passage, -1 to 1."""
        vectors = self._embed([claim, *passages])
        return (vectors[1:] @ vectors[0]).tolist()
