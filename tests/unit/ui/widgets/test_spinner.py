"""The turning sign turns only where motion is wanted, and only while it is on show."""

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QProxyStyle, QStyle, QStyleHintReturn, QStyleOption, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Spinner


class Still(QProxyStyle):
    """The style of a desktop that asks for no motion."""

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returnData: QStyleHintReturn | None = None,  # noqa: N803 - Qt's name
    ) -> int:
        is_duration = hint is QStyle.StyleHint.SH_Widget_Animation_Duration
        return 0 if is_duration else super().styleHint(hint, option, widget, returnData)


def is_turning(spinner: Spinner) -> bool:
    timer = spinner.findChild(QTimer)
    return timer is not None and timer.isActive()


def test_it_turns_while_it_is_on_show(theme: Theme, qtbot: QtBot) -> None:
    spinner = Spinner(theme, "Checking")
    qtbot.addWidget(spinner)
    assert spinner.accessibleName() == "Checking"
    spinner.show()
    assert is_turning(spinner)
    before = spinner.grab().toImage()
    qtbot.waitUntil(lambda: spinner.grab().toImage() != before)
    spinner.hide()
    assert not is_turning(spinner)


def test_it_stands_still_where_less_motion_is_asked_for(theme: Theme, qtbot: QtBot) -> None:
    spinner = Spinner(theme, "Checking")
    qtbot.addWidget(spinner)
    still = Still()
    spinner.setStyle(still)
    spinner.show()
    assert not is_turning(spinner)
    assert not spinner.grab().isNull()
