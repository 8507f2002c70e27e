"""The chat page on the real chat: ask, stop, retry, other conversations, sources, opening."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QListView, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation, Feedback, MessageState, Role
from desktop_rag.core.settings import Settings
from desktop_rag.ui.bridge import Bridge
from desktop_rag.ui.chat_header import ChatHeader
from desktop_rag.ui.chat_page import ChatPage
from desktop_rag.ui.composer import Composer
from desktop_rag.ui.conversation_list import ConversationList
from desktop_rag.ui.empty_chat import EmptyChat
from desktop_rag.ui.message_view import MessageView
from desktop_rag.ui.rewrite_dialog import RewriteDialog
from desktop_rag.ui.segment_view import SegmentView
from desktop_rag.ui.sources_panel import SourceCard, SourcesPanel
from desktop_rag.ui.theme import Theme
from tests.chat_server import ChatServer
from tests.unit.ui.rooms import button, make_chat, make_library, opened_store, texts

if TYPE_CHECKING:
    from desktop_rag.core.library_events import Notice

QUESTION = "When is the lamp lit?"
ANSWER = "The lamp is lit at dusk [1]. See nothing else [7]."


@dataclass
class Room:
    """A page with what is behind it."""

    page: ChatPage
    chat: Chat
    file: Path

    def words(self) -> list[str]:
        return texts(self.page)

    def answers(self) -> list[str]:
        return [v.toPlainText() for v in self.page.findChildren(SegmentView) if v.isVisible()]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        yield server


@pytest.fixture
def room(theme: Theme, bridge: Bridge, qtbot: QtBot, tmp_path: Path) -> Iterator[Room]:
    """A page over a library of one file, without an endpoint."""
    documents = tmp_path / "documents"
    documents.mkdir()
    file = documents / "lamp.md"
    file.write_text("# Lamp\n\nThe lamp is lit at dusk. It burns oil.\n", encoding="utf-8")
    with opened_store(tmp_path / "home") as database:
        library, chat = make_library(database, tmp_path / "home"), make_chat(database, None)
        library.start()
        library.add_source(documents)
        assert library.wait_until_quiet(30)
        page = ChatPage(bridge, library, chat, theme)
        qtbot.addWidget(page)
        page.resize(1200, 700)
        page.refresh()
        page.show()
        yield Room(page, chat, file)
        bridge.close()
        library.close()
        chat.close()


def use(room: Room, server: ChatServer) -> None:
    settings = Settings(endpoint=server.endpoint())
    room.chat.apply(settings)
    room.page.apply(settings)


def ask(room: Room, qtbot: QtBot, question: str = QUESTION) -> None:
    room.page.ask(question)
    qtbot.waitUntil(lambda: is_answered(room))


def is_answered(room: Room) -> bool:
    view = room.page.findChildren(MessageView)[0]
    stop = room.page.findChildren(QAbstractButton, "stopButton")[0]
    return not stop.isVisible() and view.is_settled and bool(room.answers())


def test_an_empty_chat_says_what_can_be_asked(room: Room, qtbot: QtBot) -> None:
    room.page.apply(Settings())
    room.page.show_examples([QUESTION])
    qtbot.waitUntil(lambda: any("Ask anything about your 1 file." in t for t in room.words()))
    button(room.page, QUESTION).click()
    qtbot.waitUntil(lambda: is_answered(room))
    assert not room.page.findChildren(EmptyChat)[0].isVisible()
    with qtbot.waitSignal(room.page.settings_requested):
        room.page.findChildren(EmptyChat)[0].settings_requested.emit()


def test_without_an_endpoint_the_answer_is_excerpts(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    assert "lit at dusk" in room.answers()[0]
    assert any(text.startswith("Excerpts from your documents") for text in room.words())
    panel = room.page.findChildren(SourcesPanel)[0]
    assert panel.isVisible()
    assert [source.title for source in panel.sources] == ["Lamp"]


def test_an_answer_streams_in_and_its_sources_open(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    use(room, server)
    ask(room, qtbot)
    assert room.answers() == ["The lamp is lit at dusk [1]. See nothing else."]
    assert any(text.startswith("test-model") for text in room.words())
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: QUESTION in conversation_titles(chats))


def conversation_titles(chats: ConversationList) -> list[str]:
    model = chats.findChildren(QListView)[0].model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


class Desktop(QObject):
    """Stands where the desktop's programs are: hears which files are to be opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open_file(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    desktop = Desktop()
    QDesktopServices.setUrlHandler("file", desktop, "open_file")  # pyright: ignore[reportArgumentType]
    yield desktop
    QDesktopServices.unsetUrlHandler("file")


def test_a_citation_shows_its_card_and_opens_the_file(
    room: Room, server: ChatServer, desktop: Desktop, qtbot: QtBot
) -> None:
    use(room, server)
    ask(room, qtbot)
    room.page.findChildren(SourcesPanel)[0].hide()
    room.page.findChildren(SegmentView)[0].citation_clicked.emit(1)
    qtbot.waitUntil(lambda: bool(desktop.opened))
    assert desktop.opened == [str(room.file)]
    card = room.page.findChildren(SourceCard)[0]
    assert card.isVisible()
    assert card.property("chosen") is True


