"""Searches all widgets for untrusted text that Qt would treat as HTML.

    assert markup_risks(MARK) == []
    assert "QLabel" in kinds_that_show(MARK)   # proves that the mark is on screen

Qt guesses: a label, tooltip or message box with a tag in it loads the files it names.
"""

from collections.abc import Iterator

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt, QUrl
from PySide6.QtGui import QAction, QImage, QTextDocument
from PySide6.QtGui import Qt as QtOfText
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QTabWidget,
    QTextEdit,
    QWidget,
)

_TIP_ROLES = (
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.WhatsThisRole,
    Qt.ItemDataRole.StatusTipRole,
)
_MOST_ROWS = 200


class _Reader(QTextDocument):
    """Renders HTML like a tooltip, and records the resources it would have opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.setHtml(text)
        self.size()  # laid out like displayed text

    def loadResource(self, _kind: int, name: QUrl | str) -> QImage:  # noqa: N802
        self.opened.append(name if isinstance(name, str) else name.toString())
        return QImage()


def markup_risks(mark: str) -> list[str]:
    """The places where a text with the mark is parsed as HTML or loses content."""
    return [
        f"{kind} {owner}: {text}"
        for owner, kind, text, is_guessed in _texts()
        if is_guessed and not _is_safe(text, mark)
    ] + [f"{name} would read files" for name in _readers_of_files()]


def kinds_that_show(mark: str) -> set[str]:
    """The kinds of widgets that show the mark."""
    return {
        kind
        for _owner, kind, text, is_guessed in _texts()
        if mark in (_plain(text) if is_guessed else text)
    }


def _is_safe(text: str, mark: str) -> bool:
    """True when Qt's rendering of a guessed format loads nothing and still shows the mark."""
    if not QtOfText.mightBeRichText(text):
        return True
    reader = _Reader(text)
    return not reader.opened and (mark not in text or mark in reader.toPlainText())


def _plain(text: str) -> str:
    return _Reader(text).toPlainText() if QtOfText.mightBeRichText(text) else text


def _readers_of_files() -> Iterator[str]:
    for widget in QApplication.allWidgets():
        if isinstance(widget, QTextEdit):
            got = widget.loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl("/x"))
            if not isinstance(got, QImage) or not got.isNull():
                yield type(widget).__name__


def _texts() -> Iterator[tuple[str, str, str, bool]]:
    """Owner, kind of widget, text, and True when Qt guesses its format."""
    for widget in QApplication.allWidgets():
        owner = f"{type(widget).__name__} {widget.objectName() or widget.accessibleName()}".strip()
        yield owner, "tooltip", widget.toolTip(), True
        yield owner, "tooltip", widget.whatsThis(), True
        yield owner, "window title", widget.windowTitle(), False
        for kind, text, is_guessed in _own_texts(widget):
            yield owner, kind, text, is_guessed
        for action in widget.actions():
            for kind, text, is_guessed in _texts_of(action, widget):
                yield owner, kind, text, is_guessed


def _own_texts(widget: QWidget) -> Iterator[tuple[str, str, bool]]:
    match widget:
        case QLabel():
            yield "label", widget.text(), widget.textFormat() is not Qt.TextFormat.PlainText
        case QMessageBox():
            yield "message box", widget.text(), widget.textFormat() is not Qt.TextFormat.PlainText
            yield "message box", widget.informativeText(), True
        case QTextEdit() | QPlainTextEdit():
            yield "text", widget.toPlainText(), False
        case QLineEdit():
            yield "field", widget.text(), False
        case QAbstractButton():
            yield "button", widget.text().replace("&&", "&"), False
        case QGroupBox():
            yield "group", widget.title(), False
        case QTabWidget():
            for at in range(widget.count()):
                yield "tab", widget.tabText(at), False
                yield "tooltip", widget.tabToolTip(at), True
        case QComboBox() | QAbstractItemView():
            yield from _items(widget.model())
        case _:
            return


def _texts_of(action: QAction, widget: QWidget) -> Iterator[tuple[str, str, bool]]:
    yield "menu", action.text(), False
    if isinstance(widget, QMenu) and widget.toolTipsVisible():
        yield "tooltip", action.toolTip(), True


def _items(model: QAbstractItemModel | None) -> Iterator[tuple[str, str, bool]]:
    if model is None:
        return
    root = QModelIndex()
    for row in range(min(model.rowCount(root), _MOST_ROWS)):
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(root)
        for column in range(columns):
            index = model.index(row, column)
            yield "row", str(index.data() or ""), False
            for role in _TIP_ROLES:
                yield "tooltip", str(index.data(role) or ""), True
