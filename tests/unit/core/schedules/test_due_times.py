"""When a scheduled question is due, over days, missed runs, failures and clocks that are set."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.schedules.values.scheduled_question import (
    LONGEST_NAME,
    Rhythm,
    ScheduledQuestion,
    ScheduleState,
    is_due,
    latest_occasion,
    next_occasion,
    retry_at,
    validated_question,
)

DAILY = ScheduledQuestion("q", "Lamps", "When is it lit?", Rhythm.DAILY, 8 * 60 + 30)
# 23 November 2026 is a Monday.
MONDAY = datetime(2026, 11, 23, 9, 0)
WEEKLY = replace(DAILY, rhythm=Rhythm.WEEKLY, weekday=3)
ON_CHANGE = replace(DAILY, rhythm=Rhythm.ON_CHANGE)


@pytest.mark.parametrize(
    ("question", "now", "latest", "following"),
    [
        (DAILY, MONDAY, "2026-11-23 08:30", datetime(2026, 11, 24, 8, 30)),
        (DAILY, datetime(2026, 11, 23, 8, 29), "2026-11-22 08:30", datetime(2026, 11, 23, 8, 30)),
        (DAILY, datetime(2026, 11, 23, 8, 30), "2026-11-23 08:30", datetime(2026, 11, 24, 8, 30)),
        (WEEKLY, MONDAY, "2026-11-19 08:30", datetime(2026, 11, 26, 8, 30)),
        (WEEKLY, datetime(2026, 11, 26, 8, 0), "2026-11-19 08:30", datetime(2026, 11, 26, 8, 30)),
        (WEEKLY, datetime(2026, 11, 26, 9, 0), "2026-11-26 08:30", datetime(2026, 12, 3, 8, 30)),
        (ON_CHANGE, MONDAY, "", None),
    ],
)  # fmt: skip
def test_occasions(
    question: ScheduledQuestion, now: datetime, latest: str, following: datetime | None
) -> None:
    assert latest_occasion(question, now) == latest
    assert next_occasion(question, now) == following


def test_runs_missed_while_the_app_was_off_are_made_up_once() -> None:
    state = ScheduleState("2026-11-10 08:30")
    assert is_due(DAILY, state, MONDAY)
    state = ScheduleState(latest_occasion(DAILY, MONDAY))
    assert not is_due(DAILY, state, MONDAY)
    assert not is_due(DAILY, state, MONDAY + timedelta(hours=20))
    assert is_due(DAILY, state, MONDAY + timedelta(hours=24))


def test_a_clock_set_back_an_hour_asks_nothing_twice() -> None:
    state = ScheduleState(latest_occasion(DAILY, MONDAY))
    assert not is_due(DAILY, state, MONDAY - timedelta(minutes=29))


def test_a_clock_that_was_years_ahead_is_no_end() -> None:
    ahead = ScheduleState(latest_occasion(DAILY, MONDAY + timedelta(days=3000)))
    assert is_due(DAILY, ahead, MONDAY)
    failed = ScheduleState("x", 1, retry_at=(MONDAY + timedelta(days=3000)).timestamp())
    assert is_due(DAILY, failed, MONDAY)


def test_a_paused_question_waits() -> None:
    assert not is_due(replace(DAILY, is_paused=True), ScheduleState(), MONDAY)


def test_a_question_about_changes_waits_for_another_fingerprint() -> None:
    assert not is_due(ON_CHANGE, ScheduleState("a"), MONDAY, "")
    assert not is_due(ON_CHANGE, ScheduleState("a"), MONDAY, "a")
    assert is_due(ON_CHANGE, ScheduleState("a"), MONDAY, "b")
    assert is_due(ON_CHANGE, ScheduleState(), MONDAY, "b")


def test_a_failure_is_tried_again_ever_later_and_then_at_the_next_occasion() -> None:
    waits = [retry_at(failures, MONDAY) - MONDAY.timestamp() for failures in range(1, 5)]
    assert waits == [300.0, 1800.0, 7200.0, 21600.0]
    assert retry_at(5, MONDAY) == 0.0
    failed = ScheduleState("2026-11-23 08:30", 1, retry_at=retry_at(1, MONDAY))
    assert not is_due(DAILY, failed, MONDAY + timedelta(minutes=4))
    assert is_due(DAILY, failed, MONDAY + timedelta(minutes=5))
    given_up = replace(failed, failures=5, retry_at=0.0)
    assert not is_due(DAILY, given_up, MONDAY + timedelta(hours=8))
    assert is_due(DAILY, given_up, MONDAY + timedelta(days=1))


def test_a_question_is_named_after_itself() -> None:
    kept = validated_question(replace(DAILY, name="", question=" When\nis it lit? "))
    assert (kept.name, kept.question) == ("When is it lit?", "When\nis it lit?")
    assert len(validated_question(replace(DAILY, name="n" * 500)).name) == LONGEST_NAME


@pytest.mark.parametrize(
    "fields", [{"question": " \n"}, {"question": "x" * 9_000}, {"minute": 1440}, {"weekday": 7}]
)
def test_what_can_not_be_asked_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(AppError):
        validated_question(replace(DAILY, **fields))  # pyright: ignore[reportArgumentType]


def test_both_come_back_equal_from_json() -> None:
    assert ScheduledQuestion.from_json(WEEKLY.to_json()) == WEEKLY
    state = ScheduleState("x", 2, 3.0, 4.0, "No", "Try")
    assert ScheduleState.from_json(state.to_json()) == state
