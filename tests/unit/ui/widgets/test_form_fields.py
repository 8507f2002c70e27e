"""Rows of settings forms: beside their labels, or below them where it is narrow."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLineEdit, QPushButton, QRadioButton, QScrollArea
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.form_fields import SettingsSection, note


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
