"""Events of scheduled questions. Frozen values."""

from dataclasses import dataclass

from desktop_rag.core.conversation import Message
from desktop_rag.features.schedules.values.standing_question import StandingQuestion
from desktop_rag.features.schedules.values.standing_run import StandingRun


@dataclass(frozen=True, slots=True)
class StandingEvent:
    """What happened to scheduled questions."""


@dataclass(frozen=True, slots=True)
class SchedulesChanged(StandingEvent):
    """A scheduled question, its state or its history changed."""


@dataclass(frozen=True, slots=True)
class AnswerHasChanged(StandingEvent):
    """A scheduled question was answered, and the answer says something else than before."""

    question: StandingQuestion
    run: StandingRun


@dataclass(frozen=True, slots=True)
class AskRegularlyRequested(StandingEvent):
    """The person wants to schedule this question; `collection_id` is the one it was asked in.

    `answer` is the first run, if it is complete.
    """

    question: StandingQuestion
    collection_id: str = ""
    answer: Message | None = None
