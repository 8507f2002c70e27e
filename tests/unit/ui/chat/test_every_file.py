"""Asking every file separately, after a confirmation if it takes many requests."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from tests.servers.chat_server import ChatServer
from tests.unit.ui.chat_room import Room, ask, choose, is_answered, use

EVERY_FILE = "Ask every file"


def add_files(room: Room, qtbot: QtBot, count: int) -> None:
    for number in range(count):
        (room.file.parent / f"{number}.md").write_text(
            f"# Lamp {number}\n\nThe lamp number {number} is lit at dusk.\n", encoding="utf-8"
        )
    qtbot.waitUntil(lambda: len(room.chat.search("lamp", limit=100)) > count, timeout=20_000)


def question(room: Room) -> QMessageBox | None:
    boxes = [box for box in room.page.findChildren(QMessageBox) if box.isVisible()]
    return boxes[0] if boxes else None


def press(box: QMessageBox, words: str) -> None:
    next(b for b in box.buttons() if b.text().replace("&", "") == words).click()


@pytest.mark.everyday
def test_a_few_files_are_asked_at_once(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    choose(room, qtbot, EVERY_FILE)
    qtbot.waitUntil(lambda: any(text.startswith("Lamp: The lamp") for text in room.answers()))
    assert any("Passages of 1 file were read" in text for text in room.words())
    assert question(room) is None


@pytest.mark.slow
def test_a_chat_that_is_closed_meanwhile_is_not_asked(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    [answer] = room.answers()
    first = room.chat.history.all()[0]
    qtbot.waitUntil(lambda: not room.page.sessions.current.is_checking)
    choose(room, qtbot, EVERY_FILE)
    room.page.new_chat()
    ask(room, qtbot, "What is lit at dusk?")
    room.page.open_conversation(first)
    qtbot.waitUntil(lambda: is_answered(room))
    assert room.answers() == [answer]


@pytest.mark.slow
def test_many_requests_need_a_confirmation(room: Room, server: ChatServer, qtbot: QtBot) -> None:
    add_files(room, qtbot, 30)
    use(room, server)
    ask(room, qtbot)
    server.answer = "NOTHING"
    choose(room, qtbot, EVERY_FILE)
    qtbot.waitUntil(lambda: question(room) is not None)
    box = question(room)
    assert box is not None
    assert box.textFormat() is Qt.TextFormat.PlainText
    assert box.text().startswith("Ask 31 files one by one?")
    assert "test-model" in box.text()
    press(box, "Cancel")
    assert not any("Asked" in text for text in room.words())
    choose(room, qtbot, EVERY_FILE)
    qtbot.waitUntil(lambda: question(room) is not None)
    box = question(room)
    assert box is not None
    press(box, "Ask files")
    qtbot.waitUntil(
        lambda: any("31 of 31 files asked, 0 matched" in text for text in room.words()),
        timeout=20_000,
    )
    qtbot.waitUntil(lambda: is_answered(room))
    assert "Nothing in your documents" in room.answers()[-1]
