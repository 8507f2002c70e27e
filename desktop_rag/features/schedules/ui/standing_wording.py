"""Words for schedules, their state and their answers. Pure."""

from datetime import datetime

from PySide6.QtCore import QLocale

from desktop_rag.core.language.translation import tr
from desktop_rag.features.schedules.values.due_times import next_occasion
from desktop_rag.features.schedules.values.standing_question import Rhythm, StandingQuestion
from desktop_rag.features.schedules.values.standing_run import SentenceChange, StandingRun
from desktop_rag.ui.foundation.days import day_and_time, time_of_day
from desktop_rag.ui.foundation.wording import one_line

RHYTHMS = {
    Rhythm.DAILY: tr("Every day"),
    Rhythm.WEEKLY: tr("Every week"),
    Rhythm.ON_CHANGE: tr("When its documents changed"),
}
# Before a sentence, so that colour is never alone.
CHANGES = {
    SentenceChange.ADDED: tr("New"),
    SentenceChange.GONE: tr("Gone"),
    SentenceChange.CHANGED: tr("Changed"),
    SentenceChange.SAME: "",
}


def schedule_in_words(question: StandingQuestion) -> str:
    """`Every week, Thursday 08:30`, `When its documents changed`, with what it is about."""
    words = RHYTHMS[question.rhythm]
    if question.rhythm is not Rhythm.ON_CHANGE:
        words += f", {weekday_in_words(question.weekday)}" * (question.rhythm is Rhythm.WEEKLY)
        words += f" {time_of_day(question.minute)}"
    about = one_line(question.scope.in_words())
    return f"{words} · {about}" if about else words


def next_in_words(question: StandingQuestion, now: datetime) -> str:
    """When it is asked next: `Next: 26 November 2026 08:30`."""
    if question.is_paused:
        return tr("Paused")
    following = next_occasion(question, now)
    if following is None:
        return tr("Next: once its documents changed and stayed the same for a minute")
    return tr("Next: {moment}", moment=day_and_time(following.timestamp()))


def run_in_words(run: StandingRun) -> str:
    """`23 November 2026 08:30 · changed`."""
    moment = day_and_time(run.ran_at)
    return tr("{moment} · changed", moment=moment) if run.is_changed else moment


def weekday_in_words(weekday: int) -> str:
    """The name of a day, 0 for Monday."""
    return QLocale().standaloneDayName(weekday + 1)


def cost_in_words(model: str, address: str) -> str:
    """What each run uses: the endpoint with its model, or this computer alone."""
    if not model:
        return tr("No model is connected: the answers are excerpts, made on this computer.")
    return tr(
        "Each run sends the question and its sources to {model} at {address}, which may cost"
        " something. Your limits apply.",
        model=one_line(model),
        address=one_line(address),
    )
