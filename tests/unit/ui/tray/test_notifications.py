import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import Conversation
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import IndexProgress, ProgressChanged, Stage
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.tray.presence import Notifications
from tests.unit.ui.rooms import deliver


class Shown:
    """What is shown, and the setting."""

    def __init__(self, bridge: Bridge) -> None:
        self.texts: list[str] = []
        self.is_wanted = True
        self.notifications = Notifications(bridge, lambda: self.is_wanted)
        self.notifications.shown.connect(lambda _title, text: self.texts.append(text))


@pytest.fixture
def shown(bridge: Bridge) -> Shown:
    return Shown(bridge)


def test_the_first_indexing_is_told_once(shown: Shown, bridge: Bridge) -> None:
    shown.notifications.begin([])
    deliver(bridge, ProgressChanged(IndexProgress(Stage.IDLE)))
    assert shown.texts == []
    for stage in (Stage.READING, Stage.IDLE, Stage.READING, Stage.IDLE):
        deliver(bridge, ProgressChanged(IndexProgress(stage, files_total=3)))
    assert len(shown.texts) == 1
    assert "indexed" in shown.texts[0]


def test_a_failure_tells_no_names(shown: Shown, bridge: Bridge) -> None:
    deliver(bridge, AppError("“secret.pdf” failed.", "It says: “…”"))
    assert shown.texts == ["Something needs your attention."]


def test_nothing_is_shown_while_the_person_looks_or_wants_none(shown: Shown, qtbot: QtBot) -> None:
    shown.is_wanted = False
    shown.notifications.on_answered(None)
    shown.is_wanted = True
    window = QWidget()
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
    shown.notifications.on_answered(None)
    assert shown.texts == []


def test_a_pressed_notification_brings_the_chat(shown: Shown, bridge: Bridge, qtbot: QtBot) -> None:
    chat = Conversation("c", "When?", "", 0.0)
    shown.notifications.on_answered(chat)
    with qtbot.waitSignal(shown.notifications.conversation_requested) as requested:
        shown.notifications.on_pressed()
    assert requested.args == [chat]
    deliver(bridge, AppError("It failed."))
    with qtbot.waitSignal(shown.notifications.window_requested):
        shown.notifications.on_pressed()
