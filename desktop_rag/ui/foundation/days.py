"""Formats moments, days and longer periods in the person's language. Pure."""

import time
from datetime import date, datetime, timedelta

from PySide6.QtCore import QDate, QDateTime, QLocale, QTime

from desktop_rag.core.language.translation import tr

_MINUTE_S, _HOUR_S = 60, 3600
_WEEK = timedelta(days=7)
_MONTH = timedelta(days=30)


def day_of(moment: float) -> date:
    """The day of a moment, in the time zone of this computer."""
    return datetime.fromtimestamp(moment).astimezone().date()


def day_in_words(day: date, today: date) -> str:
    """`Today`, `Yesterday`, `Friday, 20 November 2026`."""
    if day == today:
        return tr("Today")
    if day == today - timedelta(days=1):
        return tr("Yesterday")
    return written_day(day)


def written_day(day: date) -> str:
    """`Friday, 20 November 2026`."""
    return QLocale().toString(_date(day), QLocale.FormatType.LongFormat)


def period_in_words(day: date, today: date) -> str:
    """`Today`, `Yesterday`, `Previous 7 days`, `Previous 30 days`, `September`, `May 2025`."""
    if day >= today - timedelta(days=1):
        # A clock that was set back leaves days that are still to come.
        return day_in_words(min(day, today), today)
    if day >= today - _WEEK:
        return tr("Previous 7 days")
    if day >= today - _MONTH:
        return tr("Previous 30 days")
    month = QLocale().standaloneMonthName(day.month)
    return month if day.year == today.year else f"{month} {day.year}"


def time_of_day(minute: int) -> str:
    """A time, from the minutes since midnight: `14:05`."""
    return QLocale().toString(QTime(*divmod(minute, 60)), QLocale.FormatType.ShortFormat)


def day_and_time(moment: float) -> str:
    """`20/11/2026 14:05`, to the minute."""
    then = QDateTime.fromSecsSinceEpoch(int(moment))
    return QLocale().toString(then, QLocale.FormatType.ShortFormat)


def clock_in_words(moment: float) -> str:
    """`14:05`, or with its day if that is not today."""
    if day_of(moment) != day_of(time.time()):
        return day_and_time(moment)
    return time_of_day(_minute(moment))


def moment_in_words(moment: float, now: float | None = None) -> str:
    """`just now`, `5 min ago`, `14:05`, `3 Nov`, `3 Nov 2024`; "" for 0, meaning never."""
    if not moment:
        return ""
    now = time.time() if now is None else now
    age_s, day, today = now - moment, day_of(moment), day_of(now)
    if 0 <= age_s < _MINUTE_S:
        return tr("just now")
    if 0 <= age_s < _HOUR_S:
        return tr("{value} min ago", value=int(age_s / _MINUTE_S))
    if day == today:
        return time_of_day(_minute(moment))
    # The letters are those of Qt's formats of dates; their order is the language's.
    form = tr("d MMM") if day.year == today.year else tr("d MMM yyyy")
    return QLocale().toString(_date(day), form)


def _minute(moment: float) -> int:
    then = datetime.fromtimestamp(moment).astimezone()
    return then.hour * 60 + then.minute


def _date(day: date) -> QDate:
    return QDate(day.year, day.month, day.day)
