"""The form of a scheduled question: nothing in it is cut off."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QTimeEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.features.schedules.ui.schedule_dialog import ScheduleDialog
from desktop_rag.features.schedules.values.scheduled_question import Rhythm, ScheduledQuestion
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import PlainLabel

COST = "Each run sends the question and its sources to a model, which may cost something. " * 2


@pytest.mark.parametrize("points", [10, 16])
def test_the_time_stands_above_the_note_below_it(
    theme: Theme, qtbot: QtBot, *, points: int
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    font = window.font()
    font.setPointSize(points)
    window.setFont(font)
    question = ScheduledQuestion("", "", "What is new?", Rhythm.WEEKLY)
    dialog = ScheduleDialog(question, (), COST, window)
    dialog.show()
    time = dialog.findChildren(QTimeEdit)[0]
    missed = next(n for n in dialog.findChildren(PlainLabel) if "made up once" in n.text())
    assert time.height() >= time.minimumSizeHint().height()
    bottom = time.mapTo(dialog, QPoint(0, time.height())).y()
    assert bottom <= missed.mapTo(dialog, QPoint()).y()
