"""When scheduled questions are due. Pure.

An occasion is named by its local date and time, `2026-11-23 08:00`, and a question is due while its
latest occasion is not the one that was settled. So however many runs were missed while the app was
off, one makes up for them, and neither a clock that is set nor a journey asks twice.
"""

from datetime import datetime, timedelta

from desktop_rag.features.schedules.values.standing_question import (
    Rhythm,
    ScheduleState,
    StandingQuestion,
)

_FORMAT = "%Y-%m-%d %H:%M"
# Waits after the first failures; then the next occasion is waited for.
_RETRY_AFTER_S = (5 * 60.0, 30 * 60.0, 2 * 3600.0, 6 * 3600.0)


def latest_occasion(question: StandingQuestion, now: datetime) -> str:
    """The name of the last occasion up to `now`, a local time; "" for ON_CHANGE."""
    return "" if question.rhythm is Rhythm.ON_CHANGE else _latest(question, now).strftime(_FORMAT)


def next_occasion(question: StandingQuestion, now: datetime) -> datetime | None:
    """The first occasion after `now`, both local times; None for ON_CHANGE."""
    if question.rhythm is Rhythm.ON_CHANGE:
        return None
    return _latest(question, now) + timedelta(days=_days(question))


def is_due(
    question: StandingQuestion, state: ScheduleState, now: datetime, fingerprint: str = ""
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


def _latest(question: StandingQuestion, now: datetime) -> datetime:
    hour, minute = divmod(question.minute, 60)
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0, tzinfo=None)
    if question.rhythm is Rhythm.WEEKLY:
        at -= timedelta(days=(at.weekday() - question.weekday) % 7)
    return at if at <= now.replace(tzinfo=None) else at - timedelta(days=_days(question))


def _days(question: StandingQuestion) -> int:
    return 7 if question.rhythm is Rhythm.WEEKLY else 1
