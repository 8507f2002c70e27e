"""The capabilities of a model at an endpoint, measured or learned from its errors. Pure.

They shape every request (`request_shape`). Unknown values are None and get common defaults.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from desktop_rag.core.records import MOST_WHOLE, Count, Moment, Record, Share, Within, readable

# Token ratios outside this range are not counts of a whole request: some servers leave out tokens
# they have cached.
LEAST_RATIO, MOST_RATIO = 0.5, 3.0


class Thinking(StrEnum):
    """The way a model separates its reasoning from its answer."""

    NONE = "none"
    TAGS = "tags"  # <think>…</think> before the answer
    END_TAG = "end_tag"  # the server strips the opening tag: only </think> arrives
    REASONING_CONTENT = "reasoning_content"
    REASONING = "reasoning"


class LengthField(StrEnum):
    """The request field that limits the length of an answer."""

    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


# The least share of sample claims that a model judges right before it checks answers.
_LEAST_JUDGING = 0.75
# The least share of short questions that a model answers right before it answers by itself.
_LEAST_ANSWERING = 0.8
# No model reads more tokens a second.
_FASTEST = 1e6
# A limit that the server stated is tried again after a day, a guessed one after an hour.
_STATED_AGE_S, _GUESSED_AGE_S = 86_400.0, 3_600.0


@dataclass(frozen=True, slots=True)
class LearnedLimit:
    """A context length learned from a refusal at the Unix time `learned_at`.

    It `is_stated` if the server named the number; otherwise it is a guess.
    """

    tokens: Annotated[int, Within(1, MOST_WHOLE)]
    learned_at: Moment
    is_stated: bool

    @property
    def ends_at(self) -> float:
        """The time from which longer requests are tried again."""
        return self.learned_at + (_STATED_AGE_S if self.is_stated else _GUESSED_AGE_S)

    def is_valid(self, now: float) -> bool:
        """False once it is time to try again, or if the clock was set back."""
        return self.learned_at <= now < self.ends_at

    def in_words(self) -> str:
        """What was learned, when and how, and when it is tried again."""
        at, ends = (
            time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
            for moment in (self.learned_at, self.ends_at)
        )
        how = "as the server said" if self.is_stated else "a guess"
        return (
            f"Refused a longer request at {at}: {self.tokens:,} tokens are sent at most ({how})."
            f" More is tried again at {ends}."
        )


@dataclass(frozen=True, slots=True)
class ModelProfile(Record):
    """Measured capabilities of a model.

    `examined_at` is 0 before the examination; single values may be known by then. `tokens_ratio` is
    the server's token count divided by the estimate of `core.text`, `context_tokens` the longest
    request read in full, both 0 if unknown; with `is_context_open` longer ones were not tried.
    `stated_tokens` is the context length the server reports, `read_tokens_per_s` the speed at which
    it read prompts, 0 if unknown. `judging` is the share of sample claims that it judged right, of
    the true or of the false ones, whichever is less, `answering` that of the short questions which
    it answered right from their sources. `learned_limit`, from a refusal, limits requests for a
    while and never changes what was measured.
    """

    is_brief: ClassVar = True
    examined_at: Moment = 0.0
    streams: bool | None = None
    takes_system: bool | None = None
    must_alternate: bool | None = None
    context_tokens: Count = 0
    is_context_open: bool = False
    stated_tokens: Count = 0
    thinking: Thinking | None = None
    length_field: LengthField | None = None
    counts_usage: bool | None = None
    takes_schema: bool | None = None
    takes_images: bool | None = None
    embeds: bool | None = None
    calls_tools: bool | None = None
    tells_progress: bool | None = None
    tokens_ratio: Annotated[float, Within(LEAST_RATIO, MOST_RATIO)] = 0.0
    read_tokens_per_s: Annotated[float, Within(0, _FASTEST)] = 0.0
    judging: Share | None = None
    answering: Share | None = None
    learned_limit: LearnedLimit | None = None

    @classmethod
    def from_json(cls, value: object) -> "ModelProfile":
        """What can be read of it; values of the wrong kind count as unknown."""
        found = readable(cls, value, mends=True) or cls()
        # Earlier versions put there what they had learned from a refusal.
        return found if found.examined_at else replace(found, context_tokens=0)

    def filled(self, facts: Mapping[str, Any]) -> "ModelProfile":
        """The profile with its unknown values filled from `facts`, by name."""
        unknown = {name: v for name, v in facts.items() if getattr(self, name) is None}
        return replace(self, **unknown) if unknown else self

    @property
    def is_examined(self) -> bool:
        """True when the model was examined, not only learned about."""
        return self.examined_at > 0

    @property
    def is_weak(self) -> bool:
        """True for a model that answered too few of the short questions right."""
        return self.answering is not None and self.answering < _LEAST_ANSWERING

    def findings(self) -> tuple[str, ...]:
        """The findings in plain sentences, the most important first."""
        answers = (
            self._context_sentence(),
            self._weakness_sentence(),
            self.learned_limit.in_words() if self.learned_limit else "",
            _sentence(
                self.takes_system, "", "Takes no system message: it is sent with the question."
            ),
            _sentence(
                self.must_alternate, "Wants question and answer in turn: turns are joined.", ""
            ),
            _sentence(self.streams, "", "Sends answers whole, not piece by piece."),
            _THINKING.get(self.thinking, "") if self.thinking else "",
            _sentence(self.counts_usage, "", "Does not count tokens: they are estimated."),
            _sentence(self.takes_schema, "Writes JSON by a schema.", "Writes no JSON by a schema."),
            self._judging_sentence(),
            _sentence(self.takes_images, "Sees images.", "Sees no images."),
            _sentence(
                self.calls_tools,
                "Searches again by itself where the first passages don't answer.",
                "Can't search by itself: it answers from what is sent.",
            ),
            _sentence(self.embeds, "Makes vectors too.", ""),
        )
        return tuple(answer for answer in answers if answer)

    def _weakness_sentence(self) -> str:
        if not self.is_weak:
            return ""
        share = f"{self.answering:.0%} of the short questions"
        return f"Makes things up: answered {share} right. It adds to excerpts what they back."

    def _judging_sentence(self) -> str:
        if self.judging is None:
            return ""
        share = f"judged {self.judging:.0%} of the sample claims right"
        if judges_well(self.judging):
            return f"Checks answers: {share}."
        return f"Is not asked to check answers: {share}."

    def _context_sentence(self) -> str:
        if not self.context_tokens:
            return ""
        more = " or more" if self.is_context_open else ""
        read = f"Reads {self.context_tokens:,} tokens{more}"
        is_other = self.stated_tokens and self.stated_tokens != self.context_tokens
        return f"{read}; the server states {self.stated_tokens:,}." if is_other else f"{read}."


@dataclass(frozen=True, slots=True)
class ExaminationChanged:
    """The examination of a model started or ended."""

    base_url: str
    model: str
    is_running: bool


_THINKING = {
    Thinking.TAGS: "Thinks aloud in <think> tags: kept apart from the answer.",
    Thinking.END_TAG: "Thinks aloud up to </think>: kept apart from the answer.",
    Thinking.REASONING_CONTENT: "Thinks aloud in a field of its own: kept apart from the answer.",
    Thinking.REASONING: "Thinks aloud in a field of its own: kept apart from the answer.",
}


def judges_well(judging: float | None) -> bool:
    """True for a model whose judgement of claims is worth more than a comparison of words."""
    return judging is not None and judging >= _LEAST_JUDGING


def _sentence(is_so: bool | None, yes: str, no: str) -> str:
    return "" if is_so is None else yes if is_so else no
