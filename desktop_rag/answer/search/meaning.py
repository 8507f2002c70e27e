"""Compares texts by their meaning, on one scale for all models. Any worker thread."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.language.languages import ENGLISH_MODEL, UNKNOWN
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
    """Scales the similarities of each model from 0, unrelated, to 1, the same text.

    One model gives unrelated texts a similarity of .05, another .7, so thresholds hold for several
    models only on a common scale (Ethayarajh, 2019, "How Contextual are Contextualized Word
    Representations?", on correcting for anisotropy).
    """

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


# The model for many languages gives questions and their answers lower similarities than the one for
# English: a median of .38 to .57.
_OF_MANY_LANGUAGES = 1.5

_Read = tuple[Embedder, frozenset[str] | None]


# Two models with 384 and 512 numbers for each: 8 MB.
_MOST_KNOWN = 4_096


class KnownVectors:
    """Keeps the vectors of what questions were compared with: the next are about the same files.

    Any thread; two may embed the same text.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], NDArray[np.float32]] = {}

    def of(self, embedder: Embedder, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors by text."""
        name, known = embedder.name, self._known
        found = {t: known[name, t] for t in dict.fromkeys(texts) if (name, t) in known}
        if new := [t for t in dict.fromkeys(texts) if t not in found]:
            found |= zip(new, embedder.embed_passages(new), strict=True)
            if len(known) > _MOST_KNOWN:
                self._known = known = {}
            known |= {(name, text): found[text] for text in new}
        return found


class Meaning:
    """Compares texts with one question, each by the model that reads both best.

    Used by one thread at a time; every text is embedded once.
    """

    def __init__(
        self,
        question: str,
        language: str,
        read: Sequence[_Read],
        calibration: SimilarityCalibration,
        known: KnownVectors,
    ) -> None:
        """`read` are the models that read the question, of this `language` by its code, with the
        languages that they read; None means all. `known` has the vectors of earlier questions.
        """
        self._question = question
        self.language = language
        # The model for fewer languages knows them better.
        self._read = sorted(read, key=lambda each: len(each[1] or ()))
        self._calibration = calibration
        self._known = known

    def nearness(
        self, texts: Sequence[str], languages: Sequence[str], question: str = ""
    ) -> NDArray[np.float64]:
        """The similarity of each text, 0 for unrelated ones and for those that no model reads.

        `languages` are codes, "" where unknown. The `question` may stand for the one asked.
        """
        found = np.zeros(len(texts))
        left = list(range(len(texts)))
        for embedder, read in self._read:
            own = [n for n in left if read is None or languages[n] in read]
            # One word may be English, or not: then the nearer model counts.
            left = left if self.language == UNKNOWN else [n for n in left if n not in own]
            if own:
                compared = self._compared(embedder, [texts[n] for n in own], question)
                is_wide = read is not None and not read <= ENGLISH_MODEL
                scaled = compared * (_OF_MANY_LANGUAGES if is_wide else 1.0)
                found[own] = np.maximum(found[own], scaled)
        return found

    def _compared(
        self, embedder: Embedder, texts: Sequence[str], question: str
    ) -> NDArray[np.float64]:
        asked = embedder.embed_query(question or self._question)
        vectors = self._known.of(embedder, texts)
        similar = np.stack([vectors[text] for text in texts]) @ asked
        return rescaled(similar, self._calibration.unrelated(embedder))
