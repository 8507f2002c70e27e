"""Formats numbers, times, states, places and failures for display. Qt thread for `show_fatal`."""

import sys
import unicodedata
from dataclasses import replace
from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from desktop_rag.core.domain import Collection, DocumentState, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import (
    count_of,
    decimal_in_words,
    number_in_words,
    told,
    tr,
)
from desktop_rag.core.library_events import ChangeSummary, DocumentCounts
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.core.shared_library import is_shared

_KB = 1024

# Characters that break a line, reverse its reading order so that a name passes for another, or
# stand for bytes that are not text.
_UNSAFE_CODE_POINTS = (
    range(0x20),
    range(0x7F, 0xA0),
    range(0x200E, 0x2010),
    range(0x2028, 0x202F),
    range(0x2066, 0x206A),
    range(0xD800, 0xE000),
)
_SHOWN_AS_BOX = {code: "\N{WHITE SQUARE}" for codes in _UNSAFE_CODE_POINTS for code in codes}

_STRONG_DIRECTIONS = {"L", "R", "AL"}

_SOURCE_STATES = {
    SourceState.WATCHED: tr("Watched"),
    SourceState.POLLED: tr("Checked regularly"),
    SourceState.OFFLINE: tr("Offline"),
}

# The names of states, kinds and the like.
_VALUES = {
    "waiting": tr("waiting"),
    "reading": tr("reading"),
    "searchable by words": tr("searchable by words"),
    "searchable": tr("searchable"),
    "not read": tr("not read"),
    "skipped": tr("not read"),
    "failed": tr("not read"),
    "offline": tr("offline"),
    "gone": tr("missing"),
    "in progress": tr("in progress"),
    "excluded": tr("excluded"),
    "added": tr("added"),
    "changed": tr("changed"),
    "moved": tr("moved"),
    "removed": tr("removed"),
    "state": tr("state"),
    "type": tr("type"),
    "folder": tr("folder"),
    "collection": tr("collection"),
    "tag": tr("tag"),
    "date": tr("date"),
    "over the network": tr("over the network"),
    "within this computer": tr("within this computer"),
    "never made": tr("never made"),
    "on": tr("on"),
    "only when you ask": tr("only when you ask"),
    "off": tr("off"),
    "never": tr("never"),
}


# Names that the app itself gives, by the language of a window that may have been another one.
_OWN_NAMES = {
    "My documents": tr("My documents"),
    "Your answers": tr("Your answers"),
    "Demo": tr("Demo"),
    "This computer": tr("This computer"),
}


def given_name(name: str) -> str:
    """A name on one line, in the person's language if the app gave it."""
    return _OWN_NAMES.get(name) or one_line(name)


def item_name(item: ScopeItem) -> str:
    """The name of what a question is about."""
    return given_name(item.name) if item.kind is ScopeKind.COLLECTION else one_line(item.name)


def collection_name(collection: Collection) -> str:
    """The name of a collection in a list, with a mark if it is in the shared library."""
    name = given_name(collection.name)
    return tr("{name} (shared)", name=name) if is_shared(collection.collection_id) else name


def one_line(text: str) -> str:
    """Untrusted text on one line: control and direction characters become visible boxes."""
    return text.translate(_SHOWN_AS_BOX)


def is_right_to_left(text: str) -> bool:
    """True when the first letter with a direction is one of a right-to-left script."""
    directions = map(unicodedata.bidirectional, text)
    return next((d for d in directions if d in _STRONG_DIRECTIONS), "L") != "L"


def isolated(text: str) -> str:
    """The text in its own direction, whatever that of the text around it or of the window."""
    return f"\u2068{text}\u2069"


def literal(text: str) -> str:
    """Untrusted text for a button or menu, where a single & would mark a shortcut key."""
    return one_line(text).replace("&", "&&")


def cut_line(text: str, max_chars: int) -> str:
    """`one_line`, cut with … to at most `max_chars` characters."""
    line = one_line(text)
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def shortened(text: str, max_chars: int) -> str:
    """`literal`, cut with … to at most `max_chars` characters."""
    return literal(cut_line(text, max_chars))


