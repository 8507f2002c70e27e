"""Rows of settings forms: beside their labels, or below them where it is narrow."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note, number_field


@pytest.fixture
def area(qtbot: QtBot, theme: Theme) -> QScrollArea:
    """A page with one section of a form. The theme gives it its looks."""
    section = SettingsSection("Speech", "How it is read out. " * 9)
    section.add_row("Voice", QLineEdit(), QPushButton("Browse…"), is_wide=True)
    section.add_note(note("A voice of the system, or a file. " * 5))
    section.add_row("Reading", *(QRadioButton(f"In the way number {n}") for n in range(4)))
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(section)
    qtbot.addWidget(area)
    area.show()
    return area


def section_of(area: QScrollArea) -> SettingsSection:
    section = area.widget()
    assert isinstance(section, SettingsSection)
    return section


def test_labels_stand_above_where_it_is_narrow(qtbot: QtBot, area: QScrollArea) -> None:
    section = section_of(area)
    field, button = section.findChildren(QLineEdit)[0], section.findChildren(QPushButton)[0]
    for width, is_stacked in ((900, False), (280, True), (900, False)):
        area.resize(width, 300)
        qtbot.waitUntil(lambda expected=is_stacked: section.is_stacked is expected)
        qtbot.waitUntil(lambda: area.horizontalScrollBar().maximum() == 0)
        assert button.x() > field.x()
    ways = section.findChildren(QRadioButton)
    assert len({way.y() for way in ways}) == 1  # in one line
    area.resize(280, 300)
    qtbot.waitUntil(lambda: len({way.mapTo(section, QPoint(0, 0)).y() for way in ways}) > 1)
    qtbot.waitUntil(lambda: all(way.width() >= way.sizeHint().width() for way in ways))


@pytest.mark.parametrize("height", [200, 2000])
def test_every_width_comes_to_rest(qtbot: QtBot, area: QScrollArea, height: int) -> None:
    for width in range(700, 260, -7):
        area.resize(width, height)
        qtbot.waitUntil(lambda: area.horizontalScrollBar().maximum() == 0)


@pytest.mark.parametrize("has_focus", [True, False])
def test_the_wheel_scrolls_the_page_over_a_closed_list(
    qtbot: QtBot, area: QScrollArea, *, has_focus: bool
) -> None:
    chosen, number = DropDown(), number_field(0, 100, 5, " MB")
    chosen.addItems(["One", "Two", "Three"])
    for field in (chosen, number):
        section_of(area).add_row("", field)
        if has_focus:
            field.setFocus()
            qtbot.waitUntil(field.hasFocus)
        turn = turned(field)
        QApplication.sendEvent(field, turn)
        assert turn.isAccepted() is (has_focus and field is number)
    assert chosen.currentText() == "One"


def turned(field: QWidget) -> QWheelEvent:
    """A turn of the wheel towards the person, over a field."""
    place = QPointF(5, 5)
    return QWheelEvent(
        place, field.mapToGlobal(place), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
