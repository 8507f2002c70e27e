"""Calls of Qt many times over, and the references to None, True and False that they lost.

    python -m tests.faults.qt_calls

Prints the number of calls and, by name, what each lost.
"""

import gc
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QTimer,
)
from PySide6.QtGui import QAction, QIcon, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

_ROUNDS = 1500
# A few references come and go by themselves.
_NOISE = 300
_ROOT = QModelIndex()

Calls = dict[str, Callable[[], object]]


class _Rows(QAbstractListModel):
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _ROOT) -> int:  # noqa: N802
        return int(not parent.isValid())

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> Any:
        return None


class _Filter(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        return True


def main() -> None:
    """Call everything, and print what it lost."""
    app = QApplication([])
    calls = {**_of_widgets(), **_of_texts(), **_of_models(), **_of_objects(app)}
    lost = {name: gone for name, call in calls.items() if (gone := _lost_by(call))}
    sys.stdout.write(f"{len(calls)} {lost}")


def _lost_by(call: Callable[[], object]) -> list[int]:
    call()
    gc.collect()
    before = _counts()
    for _ in range(_ROUNDS):
        call()
    change = [after - start for after, start in zip(_counts(), before, strict=True)]
    return change if min(change) < -_NOISE else []


def _counts() -> list[int]:
    return [sys.getrefcount(value) for value in (None, True, False)]


def _of_widgets() -> Calls:
    top, button, box = QWidget(), QPushButton("b"), QCheckBox()
    layout, bare, stack = QVBoxLayout(top), QWidget(), QStackedWidget()
    layout.addWidget(button)
    return {
        "setEnabled": lambda: button.setEnabled(True),
        "isEnabled": button.isEnabled,
        "setVisible": lambda: box.setVisible(False),
        "isVisible": box.isVisible,
        "setChecked": lambda: box.setChecked(True),
        "isChecked": box.isChecked,
        "setProperty": lambda: button.setProperty("kind", None),
        "property": lambda: button.property("kind"),
        "property that is not there": lambda: button.property("none"),
        "layout": bare.layout,
        "parentWidget": top.parentWidget,
        "window": button.window,
        "itemAt": lambda: layout.itemAt(9),
        "setContentsMargins": lambda: layout.setContentsMargins(0, 0, 0, 0),
        "currentWidget": stack.currentWidget,
        "widget": QScrollArea().widget,
        "connect": lambda: button.clicked.disconnect(button.clicked.connect(_ignore)),
    }


def _of_texts() -> Calls:
    label, edit, plain, browser = QLabel("a"), QLineEdit(), QPlainTextEdit(), QTextBrowser()
    return {
        "setText": lambda: label.setText("b"),
        "text": label.text,
        "setToolTip": lambda: label.setToolTip("x"),
        "clear": edit.clear,
        "setPlainText": lambda: plain.setPlainText("x"),
        "setHtml": lambda: browser.setHtml("<b>x</b>"),
    }


def _of_models() -> Calls:
    combo, rows, view = QComboBox(), _Rows(), QListView()
    combo.addItems(["a", "b"])
    view.setModel(rows)
    return {
        "setCurrentIndex": lambda: combo.setCurrentIndex(1),
        "currentData": combo.currentData,
        "setItemData": lambda: combo.setItemData(0, None),
        "itemData": lambda: combo.itemData(0),
        "data": lambda: rows.index(0).data(),
        "isValid": lambda: rows.index(5).isValid(),
        "internalPointer": lambda: rows.index(0).internalPointer(),
    }


def _of_objects(app: QApplication) -> Calls:
    timer, action, thing, watcher = QTimer(), QAction("c"), QObject(), _Filter()
    thing.installEventFilter(watcher)
    return {
        "parent": thing.parent,
        "start": lambda: timer.start(1000),
        "stop": timer.stop,
        "setSingleShot": lambda: timer.setSingleShot(True),
        "setData": lambda: action.setData(None),
        "data of an action": action.data,
        "trigger": action.trigger,
        # The filter is an attribute of the call, so that it lives as long.
        "eventFilter": lambda: (watcher, app.sendEvent(thing, QEvent(QEvent.Type.User))),
        "processEvents": app.processEvents,
        "focusWidget": app.focusWidget,
        "activeWindow": app.activeWindow,
        "isNull": lambda: QIcon().isNull() and QPixmap().isNull(),
    }


def _ignore() -> None:
    """A slot."""


if __name__ == "__main__":
    main()
