"""What Tab stops at can be seen."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel


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


def test_an_elided_label_fits_its_text_to_another_font(qtbot: QtBot) -> None:
    label = ElidedLabel("A title of some length")
    qtbot.addWidget(label)
    label.show()
    label.resize(label.fontMetrics().horizontalAdvance(label.full_text) - 1, 30)
    assert label.text() != label.full_text
    font = label.font()
    font.setPointSizeF(font.pointSizeF() / 2)
    label.setFont(font)
    assert label.text() == label.full_text