def test_a_source_that_is_gone_is_said(
    room: Room, bridge: Bridge, server: ChatServer, qtbot: QtBot
) -> None:
    use(room, server)
    ask(room, qtbot)
    room.file.unlink()
    with qtbot.waitSignal(bridge.posted) as posted:
        button(room.page, "Open source 1 at its place").click()
    assert posted.args
    assert "not there any more" in posted.args[0].title


def test_stop_keeps_what_has_arrived_and_it_can_be_asked_again(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    server.pause_s = 0.1
    use(room, server)
    room.page.ask(QUESTION)
    qtbot.waitUntil(lambda: any("The lamp" in text for text in room.answers()))
    button(room.page, "Stop the answer (Esc)").click()
    qtbot.waitUntil(lambda: any(text.startswith("stopped") for text in room.words()))
    server.pause_s = 0.0
    button(room.page, "Answer again").click()
    qtbot.waitUntil(lambda: room.answers() == ["The lamp is lit at dusk [1]. See nothing else."])


def test_a_failure_keeps_the_question_and_retry_works(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    server.mode, server.misbehaves_times = "status", 10
    server.status = 401
    use(room, server)
    room.page.ask(QUESTION)
    qtbot.waitUntil(lambda: "Retry" in visible_buttons(room), timeout=15_000)
    assert QUESTION in room.words()
    server.mode = "answer"
    button(room.page, "Retry").click()
    qtbot.waitUntil(lambda: room.answers() == ["The lamp is lit at dusk [1]. See nothing else."])
    [conversation] = room.chat.history.all()
    states = [m.state for m in room.chat.history.messages(conversation.conversation_id)]
    assert states == [MessageState.DONE, MessageState.DONE]


def visible_buttons(room: Room) -> list[str]:
    return [b.text() for b in room.page.findChildren(QAbstractButton) if b.isVisible()]


def test_an_answer_goes_on_while_another_chat_is_looked_at(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    server.pause_s = 0.02
    use(room, server)
    room.page.ask(QUESTION)
    qtbot.waitUntil(lambda: bool(room.answers()))
    room.page.new_chat()
    qtbot.waitUntil(lambda: room.answers() == [])
    assert not room.page.findChildren(QAbstractButton, "stopButton")[0].isVisible()
    [conversation] = room.chat.history.all()
    room.page.open_conversation(conversation)
    qtbot.waitUntil(lambda: room.answers() == ["The lamp is lit at dusk [1]. See nothing else."])
    qtbot.waitUntil(lambda: is_answered(room))


def test_a_deleted_chat_comes_back_by_undo(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    offers: list[tuple[Notice, Callable[[], None]]] = []
    room.page.undo_offered.connect(lambda notice, undo: offers.append((notice, undo)))
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION])
    chats.delete_current()
    qtbot.waitUntil(lambda: conversation_titles(chats) == [])
    assert offers[0][0].title == f"Deleted “{QUESTION}”."
    assert room.answers() == []
    offers[0][1]()
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION] and is_answered(room))


def test_a_renamed_chat_has_its_title_everywhere(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION])
    [conversation] = room.chat.history.all()
    chats.renamed.emit(conversation.conversation_id, "Lamp & <b>lens</b>")
    qtbot.waitUntil(lambda: conversation_titles(chats) == ["Lamp & <b>lens</b>"])
    assert "Lamp & <b>lens</b>" in room.words()


