"""The similarity in meaning of claims and passages, by the English bundled model. Worker thread."""

from collections.abc import Callable, Sequence

from desktop_rag.models.embedding.bundled_models import BUNDLED
from desktop_rag.models.embedding.joined_embedding import bundled_opener
from desktop_rag.models.ports import Embedder

OpenModel = Callable[[str], Embedder]


class Meaning:
    """Compares claims with passages; the model is loaded with the first of them."""

    def __init__(self, open_model: OpenModel | None = None) -> None:
        """`open_model` gives a bundled model by its spec; without it one is loaded for this."""
        self._open_model = open_model or bundled_opener(threads=1)

    def similarities(self, claim: str, passages: Sequence[str]) -> list[float]:
        """The cosine of the claim and each passage, -1 to 1."""
        vectors = self._open_model(BUNDLED).embed_passages([claim, *passages])
        return (vectors[1:] @ vectors[0]).tolist()
