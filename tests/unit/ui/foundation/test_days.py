"""Days and periods in words, in the person's language."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import pytest
from PySide6.QtCore import QLocale

from desktop_rag.ui.foundation.days import (
    clock_in_words,
    day_in_words,
    moment_in_words,
    period_in_words,
)

TODAY = date(2026, 11, 23)
NOW = datetime(2026, 3, 14, 15, 0).astimezone().timestamp()  # noqa: DTZ001, RUF100


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale("en_GB"))
    yield
    QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("days_ago", "words"),
    [
        (-1, "Today"), (0, "Today"), (1, "Yesterday"), (2, "Previous 7 days"),
        (7, "Previous 7 days"), (8, "Previous 30 days"), (30, "Previous 30 days"), (31, "October"),
        (400, "October 2025"),
    ],
)  # fmt: skip
def test_chats_are_grouped_by_periods(days_ago: int, words: str) -> None:
    assert period_in_words(TODAY - timedelta(days=days_ago), TODAY) == words


def test_a_day_is_written_out() -> None:
    written = day_in_words(date(2026, 11, 20), TODAY)
    assert written.replace(",", "") == "Friday 20 November 2026"
    assert day_in_words(TODAY, TODAY) == "Today"


def test_months_are_in_the_language_of_the_person() -> None:
    QLocale.setDefault(QLocale("de_DE"))
    assert period_in_words(date(2025, 3, 1), TODAY) == "März 2025"


@pytest.mark.parametrize(
    ("age_s", "words"),
    [
        (5, "just now"),
        (300, "5 min ago"),
        (2 * 3600, "13:00"),
        (-600, "15:10"),
        (9 * 86_400, "5 Mar"),
        (400 * 86_400, "7 Feb 2025"),
    ],
)
def test_moment(age_s: float, words: str) -> None:
    assert moment_in_words(NOW - age_s, NOW) == words


def test_never_has_no_moment() -> None:
    assert moment_in_words(0.0, NOW) == ""


def test_moments_are_in_the_language_of_the_person() -> None:
    QLocale.setDefault(QLocale("de_DE"))
    assert moment_in_words(NOW - 9 * 86_400, NOW).endswith("März")
    assert clock_in_words(NOW) == "14.03.26 15:00"