def test_a_question_from_outside_is_written_not_asked(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    room.page.write_question("Is it oil?")
    assert room.page.findChildren(Composer)[0].text == "Is it oil?"
    [conversation] = room.chat.history.all()
    roles = [m.role for m in room.chat.history.messages(conversation.conversation_id)]
    assert roles == [Role.USER, Role.ASSISTANT]
    qtbot.waitUntil(lambda: room.answers() == [])


def test_a_narrow_window_shows_one_side_at_a_time(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    panel = room.page.findChildren(SourcesPanel)[0]
    chats = room.page.findChildren(ConversationList)[0]
    assert panel.isVisible()
    assert chats.isVisible()
    room.page.resize(700, 600)
    qtbot.waitUntil(lambda: panel.isVisible() and not chats.isVisible())
    button(room.page, "Show or hide the chats").click()
    assert chats.isVisible()
    assert not panel.isVisible()
    button(room.page, "Show or hide the sources").click()
    assert panel.isVisible()
    assert not chats.isVisible()
    button(room.page, "Close the sources").click()
    assert not panel.isVisible()


def test_an_earlier_question_is_asked_anew_in_a_copy(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    ask(room, qtbot, "Does it burn oil?")
    composer = room.page.findChildren(Composer)[0]
    click(room, qtbot, "Edit and ask again", 1)
    assert composer.text == "Does it burn oil?"
    composer.set_text("What does it burn?")
    button(composer, "Send the question").click()
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [f"{QUESTION} (copy)", QUESTION])
    qtbot.waitUntil(lambda: is_answered(room))
    copy, original = room.chat.history.all()
    assert said(room, copy) == [QUESTION, "What does it burn?"]
    assert said(room, original) == [QUESTION, "Does it burn oil?"]


def test_the_first_question_anew_is_a_chat_of_its_own(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    composer = room.page.findChildren(Composer)[0]
    click(room, qtbot, "Edit and ask again", 0)
    button(composer, "Cancel").click()
    assert composer.text == ""
    click(room, qtbot, "Edit and ask again", 0)
    composer.set_text("What does it burn?")
    button(composer, "Send the question").click()
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == ["What does it burn?", QUESTION])
    qtbot.waitUntil(lambda: is_answered(room))


def test_a_chat_goes_on_in_a_copy(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    ask(room, qtbot, "Does it burn oil?")
    click(room, qtbot, "Go on from here in a copy", 0)
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: f"{QUESTION} (copy)" in conversation_titles(chats))
    qtbot.waitUntil(lambda: len(room.answers()) == 1)


def test_an_answer_given_again_can_be_taken_back(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    ask(room, qtbot)
    offers: list[Callable[[], None]] = []
    room.page.undo_offered.connect(lambda _notice, undo: offers.append(undo))
    [before] = room.answers()
    use(room, server)
    click(room, qtbot, "Answer again", 0)
    qtbot.waitUntil(lambda: room.answers() == ["The lamp is lit at dusk [1]. See nothing else."])
    qtbot.waitUntil(lambda: bool(offers))
    offers[0]()
    qtbot.waitUntil(lambda: room.answers() == [before])


def test_an_answer_is_liked_disliked_and_neither_again(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    click(room, qtbot, "Like", 0)
    qtbot.waitUntil(lambda: feedback(room) == Feedback.LIKED)
    click(room, qtbot, "Dislike", 0)
    qtbot.waitUntil(lambda: len(named(room, "Dislike (on)")) == len(named(room, "Like")) == 1)
    assert feedback(room) == Feedback.DISLIKED
    room.page.new_chat()
    room.page.open_conversation(room.chat.history.all()[0])
    click(room, qtbot, "Dislike (on)", 0)
    qtbot.waitUntil(lambda: len(named(room, "Dislike")) == 1)
    assert feedback(room) == Feedback.NONE


def test_an_answer_is_rewritten_and_the_rewrite_deleted(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    click(room, qtbot, "Rewrite the answer", 0)
    dialog = opened_dialog(room, qtbot)
    text = dialog.findChildren(QPlainTextEdit)[0]
    assert text.toPlainText() == "The lamp is lit at dusk."
    text.setPlainText("At seven.")
    button(dialog, "Submit").click()
    qtbot.waitUntil(lambda: any("rewritten by you" in words for words in room.words()))
    click(room, qtbot, "Rewrite the answer", 0)
    dialog = opened_dialog(room, qtbot)
    assert dialog.findChildren(QPlainTextEdit)[0].toPlainText() == "At seven."
    button(dialog, "Delete").click()
    qtbot.waitUntil(lambda: not any("rewritten by you" in words for words in room.words()))
    assert "lit at dusk" in room.answers()[0]


def opened_dialog(room: Room, qtbot: QtBot) -> RewriteDialog:
    def dialogs() -> list[RewriteDialog]:
        return [d for d in room.page.findChildren(RewriteDialog) if d.isVisible()]

    qtbot.waitUntil(lambda: bool(dialogs()))
    return dialogs()[0]


def feedback(room: Room) -> Feedback:
    [conversation] = room.chat.history.all()
    return room.chat.history.messages(conversation.conversation_id)[1].feedback


def test_a_pinned_chat_is_written_to_a_file(room: Room, qtbot: QtBot, tmp_path: Path) -> None:
    ask(room, qtbot)
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION])
    header = room.page.findChildren(ChatHeader)[0]
    header.pin_requested.emit()
    qtbot.waitUntil(lambda: room.chat.history.all()[0].is_pinned)
    header.export_requested.emit()
    dialog = room.page.findChildren(QFileDialog, "exportDialog")[0]
    target = tmp_path / "chat.md"
    told: list[Notice] = []
    room.page.told.connect(told.append)
    dialog.fileSelected.emit(str(target))
    dialog.reject()
    qtbot.waitUntil(lambda: [n.title for n in told] == [f"Exported to {target}."])
    assert "lit at dusk" in target.read_text(encoding="utf-8")


def click(room: Room, qtbot: QtBot, name: str, place: int) -> None:
    """Press the button of this name at a place, from the top, once it can be seen."""
    qtbot.waitUntil(lambda: len(named(room, name)) > place)
    named(room, name)[place].click()


def named(room: Room, name: str) -> list[QAbstractButton]:
    """The buttons of this name that can be seen, from the top."""
    found = room.page.findChildren(QAbstractButton)
    seen = [b for b in found if b.accessibleName() == name and b.isVisible()]
    return sorted(seen, key=lambda b: b.mapToGlobal(b.rect().topLeft()).y())


def said(room: Room, conversation: Conversation) -> list[str]:
    messages = room.chat.history.messages(conversation.conversation_id)
    return [m.text for m in messages if m.role is Role.USER]
