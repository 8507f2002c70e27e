"""Keyboard shortcuts with descriptions, and the overview of all live ones. Qt thread."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import tr

_ENTER = re.compile(r"(?<![^+])(?:Return|Enter)\Z")
# The property that names a page in the overview; shortcuts elsewhere belong to the whole window.
PLACE = "shortcut_place"
EVERYWHERE = tr("Everywhere")
WHOLE_WINDOW = Qt.ShortcutContext.WindowShortcut
INSIDE = Qt.ShortcutContext.WidgetWithChildrenShortcut
FOCUSED = Qt.ShortcutContext.WidgetShortcut


@dataclass(frozen=True, slots=True)
class NamedShortcut:
    """Keys, what they do, and where: `Ctrl+F or F3`, `Find in the document`, `Document`."""

    place: str
    words: str
    keys: str


def bind(
    owner: QWidget,
    keys: str,
    words: str,
    act: Callable[[], object],
    context: Qt.ShortcutContext = WHOLE_WINDOW,
) -> QShortcut:
    """Call a function on any of these key sequences, separated by spaces: `Ctrl++ Ctrl+=`."""
    shortcut = QShortcut(owner)
    shortcut.setKeys([QKeySequence(each) for each in keys.split()])
    shortcut.setContext(context)
    shortcut.setWhatsThis(words)
    shortcut.activated.connect(act)
    return shortcut


def shortcuts_of(windows: Iterable[QWidget]) -> list[NamedShortcut]:
    """All shortcuts in these windows, by place; keys that do the same share an entry."""
    found: dict[tuple[str, str], list[str]] = {}
    for window in windows:
        for shortcut in window.findChildren(QShortcut):
            keys = list(map(_native, QShortcut.keys(shortcut)))
            _add(found, _place_of(shortcut), shortcut.whatsThis(), keys)
        for action in window.findChildren(QAction):
            # The keys beside the entries of a menu are those of a shortcut.
            if not action.shortcut().isEmpty() and isinstance(action.parent(), QWidget):
                keys = [_native(action.shortcut())]
                _add(found, _place_of(action), action.text(), keys)
    named = [NamedShortcut(*key, tr(" or ").join(keys)) for key, keys in found.items() if key[1]]
    return sorted(named, key=lambda each: (each.place != EVERYWHERE, each.place))


def _native(keys: QKeySequence) -> str:
    """The keys' names on this system; both Enter keys have one name."""
    return _ENTER.sub(tr("Enter"), keys.toString(QKeySequence.SequenceFormat.NativeText))


def _add(
    found: dict[tuple[str, str], list[str]], place: str, words: str, keys: Iterable[str]
) -> None:
    known = found.setdefault((place, words.replace("&", "").rstrip("…")), [])
    known += [key for key in dict.fromkeys(keys) if key and key not in known]


def _place_of(shortcut: QObject) -> str:
    owner = shortcut.parent()
    while owner is not None:
        if place := owner.property(PLACE):
            return str(place)
        owner = owner.parent()
    return EVERYWHERE
