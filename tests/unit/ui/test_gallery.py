"""The gallery shows every shared widget, and its sheets can be drawn."""

import importlib
import inspect
import pkgutil

import pytest
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui import widgets
from desktop_rag.ui.foundation.theme import Theme
from tests.looks.gallery import SHEETS, sheet

# Frames that only hold other widgets; the looks show them.
_HOLDERS = {"ContentScroll", "NoticeBar", "RowList", "ScrolledPage", "ValueForm", "WrappingRow"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_is_drawn(name: str, theme: Theme, qtbot: QtBot) -> None:
    made = sheet(theme, name)
    qtbot.addWidget(made)
    made.show()
    assert not made.grab().isNull()


@pytest.mark.everyday
def test_every_shared_widget_is_on_a_sheet(theme: Theme, qtbot: QtBot) -> None:
    shown: set[str] = set()
    for name in SHEETS:
        made = sheet(theme, name)
        qtbot.addWidget(made)
        for widget in made.findChildren(QWidget):
            shown |= {kind.__name__ for kind in type(widget).__mro__}
    assert shared_widgets() - shown == set()


def shared_widgets() -> set[str]:
    """The widgets of the room `widgets`, other than dialogs and what only holds others."""
    found: set[str] = set()
    for module in pkgutil.iter_modules(widgets.__path__, widgets.__name__ + "."):
        members = inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
        found |= {
            name
            for name, kind in members
            if kind.__module__ == module.name
            and issubclass(kind, QWidget)
            and not issubclass(kind, QDialog)
        }
    return found - _HOLDERS
