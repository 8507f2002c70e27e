"""Recognises the intent of a sentence by the examples of a configuration, without an LLM.

Pure apart from the embedding it is given; any worker thread.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.rails.intent.intent_calibration import IntentCalibration
from desktop_rag.rails.intent.intent_names import readable_names
from desktop_rag.rails.intent.intent_scores import Evidence, IntentScores

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
# As many nearest examples as the prompt of a model shows.
NEAREST = 5
# At this probability 97 of 100 accepted intents are right or more, in sentences that were left out.
ACCEPTED_FROM = 0.95
_EXAMPLE_SCORE = 0.99
# The share of names that must be nearest to their own examples for names to be used.
_FITTING_NAMES = 0.5
_WORD = re.compile(r"\w+")


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

    def __init__(
        self,
        examples: Sequence[IntentExample],
        embed: Embed,
        embed_examples: Embed | None = None,
    ) -> None:
        """Embed the examples and fit to them; whatever `embed` raises is passed on.

        `embed_examples` embeds what belongs to the configuration, `embed` what is said.

        Beside the embedding, 10,000 examples take some seconds, a thousand less than one.
        """
        said = {example for example in examples if example.text.strip()}
        self._examples = sorted(said, key=lambda example: (example.intent, example.text))
        self._intents = sorted({example.intent for example in said})
        self._embed = embed
        self._known = _known_texts(self._examples)
        if not self._examples:
            return
        places = {intent: place for place, intent in enumerate(self._intents)}
        classes = np.array([places[example.intent] for example in self._examples], np.intp)
        embed_own = embed_examples or embed
        rows = np.asarray(embed_own([example.text for example in self._examples]), np.float32)
        names, named = _telling_names(self._intents, rows, classes, embed_own)
        self._scores = IntentScores(rows, classes, names, named, len(self._intents))
        self._calibration = IntentCalibration(len(self._intents))
        self._correct(classes)

    def recognise(self, text: str) -> RecognisedIntent:
        """The likeliest intent of a sentence; whatever `embed` raises is passed on."""
        if not text.strip() or not self._examples:
            return RecognisedIntent("", 0.0, False, ())
        vector = np.asarray(self._embed([text]), np.float32)
        similarities, evidence = self._scores.compared(vector)
        best = int(evidence.best[0])
        score = float(self._calibration.probabilities(evidence)[0])
        known = self._known.get(_words(text), ())
        if len(known) == 1:  # an example, word for word
            best, score = self._intents.index(known[0]), max(score, _EXAMPLE_SCORE)
        elif known:  # an example of several intents
            score = min(score, 1 / len(known))
        nearest = self._nearest(similarities[0])
        return RecognisedIntent(self._intents[best], score, score >= ACCEPTED_FROM, nearest)

    def _nearest(self, similarities: Vectors) -> tuple[NearExample, ...]:
        count = min(NEAREST, len(similarities))
        # Sorting ten thousand takes longer than recognising; of equals the first is taken.
        near = np.flatnonzero(similarities >= np.partition(similarities, -count)[-count])
        order = near[np.argsort(-similarities[near], kind="stable")][:count]
        found = [(self._examples[place], float(similarities[place])) for place in order]
        return tuple(NearExample(e.text, e.intent, similarity) for e, similarity in found)

    def _correct(self, classes: NDArray[np.intp]) -> None:
        """Correct the calibration by the examples, but for texts that stand under two intents."""
        texts = [_words(self._examples[place].text) for place in self._scores.looked_at]
        is_clear = np.array([len(self._known[text]) == 1 for text in texts])
        left_out = self._scores.left_out()
        right = left_out.best == classes[self._scores.looked_at]
        clear = Evidence(left_out.best[is_clear], left_out.features[is_clear])
        self._calibration.correct(clear, right[is_clear])


def _telling_names(
    intents: Sequence[str], rows: Vectors, classes: NDArray[np.intp], embed: Embed
) -> tuple[Vectors, NDArray[np.intp]]:
    """The vectors of the intents' names, with their places; none if they say nothing.

    A name of the right sense is nearer to the examples of its own intent than to those of others;
    numbered or arbitrary names would mislead.
    """
    words = readable_names(intents)
    named = np.array([place for place, name in enumerate(words) if name], np.intp)
    nothing = np.zeros((0, rows.shape[1]), np.float32), np.zeros(0, np.intp)
    if not len(named):
        return nothing
    vectors = np.asarray(embed([words[place] for place in named]), np.float32)
    sums = np.zeros((len(intents), rows.shape[1]), np.float32)
    np.add.at(sums, classes, rows)
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    fitting = np.mean((vectors @ sums.T).argmax(axis=1) == named)
    return (vectors, named) if fitting >= _FITTING_NAMES else nothing


def _known_texts(examples: Sequence[IntentExample]) -> dict[str, tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}
    for example in examples:
        words = _words(example.text)
        if example.intent not in known.get(words, ()):
            known[words] = (*known.get(words, ()), example.intent)
    return known


def _words(text: str) -> str:
    """The words of a text; a text of signs alone stays as it is."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()
