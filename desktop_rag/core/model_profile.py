"""The capabilities of a model at an endpoint, measured or learned from its errors. Pure.

Every request is shaped by them (`request_shape`). Unknown values are None, and common defaults
apply.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """Measured capabilities of a model.

    `examined_at` is 0 before the examination; single values may have been learned by then.
    `tokens_ratio` is the server's token count divided by the estimate of `core.text`, 0 if unknown.
    `context_tokens` is the longest request that was read in full, 0 if unknown; with
    `is_context_open` longer ones were not tried. `stated_tokens` is the context length that the
    server reports.
    """

    examined_at: float = 0.0
    streams: bool | None = None
    takes_system: bool | None = None
    must_alternate: bool | None = None
    context_tokens: int = 0
    is_context_open: bool = False
    stated_tokens: int = 0
    thinking: Thinking | None = None
    length_field: LengthField | None = None
    counts_usage: bool | None = None
    takes_json: bool | None = None
    takes_images: bool | None = None
    embeds: bool | None = None
    tokens_ratio: float = 0.0

    @property
    def is_examined(self) -> bool:
        """True when the model was examined, not only learned about."""
        return self.examined_at > 0

    def findings(self) -> tuple[str, ...]:
        """The findings in plain sentences, the most important first."""
        answers = (
            self._context_sentence(),
            _sentence(
                self.takes_system, "", "Takes no system message: it is sent with the question."
            ),
            _sentence(
                self.must_alternate, "Wants question and answer in turn: turns are joined.", ""
            ),
            _sentence(self.streams, "", "Sends answers whole, not piece by piece."),
            _THINKING.get(self.thinking, "") if self.thinking else "",
            _sentence(self.counts_usage, "", "Does not count tokens: they are estimated."),
            _sentence(self.takes_json, "Writes JSON on request.", "Has no JSON mode."),
            _sentence(self.takes_images, "Sees images.", "Sees no images."),
            _sentence(self.embeds, "Makes vectors too.", ""),
        )
        return tuple(answer for answer in answers if answer)

    def _context_sentence(self) -> str:
        if not self.context_tokens:
            return ""
        more = " or more" if self.is_context_open else ""
        read = f"Reads {self.context_tokens:,} tokens{more}"
        is_other = self.stated_tokens and self.stated_tokens != self.context_tokens
        return f"{read}; the server states {self.stated_tokens:,}." if is_other else f"{read}."

    def to_json(self) -> dict[str, Any]:
        """The known values as JSON fields."""
        empty = ModelProfile()
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {name: value for name, value in fields.items() if value != getattr(empty, name)}

    @classmethod
    def from_json(cls, fields: Mapping[str, object]) -> "ModelProfile":
        """The inverse of `to_json`; values of the wrong type count as unknown."""
        known: dict[str, Any] = {}
        for name, value in fields.items():
            take = _DECODERS.get(name)
            if take and (taken := take(value)) is not None:
                known[name] = taken
        return cls(**known)


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


def _sentence(is_so: bool | None, yes: str, no: str) -> str:
    return "" if is_so is None else yes if is_so else no


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _moment(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _ratio(value: object) -> float | None:
    ratio = _moment(value)
    return ratio if ratio and LEAST_RATIO <= ratio <= MOST_RATIO else None


def _thinking(value: object) -> Thinking | None:
    return Thinking(value) if value in list(Thinking) else None


def _length_field(value: object) -> LengthField | None:
    return LengthField(value) if value in list(LengthField) else None


_DECODERS = {
    "examined_at": _moment,
    "context_tokens": _count,
    "stated_tokens": _count,
    "tokens_ratio": _ratio,
    "thinking": _thinking,
    "length_field": _length_field,
    **dict.fromkeys(
        (
            "streams", "takes_system", "must_alternate", "is_context_open", "counts_usage",
            "takes_json", "takes_images", "embeds",
        ),
        _flag,
    ),
}  # fmt: skip
