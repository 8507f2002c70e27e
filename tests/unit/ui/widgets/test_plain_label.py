"""What Tab stops at can be seen."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop_rag.ui.widgets.controls import PlainLabel


def test_a_selectable_label_is_a_stop_of_tab_while_it_has_text(qtbot: QtBot) -> None:
    label = PlainLabel(selectable=True)
    qtbot.addWidget(label)
    assert label.focusPolicy() is Qt.FocusPolicy.NoFocus
    label.setText("Written: lamp.md")
    assert label.focusPolicy() is Qt.FocusPolicy.StrongFocus
    label.setText("")
    assert label.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_another_label_is_none(qtbot: QtBot) -> None:
    label = PlainLabel("2 files")
    qtbot.addWidget(label)
    assert label.focusPolicy() is Qt.FocusPolicy.NoFocus
