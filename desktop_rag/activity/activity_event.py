"""Events of the activity log, frozen values with their JSON. Pure.

An event names chats by their ids, files by counts and settings by their names. It never holds text
of a document, a question, an answer, or a key.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

_LARGEST = 2**53


class EventKind(StrEnum):
    """The subject of an event."""

    QUESTION = "question"
    CALL = "call"
    REFUSED = "refused"
    INDEX = "index"
    NOTICE = "notice"
    REPAIR = "repair"
    SETTINGS = "settings"
    FEEDBACK = "feedback"


class Purpose(StrEnum):
    """The reason for a request to an endpoint: the `subject` of a CALL."""

    ANSWER = "answer"
    HELPER = "helper"
    EMBEDDING = "embedding"
    TRANSCRIPTION = "transcription"
    EXAMINATION = "examination"
    TEST = "test"


class Outcome(StrEnum):
    """The end of a question or a call; a notice about an error has FAILED."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class IndexChange(StrEnum):
    """The `detail` of an INDEX event."""

    SCANNED = "scanned"
    READ = "read"


class Opinion(StrEnum):
    """The `subject` of a FEEDBACK event."""

    LIKED = "liked"
    DISLIKED = "disliked"
    WITHDRAWN = "withdrawn"
    REWRITTEN = "rewritten"


@dataclass(frozen=True, slots=True)
class ActivityEvent:
    """One event; fields that don't apply to its kind are empty.

    `at` is Unix time. `subject` is a Purpose, an Opinion, the name of a source or the title of a
    notice, `detail` the rest in words. `tokens_in` and `tokens_out` are those of a request and its
    response, by the app's own estimate if `is_estimate`. `counts` are numbers by name.
    """

    at: float
    kind: EventKind
    subject: str = ""
    detail: str = ""
    outcome: Outcome = Outcome.DONE
    chat_id: str = ""
    model: str = ""
    host: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    is_estimate: bool = False
    seconds: float = 0.0
    counts: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The stored form, without empty fields."""
        fields: dict[str, Any] = {
            "at": self.at,
            "kind": self.kind.value,
            "subject": self.subject,
            "detail": self.detail,
            "outcome": self.outcome.value,
            "chat": self.chat_id,
            "model": self.model,
            "host": self.host,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "estimate": self.is_estimate,
            "seconds": self.seconds,
            "counts": dict(self.counts),
        }
        return {name: value for name, value in fields.items() if value}

    @classmethod
    def from_json(cls, value: object) -> "ActivityEvent | None":
        """The inverse of `to_json`; None for anything else. A field of the wrong type is empty."""
        if not isinstance(value, dict):
            return None
        fields = cast("dict[str, Any]", value)
        at, kind = _number(fields.get("at")), fields.get("kind")
        if not at or kind not in list(EventKind):
            return None
        outcome = fields.get("outcome")
        counts = fields.get("counts")
        pairs = cast("dict[str, Any]", counts).items() if isinstance(counts, dict) else ()
        return cls(
            at, EventKind(kind), _text(fields.get("subject")), _text(fields.get("detail")),
            Outcome(outcome) if outcome in list(Outcome) else Outcome.DONE,
            _text(fields.get("chat")), _text(fields.get("model")), _text(fields.get("host")),
            int(_number(fields.get("tokens_in"))), int(_number(fields.get("tokens_out"))),
            fields.get("estimate") is True, _number(fields.get("seconds")),
            tuple((name, int(_number(count))) for name, count in pairs),
        )  # fmt: skip

    def count(self, name: str) -> int:
        """The number of this name, 0 without one."""
        return dict(self.counts).get(name, 0)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0.0
    # The comparison is False for NaN too.
    return float(value) if 0 <= value <= _LARGEST else 0.0
