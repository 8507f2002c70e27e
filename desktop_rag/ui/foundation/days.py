"""Days and longer periods in words of the person's language, as lists are grouped by them. Pure."""

from datetime import date, datetime, timedelta

from PySide6.QtCore import QDate, QLocale

from desktop_rag.core.language.translation import tr

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
    return QLocale().toString(QDate(day.year, day.month, day.day), QLocale.FormatType.LongFormat)


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
