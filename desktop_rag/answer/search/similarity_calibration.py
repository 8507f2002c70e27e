"""Calibrates the similarities of a model by those that it gives to unrelated texts. Any thread.

One model gives unrelated texts a similarity of .05, another .7. Thresholds that were measured with
one model hold for another only on a common scale (Ethayarajh, 2019, "How Contextual are
Contextualized Word Representations?", on correcting for anisotropy).
"""

import numpy as np
from numpy.typing import NDArray

from desktop_rag.models.ports import Embedder

# Texts with nothing in common, in the tone and length of a passage's window.
_UNRELATED = (
    "Knead the dough for ten minutes and let it rise under a damp cloth until it has doubled.",
    "The court dismissed the appeal because the deadline for filing it had passed in March.",
    "Beetles of this family spend three years as larvae in rotting wood before they pupate.",
    "Press the button on the back of the router until the light turns from amber to green.",
    "Her second symphony, written on the island, opens with a slow theme for the cellos.",
    "Net sales rose by four percent, mainly because of higher prices in the last quarter.",
    "The keeper dived to his left and pushed the penalty round the post with one hand.",
    "Patients with a swollen ankle should rest it, cool it and keep the leg raised.",
    "Granite forms when magma cools slowly, deep below the surface, into large crystals.",
    "In 1648 the delegates signed two treaties that ended thirty years of war.",
    "The ferry leaves the northern pier at half past six and takes no bicycles on Sundays.",
    "A function that calls itself needs a case in which it stops, or the stack overflows.",
)


class SimilarityCalibration:
    """Scales the similarities of each model from 0, unrelated, to 1, the same text."""

    def __init__(self) -> None:
        self._unrelated: dict[str, float] = {}

    def unrelated(self, embedder: Embedder) -> float:
        """The mean similarity of unrelated texts. Embeds them once for each model."""
        name = embedder.name
        if name not in self._unrelated:
            vectors = embedder.embed_passages(_UNRELATED)
            pairs = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
            self._unrelated[name] = float(pairs.mean())
        return self._unrelated[name]


def rescaled(similarities: NDArray[np.floating], unrelated: float) -> NDArray[np.float64]:
    """The similarities with `unrelated` mapped to 0 and 1 to 1."""
    return (similarities.astype(np.float64) - unrelated) / (1 - unrelated)
