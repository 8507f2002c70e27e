"""Events of scheduled questions. Frozen values."""

from dataclasses import dataclass

from desktop_rag.core.standing.standing_question import StandingQuestion
from desktop_rag.core.standing.standing_run import StandingRun


@dataclass(frozen=True, slots=True)
class SchedulesChanged:
    """A scheduled question, its state or its history changed."""


@dataclass(frozen=True, slots=True)
class AnswerHasChanged:
    """A scheduled question was answered, and the answer says something else than before."""

    question: StandingQuestion
    run: StandingRun


StandingEvent = SchedulesChanged | AnswerHasChanged
