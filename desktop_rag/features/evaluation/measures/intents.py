"""Measures the recognition of intents by examples, and by a model for the rest."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from desktop_rag.features.evaluation.measures.metrics import percentile, rounded
from desktop_rag.features.evaluation.measures.search import Row, Say
from desktop_rag.features.evaluation.values.measurement import Measurement
from desktop_rag.features.rails.intent.intent_recognition import (
    Embed,
    IntentExample,
    IntentRecogniser,
    RecognisedIntent,
)
from desktop_rag.features.rails.prompts import stage_prompts
from desktop_rag.features.rails.rail_events import UserSaid
from desktop_rag.models.ports import Vectors

# Examples of each intent; None for all of them.
COUNTS = (1, 3, 5, None)
DRAWS = 5
_SEED = 25


@dataclass(frozen=True, slots=True)
class AskedSentence:
    """A test sentence with what was recognised; `ms` of processor time include its embedding.

    `by_model` is the intent that a model gave, None where none was asked.
    """

    sentence: IntentExample
    found: RecognisedIntent
    ms: float
    by_model: str | None = None

    @property
    def intent(self) -> str:
        """The intent that a conversation would go on with."""
        return self.found.intent if self.by_model is None else self.by_model


@dataclass(frozen=True, slots=True)
class ExamplesAsked:
    """The sentences asked of all draws of so many examples an intent; None for all."""

    examples: int | None
    asked: Sequence[AskedSentence]
    out_of_scope: Sequence[RecognisedIntent]
    fit_s: float

    def figures(self) -> Row:
        """Shares of the sentences, None without any."""
        accepted = [one for one in self.asked if one.found.is_accepted]
        by_model = [one for one in self.asked if one.by_model is not None]
        nearest = [
            any(_is_right(one, n.intent) for n in one.found.nearest[:1]) for one in self.asked
        ]
        figures = {
            "examples": self.examples or "all",
            "accuracy": _share([_is_right(one, one.found.intent) for one in self.asked]),
            "nearest_example": _share(nearest),
            "settled": _share([one.found.is_accepted for one in self.asked]),
            "settled_right": _share([_is_right(one, one.found.intent) for one in accepted]),
            "out_of_scope_settled": _share([one.is_accepted for one in self.out_of_scope]),
            "ms": percentile([one.ms for one in self.asked], 0.5),
            "fit_s": self.fit_s,
        }
        if by_model:
            figures["with_model"] = _share([_is_right(one, one.intent) for one in self.asked])
            figures["calls_a_turn"] = len(by_model) / len(self.asked)
        return rounded(figures)

    def rows(self) -> list[Row]:
        """One object for each sentence asked."""
        return [
            {
                "examples": self.examples or "all",
                "text": one.sentence.text,
                "expected": one.sentence.intent,
                "intent": one.found.intent,
                "score": round(one.found.score, 4),
                "is_accepted": one.found.is_accepted,
                "model": one.by_model,
            }
            for one in self.asked
        ]


def measured(asked: Sequence[ExamplesAsked]) -> Measurement:
    """The figures of one set, an object for each number of examples."""
    rows = [row for each in asked for row in each.rows()]
    return Measurement(kind="rails", results=[each.figures() for each in asked], queries=rows)


def evaluate(
    examples: Sequence[IntentExample],
    tests: Sequence[IntentExample],
    embed: Embed,
    say: Say,
    *,
    out_of_scope: Sequence[str] = (),
    complete: Callable[[str], str] | None = None,
) -> list[ExamplesAsked]:
    """Ask every test with 1, 3, 5 and all examples an intent; fewer than all are drawn five times.

    With `complete`, a model is asked with all examples about what they don't settle. What `embed`
    and `complete` raise is passed on.
    """
    known: dict[str, Vectors] = {}

    def embed_once(texts: Sequence[str]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, embed(missing), strict=True))
        return np.stack([known[text] for text in texts])

    def embed_drawn(texts: Sequence[str]) -> Vectors:
        # Examples once for all draws, a sentence each time, as in a conversation.
        return embed(texts) if len(texts) == 1 else embed_once(texts)

    found: list[ExamplesAsked] = []
    for count in COUNTS:
        asked: list[AskedSentence] = []
        foreign: list[RecognisedIntent] = []
        fit_s = 0.0
        for drawn in draws(examples, count):
            embed_once([example.text for example in drawn])
            began_at = time.monotonic()
            recogniser = IntentRecogniser(drawn, embed_drawn)
            fit_s = max(fit_s, time.monotonic() - began_at)
            asked += [_ask(recogniser, test, complete if count is None else None) for test in tests]
            foreign += [recogniser.recognise(text) for text in out_of_scope]
        found.append(ExamplesAsked(count, asked, foreign, fit_s))
        say(f"{count or 'all'} examples an intent: done")
    return found


def draws(examples: Sequence[IntentExample], count: int | None) -> Iterator[list[IntentExample]]:
    """The examples of each draw of `count` an intent, the same each time; once all of them."""
    if count is None:
        yield list(examples)
        return
    intents = {example.intent: None for example in examples}
    for number in range(DRAWS):
        pick = random.Random(_SEED + number)
        drawn: list[IntentExample] = []
        for intent in intents:
            own = [example for example in examples if example.intent == intent]
            drawn += pick.sample(own, min(count, len(own)))
        yield drawn


def _ask(
    recogniser: IntentRecogniser, test: IntentExample, complete: Callable[[str], str] | None
) -> AskedSentence:
    began_at = time.process_time()
    found = recogniser.recognise(test.text)
    ms = 1000 * (time.process_time() - began_at)
    if complete is None or found.is_accepted:
        return AskedSentence(test, found, ms)
    nearest = [(near.text, near.intent) for near in found.nearest]
    prompt = stage_prompts.Prompts("", "", {}).write(
        "generate_user_intent",
        examples=stage_prompts.user_examples(nearest),
        history=stage_prompts.history([UserSaid(test.text)]),
    )
    return AskedSentence(test, found, ms, stage_prompts.read_form(complete(prompt)))


def _is_right(one: AskedSentence, intent: str) -> bool:
    return intent == one.sentence.intent


def _share(told: Sequence[bool]) -> float | None:
    return sum(told) / len(told) if told else None
