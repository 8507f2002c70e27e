"""A person finds words in a chat, comes back to the newest message, and opens a hit of a search."""

import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QTextEdit

from desktop_rag.answer.conversations.conversation_file import export_text
from desktop_rag.core.conversation import Conversation, Message, Role
from desktop_rag.ui.messages.answer_body import SegmentView
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

COUNT = 120
HITS = (1, 61, 119)


@pytest.fixture
def reader(asker: Person, tmp_path: Path) -> Person:
    """A person with a long chat in the list, whose messages 1, 61 and 119 speak of a wick."""
    now = time.time()
    messages = [
        Message(
            f"m{n}",
            "",
            Role.ASSISTANT if n % 2 else Role.USER,
            f"The **wick** is trimmed, says message {n}." if n in HITS else f"Message {n}.",
            now - (COUNT - 1 - n) * 3_600,  # the last one is of today at any hour
        )
        for n in range(COUNT)
    ]
    file = tmp_path / "chat.json"
    chat = Conversation("", "About the lighthouse", "", now)
    file.write_text(export_text(chat, messages, ".json"), encoding="utf-8")
    asker.app.services.chat.history.import_file(file)
    asker.window.chat_page.refresh()
    asker.waits_until(lambda: bool(asker.rows("Chats")))
    return asker


@pytest.mark.everyday
def test_all_messages_are_searched_and_walked(reader: Person) -> None:
    reader.opens_row("Chats", 0)
    reader.sees("says message 119")
    question = reader.field("Question")
    question.setFocus()
    reader.presses("Ctrl+F")
    reader.types("Find in the chat", "WICK is")
    reader.sees("3 of 3")
    assert marked(reader) == ["wick is"]
    reader.presses("F3")
    reader.sees("1 of 3")
    reader.waits_until(lambda: is_in_view(reader, "says message 1."))
    reader.presses("F3")
    reader.waits_until(lambda: is_in_view(reader, "says message 61."))
    reader.presses("Shift+F3")
    reader.waits_until(lambda: is_in_view(reader, "says message 1."))
    reader.presses("Esc")
    reader.sees_no_longer("1 of 3")
    assert marked(reader) == []
    assert QApplication.focusWidget() is question


def test_the_newest_message_is_a_press_away(reader: Person, server: ChatServer) -> None:
    reader.opens_row("Chats", 0)
    reader.sees("says message 119")
    reader.presses("Ctrl+F")
    reader.types("Find in the chat", "says message 1.")
    reader.sees("Show later messages")
    reader.clicks("Newest messages")
    reader.waits_until(lambda: is_in_view(reader, "says message 119."))
    reader.sees_no_longer("Newest messages")
    server.answer = "Words. " * 60 + "The end."
    reader.asks("When is the lamp lit?")
    reader.sees("The end.")
    reader.waits_until(lambda: is_in_view(reader, "The end."))


def test_a_search_opens_the_chat_at_its_hit(reader: Person) -> None:
    reader.types("Search chats", "says message 61")
    reader.waits_until(lambda: [row[0] for row in reader.rows("Chats")] == ["About the lighthouse"])
    reader.opens_row("Chats", 0)
    reader.waits_until(lambda: is_in_view(reader, "says message 61."))
    assert marked(reader) == ["says message 61"]
    reader.sees("1 of 1")


def test_days_stand_between_messages_and_above_chats(reader: Person) -> None:
    reader.opens_row("Chats", 0)
    reader.sees("says message 119")
    # Forty hours of it are shown, so midnight is among them.
    reader.sees("Today")
    chat = reader.view("Chats").model().index(0, 0)
    assert chat.data(Qt.ItemDataRole.AccessibleTextRole) == "About the lighthouse, Today"


def marked(person: Person) -> list[str]:
    """The marked words of the answers on the screen."""
    views = [v for v in person.window.findChildren(SegmentView) if v.isVisible()]
    return [mark.cursor.selectedText() for view in views for mark in view.extraSelections()]


def is_in_view(person: Person, text: str) -> bool:
    return any(
        text in view.toPlainText() and not view.visibleRegion().isEmpty()
        for view in person.window.findChildren(QTextEdit)
        if view.isVisible()
    )
