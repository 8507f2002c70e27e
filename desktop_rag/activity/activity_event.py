"""Events of the activity log, frozen values with their JSON. Pure.

An event names chats by their ids, files by counts and settings by their names. It never holds text
of a document, a question, an answer, or a key.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from desktop_rag.core.records import MOST_NUMBER, AsObject, Named, Record, Within

_Number = Annotated[int, Within(0, MOST_NUMBER)]


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
class ActivityEvent(Record):
    """One event; fields that don't apply to its kind are empty.

    `at` is Unix time. `subject` is a Purpose, an Opinion, the name of a source or the title of a
    notice, `detail` the rest in words. `tokens_in` and `tokens_out` are those of a request and its
    response, by the app's own estimate if `is_estimate`. `counts` are numbers by name.
    """

    is_brief: ClassVar = True
    needed: ClassVar = frozenset({"outcome"})
    at: Annotated[float, Within(1, MOST_NUMBER)]
    kind: EventKind
    subject: str = ""
    detail: str = ""
    outcome: Outcome = Outcome.DONE
    chat_id: Annotated[str, Named("chat")] = ""
    model: str = ""
    host: str = ""
    tokens_in: _Number = 0
    tokens_out: _Number = 0
    is_estimate: Annotated[bool, Named("estimate")] = False
    seconds: Annotated[float, Within(0, MOST_NUMBER)] = 0.0
    counts: Annotated[tuple[tuple[str, _Number], ...], AsObject] = ()

    def count(self, name: str) -> int:
        """The number of this name, 0 without one."""
        return dict(self.counts).get(name, 0)
