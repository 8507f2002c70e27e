"""Recognises the intent of a sentence by the examples of a configuration, without an LLM.

Pure apart from the embedding it is given; any worker thread.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
# As many nearest examples as the prompt of a model shows.
NEAREST = 5
_ACCEPTED_FROM = 0.8


@dataclass(frozen=True, slots=True)
class IntentExample:
    """A sentence as a person would say it, and its intent."""

    text: str
    intent: str


@dataclass(frozen=True, slots=True)
class NearExample:
    """An example that is similar to a sentence; `similarity` is the cosine of their vectors."""

    text: str
    intent: str
    similarity: float


@dataclass(frozen=True, slots=True)
class RecognisedIntent:
    """The likeliest intent of a sentence, "" without one.

    `score` is the probability, from 0 to 1, that it is right; `is_accepted` says whether that is
    enough to go without a model. `nearest` has the most similar examples, best first.
    """

    intent: str
    score: float
    is_accepted: bool
    nearest: tuple[NearExample, ...]


class IntentRecogniser:
    """Recognises intents by examples, whose order does not matter."""

    def __init__(self, examples: Sequence[IntentExample], embed: Embed) -> None:
        """Embed the examples; whatever `embed` raises is passed on."""
        self._examples = sorted(set(examples), key=lambda example: (example.text, example.intent))
        self._embed = embed
        self._vectors = embed([example.text for example in self._examples])

    def recognise(self, text: str) -> RecognisedIntent:
        """The likeliest intent of a sentence; whatever `embed` raises is passed on."""
        if not text.strip() or not self._examples:
            return RecognisedIntent("", 0.0, False, ())
        similarities = self._vectors @ self._embed([text])[0]
        order = np.argsort(-similarities, kind="stable")[:NEAREST]
        nearest = tuple(
            NearExample(example.text, example.intent, float(similarities[place]))
            for place, example in ((place, self._examples[place]) for place in order)
        )
        score = min(1.0, max(0.0, nearest[0].similarity))
        return RecognisedIntent(nearest[0].intent, score, score >= _ACCEPTED_FROM, nearest)
