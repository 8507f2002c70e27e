"""The texts of a window in German that are English: shown, at the pointer, in lists and menus."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSpinBox,
    QTabBar,
    QWidget,
)

from desktop_rag.core.language.languages import is_likely_english
from desktop_rag.core.language.translation import ToldTexts
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words

_MOST_ROWS = 60
_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
)
# Languages are listed by what they call themselves.
_OWN_NAMES = {"English"}
_TAG = re.compile(r"<[^>]*>")
# A path is not in any language.
_PATH = re.compile(r"(?:/[^\s/]+){2,}")


def left_english(root: QWidget) -> Iterator[str]:
    """Each text below a window that is English, as it stands there."""
    for widget in (root, *root.findChildren(QWidget)):
        if widget.isVisibleTo(root):
            for said in _texts(widget):
                text = _PATH.sub("", _TAG.sub("", said)).strip()
                if text and is_left_english(text):
                    yield f"{text!r} of a {type(widget).__name__} is English"


def is_left_english(text: str) -> bool:
    """True for a text that has a translation, or reads as English."""
    known, mends = _known()
    found = text not in known and mends.translated(text) != text
    if text in _OWN_NAMES:
        return False
    return found or (text not in known and is_likely_english(words(text)))


@cache
def _known() -> tuple[frozenset[str], ToldTexts]:
    """The German texts, and what finds the English ones."""
    tree = ET.parse(resources_dir() / "words" / "de.ts")
    pairs = {
        message.findtext("source", ""): message.findtext("translation", "")
        for message in tree.iter("message")
    }
    return frozenset(pairs.values()), ToldTexts(pairs, pairs.__getitem__)


def _texts(widget: QWidget) -> Iterator[str]:
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
    yield widget.windowTitle()
    yield from _shown(widget)
    for menu in widget.findChildren(QMenu):
        yield from (action.text().replace("&", "") for action in menu.actions())


def _shown(widget: QWidget) -> Iterator[str]:
    match widget:
        case QLabel() | QAbstractButton():
            yield widget.text()
        case QGroupBox():
            yield widget.title()
        case QLineEdit():
            yield from (widget.placeholderText(), widget.text())
        case QPlainTextEdit():
            yield widget.placeholderText()
        case QSpinBox():
            yield from (widget.text(), widget.specialValueText())
        case QComboBox():
            yield from _in_model(widget.model())
        case QAbstractItemView() if widget.model():
            yield from _in_model(widget.model())
        case QTabBar():
            yield from map(widget.tabText, range(widget.count()))
        case _:
            pass


def _in_model(model: QAbstractItemModel) -> Iterator[str]:
    for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount()):
        yield str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        for row in range(min(model.rowCount(), _MOST_ROWS)):
            for role in _ROLES:
                yield str(model.index(row, column).data(role) or "")
