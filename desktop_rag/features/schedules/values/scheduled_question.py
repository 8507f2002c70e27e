"""Scheduled questions, the state of their schedules, and when they are due. Frozen values, pure.

An occasion is named by its local date and time, `2026-11-23 08:00`, and a question is due while its
latest occasion is not the one that was settled. So one run makes up for all that were missed while
the app was off, and neither a changed clock nor a journey asks twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.records import FILLED, Count, Id, IdOrNone, Moment, Record, Within

LONGEST_NAME = 120
LONGEST_QUESTION = 8_000
# The newest answers of each question that are kept.
RUNS_KEPT = 50
_MINUTES_A_DAY = 24 * 60
_DAYS_A_WEEK = 7


class Rhythm(StrEnum):
    """When a question is asked. ON_CHANGE: once its documents changed and rest again."""

    DAILY = "daily"
    WEEKLY = "weekly"
    ON_CHANGE = "on change"


@dataclass(frozen=True, slots=True)
class ScheduledQuestion(Record):
    """A question that the app asks by itself.

    `minute` is the minute of the day in local time, `weekday` counts from 0 on Monday; a rhythm
    that needs neither keeps them. The later `changed_at` wins when a backup is merged.
    """

    question_id: Id
    name: Annotated[str, Within(1, LONGEST_NAME), FILLED]
    question: Annotated[str, Within(1, LONGEST_QUESTION), FILLED]
    rhythm: Rhythm = Rhythm.DAILY
    minute: Annotated[int, Within(0, _MINUTES_A_DAY - 1)] = 8 * 60
    weekday: Annotated[int, Within(0, _DAYS_A_WEEK - 1)] = 0
    scope: QuestionScope = ALL_DOCUMENTS
    assistant_id: IdOrNone = ""
    is_paused: bool = False
    changed_at: Moment = 0.0


@dataclass(frozen=True, slots=True)
class ScheduleState(Record):
    """The state of a schedule.

    `settled` names the occasion that was dealt with last: a local date and time, or the
    fingerprint of the documents. After a failure, `failures` counts the tries in a row, and
    `retry_at` is the time of the next one, 0 for the next occasion.
    """

    settled: str = ""
    failures: Count = 0
    failed_at: Moment = 0.0
    retry_at: Moment = 0.0
    error_title: str = ""
    error_hint: str = ""

    @property
    def has_failed(self) -> bool:
        """True when the latest try failed."""
        return self.failures > 0


def validated_question(question: ScheduledQuestion) -> ScheduledQuestion:
    """The question ready for storing: texts trimmed, named after itself when it has no name.

    AppError, with the way out, when there is no question, or a text or number is out of range.
    """
    asked = strip_invalid_characters(question.question).strip()
    name = " ".join(strip_invalid_characters(question.name or asked).split())
    if not asked:
        raise AppError("There is no question.", "Write one first.")
    if len(asked) > LONGEST_QUESTION:
        raise AppError("The question is too long.", f"It may have {LONGEST_QUESTION:,} characters.")
    if not 0 <= question.minute < _MINUTES_A_DAY or not 0 <= question.weekday < _DAYS_A_WEEK:
        raise AppError("This is no time of the week.", "Give a day, and a time such as 08:30.")
    return replace(question, name=name[:LONGEST_NAME].rstrip(), question=asked)


_FORMAT = "%Y-%m-%d %H:%M"
# Waits after the first failures; then the next occasion is waited for.
_RETRY_AFTER_S = (5 * 60.0, 30 * 60.0, 2 * 3600.0, 6 * 3600.0)


def latest_occasion(question: ScheduledQuestion, now: datetime) -> str:
    """The name of the last occasion up to `now`, a local time; "" for ON_CHANGE."""
    return "" if question.rhythm is Rhythm.ON_CHANGE else _latest(question, now).strftime(_FORMAT)


def next_occasion(question: ScheduledQuestion, now: datetime) -> datetime | None:
    """The first occasion after `now`, both local times; None for ON_CHANGE."""
    if question.rhythm is Rhythm.ON_CHANGE:
        return None
    return _latest(question, now) + timedelta(days=_days(question))


def is_due(
    question: ScheduledQuestion, state: ScheduleState, now: datetime, fingerprint: str = ""
) -> bool:
    """True when the question is to be asked now.

    `fingerprint` is that of its documents, "" while they change; only ON_CHANGE needs it.
    """
    if question.is_paused:
        return False
    if state.retry_at:
        # A clock that was set back must not put the next try off for long.
        away_s = state.retry_at - now.timestamp()
        return not 0 < away_s <= _RETRY_AFTER_S[-1]
    occasion = fingerprint or latest_occasion(question, now)
    return bool(occasion) and occasion != state.settled


def retry_at(failures: int, now: datetime) -> float:
    """The time of the next try after so many failures in a row; 0 for the next occasion."""
    waits = dict(enumerate(_RETRY_AFTER_S, start=1))
    return now.timestamp() + waits[failures] if failures in waits else 0.0


def _latest(question: ScheduledQuestion, now: datetime) -> datetime:
    hour, minute = divmod(question.minute, 60)
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0, tzinfo=None)
    if question.rhythm is Rhythm.WEEKLY:
        at -= timedelta(days=(at.weekday() - question.weekday) % 7)
    return at if at <= now.replace(tzinfo=None) else at - timedelta(days=_days(question))


def _days(question: ScheduledQuestion) -> int:
    return 7 if question.rhythm is Rhythm.WEEKLY else 1


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
class SchedulesChanged:
    """A scheduled question, its state or its history changed."""


@dataclass(frozen=True, slots=True)
class AnswerHasChanged:
    """A scheduled question was answered, and the answer says something else than before."""

    question: ScheduledQuestion
    run: ScheduledRun