def counts_in_words(counts: DocumentCounts) -> str:
    """`1,998 files: 1,990 searchable, 5 by words only so far, 3 not read`, without zero counts."""
    if not counts.total:
        return tr("No files yet")
    of = counts.of
    parts = [
        f"{number_in_words(number)} {words}"
        for number, words in (
            (of(DocumentState.SEARCHABLE), tr("searchable")),
            (of(DocumentState.SEARCHABLE_BY_WORDS), tr("by words only so far")),
            (of(DocumentState.READING), tr("being read")),
            (of(DocumentState.WAITING), tr("waiting")),
            (of(DocumentState.FAILED) + of(DocumentState.SKIPPED), tr("not read")),
            (of(DocumentState.OFFLINE), tr("offline")),
            (of(DocumentState.GONE), tr("missing")),
        )
        if number
    ]
    total = count_of(counts.total, tr("file"), tr("files"))
    return f"{total}: {', '.join(parts)}"


def value_in_words(value: Enum, *, begins: bool = False) -> str:
    """The name of a state, a kind or the like, capitalised when it `begins` a text."""
    words = _VALUES.get(str(value.value).lower(), str(value.value))
    return words[:1].upper() + words[1:] if begins else words


def source_state_in_words(state: SourceState) -> str:
    """The way a source is kept up to date."""
    return _SOURCE_STATES[state]


def changes_in_words(summary: ChangeSummary) -> str:
    """The result of the last scan: `3 added, 1 changed, 2 removed`, or `No changes`."""
    counts = (
        (summary.added, tr("added")),
        (summary.changed, tr("changed")),
        (summary.moved, tr("moved")),
        (summary.gone, tr("removed")),
    )
    return ", ".join(f"{number_in_words(n)} {verb}" for n, verb in counts if n) or tr("No changes")


def size_in_words(size_bytes: int) -> str:
    """`812 bytes`, `3.4 KB`, `1.2 GB`, in steps of 1024."""
    if size_bytes < _KB:
        return count_of(size_bytes, tr("byte"), tr("bytes"))
    amount = float(size_bytes)
    for unit in ("KB", "MB", "GB"):
        amount /= _KB
        if amount < _KB:
            return f"{decimal_in_words(amount, 1)} {unit}"
    return tr("{value:.1f} TB", value=amount / _KB)


def failure_in_words(error: AppError) -> str:
    """What happened and the way out, on one line."""
    return " ".join(part for part in (title_of(error), hint_of(error)) if part)


def title_of(error: AppError) -> str:
    """The title of an error in the person's language."""
    return told(error.title)


def hint_of(error: AppError) -> str:
    """The way out in the person's language, "" for none."""
    return told(error.hint)


def show_fatal(error: AppError) -> None:
    """Show a start-up error in a dialog, for a start from a menu, and print it to stderr."""
    sys.stderr.write(f"{error.title}\n{error.hint}\n")
    box = QMessageBox()
    box.setWindowTitle("desktop-rag")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(f"{title_of(error)}\n\n{hint_of(error)}")
    box.exec()


def place_in_words(anchor: Anchor) -> str:
    """`Anchor.label` in the person's language: `page 4`, `Budget!A5:D9`, `Fees › Members`."""
    if anchor.by_app:
        place = place_in_words(replace(anchor, by_app=None))
        return ", ".join(filter(None, (place, tr("written by the app"))))
    if anchor.second is not None:
        return anchor.label()
    if anchor.page is not None:
        if anchor.page_label:
            return tr("page {label} ({page})", label=anchor.page_label, page=anchor.page)
        return tr("page {page}", page=anchor.page)
    if anchor.slide is not None:
        return tr("slide {number}", number=anchor.slide)
    if anchor.sheet or anchor.heading:
        return anchor.label()
    if anchor.cells is not None:
        return tr("cells {cells}", cells=anchor.cells)
    return "" if anchor.line is None else tr("line {line}", line=anchor.line)
