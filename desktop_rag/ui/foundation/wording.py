"""Numbers, times and states in plain words, as the library page says them. Pure; any thread."""

import math
import time
from datetime import datetime

from desktop_rag.core.domain import DocumentState, SourceState
from desktop_rag.core.library_events import ChangeSummary, DocumentCounts

_KB = 1024
_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86_400

# What could break a line apart, turn its reading order so that a name looks like another one, or
# stand for bytes that are no text.
_NOT_FOR_EYES = (
    range(0x20),
    range(0x7F, 0xA0),
    range(0x200E, 0x2010),
    range(0x2028, 0x202F),
    range(0x2066, 0x206A),
    range(0xD800, 0xE000),
)
_SHOWN_AS_BOX = {code: "\N{WHITE SQUARE}" for codes in _NOT_FOR_EYES for code in codes}

_SOURCE_STATES = {
    SourceState.WATCHED: "watched",
    SourceState.POLLED: "checked from time to time",
    SourceState.OFFLINE: "offline",
}
_UNCHANGED = "no changes"


def one_line(text: str) -> str:
    """Foreign text for one line: control and direction characters become visible boxes."""
    return text.translate(_SHOWN_AS_BOX)


def literal(text: str) -> str:
    """A foreign text as it is written: a button takes a single & for the mark of a key."""
    return one_line(text).replace("&", "&&")


def shortened(text: str, longest: int) -> str:
    """The same, cut with … behind so many characters."""
    line = one_line(text)
    return literal(line if len(line) <= longest else f"{line[: longest - 1]}…")


def count_of(number: int, noun: str) -> str:
    """`1 file`, `1,998 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def counts_in_words(counts: DocumentCounts) -> str:
    """`1,998 files: 1,990 searchable, 5 by words only so far, 3 failed`; only what there is."""
    if not counts.total:
        return "no files yet"
    parts = [
        f"{counts.of(state):,} {words}"
        for state, words in (
            (DocumentState.SEARCHABLE, "searchable"),
            (DocumentState.SEARCHABLE_BY_WORDS, "by words only so far"),
            (DocumentState.READING, "being read"),
            (DocumentState.WAITING, "waiting"),
            (DocumentState.FAILED, "failed"),
            (DocumentState.SKIPPED, "skipped"),
            (DocumentState.OFFLINE, "offline"),
            (DocumentState.GONE, "gone for now"),
        )
        if counts.of(state)
    ]
    return f"{count_of(counts.total, 'file')}: {', '.join(parts)}"


def source_state_in_words(state: SourceState) -> str:
    """How the source is kept up to date."""
    return _SOURCE_STATES[state]


def changes_in_words(summary: ChangeSummary) -> str:
    """What the last look found: `+3, ~1, −2, 1,198 unchanged`, or that nothing had changed."""
    return _UNCHANGED if summary.is_empty else summary.label()


def percent(fraction: float) -> str:
    """`43.7 %`. Unfinished work never shows 100 %, and started work never stays at 0 for long."""
    thousandths = int(max(0.0, min(1.0, fraction)) * 1000)
    return f"{thousandths / 10:.1f} %"


def duration_left(seconds: float | None) -> str:
    """`about 2 min left`, or nothing while it is unknown."""
    if seconds is None:
        return ""
    if seconds < _MINUTE_S:
        return "less than a minute left"
    if seconds < _HOUR_S:
        return f"about {round(seconds / _MINUTE_S)} min left"
    hours, minutes = divmod(round(seconds / _MINUTE_S), 60)
    return f"about {hours} h {minutes} min left" if minutes else f"about {hours} h left"


def time_in_words(seconds: float) -> str:
    """`a minute`, `12 minutes`, `3 hours`, rounded up: of work that is still to be done."""
    if seconds <= _MINUTE_S:
        return "a minute"
    if seconds < _HOUR_S:
        return count_of(math.ceil(seconds / _MINUTE_S), "minute")
    return count_of(math.ceil(seconds / _HOUR_S), "hour")


def size_in_words(size_bytes: int) -> str:
    """`812 bytes`, `3.4 KB`, `1.2 GB`, in steps of 1024."""
    if size_bytes < _KB:
        return count_of(size_bytes, "byte")
    amount = float(size_bytes)
    for unit in ("KB", "MB", "GB"):
        amount /= _KB
        if amount < _KB:
            return f"{amount:.1f} {unit}"
    return f"{amount / _KB:.1f} TB"


def moment_in_words(moment: float, now: float | None = None) -> str:
    """`just now`, `5 min ago`, `14:05`, `3 Nov`, `3 Nov 2024`; nothing for 0, which is never."""
    if not moment:
        return ""
    now = time.time() if now is None else now
    age_s = now - moment
    then = datetime.fromtimestamp(moment).astimezone()
    today = datetime.fromtimestamp(now).astimezone()
    if 0 <= age_s < _MINUTE_S:
        return "just now"
    if 0 <= age_s < _HOUR_S:
        return f"{int(age_s / _MINUTE_S)} min ago"
    if then.date() == today.date():
        return f"{then:%H:%M}"
    return f"{then.day} {then:%b}" if then.year == today.year else f"{then.day} {then:%b %Y}"
