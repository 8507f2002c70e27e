"""The answers to scheduled questions with their changes, and events. Frozen values, pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.records import Count, Id, Moment, Record
from desktop_rag.features.schedules.values.scheduled_question import ScheduledQuestion


class SentenceChange(StrEnum):
    """The change of a sentence from one answer to the next."""

    SAME = "same"
    ADDED = "added"
    GONE = "gone"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class ComparedSentence:
    """A sentence of the answer, or one that is gone. `before` is what a changed one replaces.

    `numbers` are the sources it cites; one that is gone has none, as they are of another run.
    """

    change: SentenceChange
    text: str
    before: str = ""
    numbers: tuple[Count, ...] = ()


@dataclass(frozen=True, slots=True)
class ScheduledRun(Record):
    """One answer to a scheduled question, as `question` asked it then.

    `sources` are those that it cites. `compared` holds its sentences against the run before it; it
    is empty for the first run, and where a `note` says why they were not compared.
    """

    run_id: Id
    question_id: Id
    ran_at: Moment
    question: str
    answer: str
    model: str = ""
    is_excerpts: bool = False
    seconds: float = 0.0
    sources: tuple[SourceRef, ...] = ()
    compared: tuple[ComparedSentence, ...] = ()
    note: str = ""

    @property
    def is_changed(self) -> bool:
        """True when the answer says something else than the one before it."""
        return is_changed(self.compared)


def is_changed(compared: Sequence[ComparedSentence]) -> bool:
    """True when a sentence was added, is gone or says something else."""
    return any(each.change is not SentenceChange.SAME for each in compared)


@dataclass(frozen=True, slots=True)
class ScheduleEvent:
    """An event of scheduled questions."""


@dataclass(frozen=True, slots=True)
class SchedulesChanged(ScheduleEvent):
    """A scheduled question, its state or its history changed."""


@dataclass(frozen=True, slots=True)
class AnswerHasChanged(ScheduleEvent):
    """A scheduled question was answered, and the answer says something else than before."""

    question: ScheduledQuestion
    run: ScheduledRun
