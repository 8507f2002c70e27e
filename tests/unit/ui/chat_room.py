"""A chat page on the real chat over a library of one file, with helpers to use it."""

import re
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QListView, QToolButton
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.settings import AnswerSettings, ModelCheck, Settings
from desktop_rag.ui.chat.chat_page import ChatPage
from desktop_rag.ui.chat.conversation_list import ConversationList
from desktop_rag.ui.messages.answer_body import SegmentView
from desktop_rag.ui.messages.message_view import MessageView
from tests.servers.chat_server import ChatServer
from tests.unit.ui.rooms import texts

QUESTION = "When is the lamp lit?"
ANSWER = "The lamp is lit at dusk [1]. See nothing else [7]."

# A sign, or a chip with a sign and words.
_BADGE = re.compile("\u2060 (?: . (?:partly in sources|not in sources|contradicted) |.)")


@dataclass
class Room:
    """A page with its services."""

    page: ChatPage
    chat: Chat
    file: Path

    def words(self) -> list[str]:
        return texts(self.page)

    def answers(self) -> list[str]:
        """The visible words without the badges, which appear at an unknown time."""
        views = [view for view in self.page.findChildren(SegmentView) if view.isVisible()]
        return [_BADGE.sub("", view.toPlainText()) for view in views]


def use(room: Room, server: ChatServer) -> None:
    answers = AnswerSettings(model_check=ModelCheck.NEVER)
    settings = Settings(endpoint=server.endpoint(), answers=answers)
    room.chat.apply(settings)
    room.page.apply(settings)


def ask(room: Room, qtbot: QtBot, question: str = QUESTION) -> None:
    room.page.ask(question)
    qtbot.waitUntil(lambda: is_answered(room))


def cite(room: Room) -> None:
    """Activate the citation of the first source in the answer on show."""
    view = next(v for v in room.page.findChildren(SegmentView) if v.isVisible())
    view.anchorClicked.emit(QUrl("cite:1"))


def is_answered(room: Room) -> bool:
    view = room.page.findChildren(MessageView)[0]
    stop = room.page.findChildren(QAbstractButton, "stopButton")[0]
    return not stop.isVisible() and view.is_settled and bool(room.answers())


def conversation_titles(chats: ConversationList) -> list[str]:
    model = chats.findChildren(QListView)[0].model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def click(room: Room, qtbot: QtBot, name: str, place: int) -> None:
    """Press the n-th button of this name from the top, once it is visible."""
    qtbot.waitUntil(lambda: len(named(room, name)) > place)
    named(room, name)[place].click()


def choose(room: Room, qtbot: QtBot, entry: str, place: int = 0) -> None:
    """Choose an entry of the menu of the n-th answer from the top, once it is there."""
    qtbot.waitUntil(lambda: len(_entries(room, entry)) > place)
    _entries(room, entry)[place].trigger()


def _entries(room: Room, entry: str) -> list[QAction]:
    menus = [b.menu() for b in named(room, "More for this answer") if isinstance(b, QToolButton)]
    actions = [action for menu in menus for action in menu.actions()]
    return [a for a in actions if a.text() == entry and a.isVisible()]


def named(room: Room, name: str) -> list[QAbstractButton]:
    """The visible buttons of this name, from the top."""
    found = room.page.findChildren(QAbstractButton)
    seen = [b for b in found if name in (b.accessibleName(), b.text()) and b.isVisible()]
    return sorted(seen, key=lambda b: b.mapToGlobal(b.rect().topLeft()).y())
