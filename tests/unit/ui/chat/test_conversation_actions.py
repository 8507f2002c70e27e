"""Actions on chats and answers on the real page: forks, ratings, rewrites, files."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import Conversation, Feedback, Role
from desktop_rag.ui.chat.chat_page import ChatHeader
from desktop_rag.ui.chat.conversation_actions import ConversationActions
from desktop_rag.ui.chat.conversation_list import ConversationList
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.documents.sources_panel import SourceCard
from desktop_rag.ui.foundation.ask_request import Done, UndoOffer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.personal.rewrite_dialog import RewriteDialog
from tests.servers.chat_server import ChatServer
from tests.unit.ui.chat_room import (
    QUESTION,
    Room,
    ask,
    choose,
    cite,
    click,
    conversation_titles,
    is_answered,
    named,
    use,
)
from tests.unit.ui.rooms import button, listening_desktop


@pytest.mark.slow
def test_an_edited_question_is_asked_in_a_copy(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    ask(room, qtbot, "Does it burn oil?")
    composer = room.page.findChildren(Composer)[0]
    click(room, qtbot, "Edit question", 1)
    assert composer.text == "Does it burn oil?"
    composer.set_text("What does it burn?")
    button(composer, "Send").click()
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [f"{QUESTION} (copy)", QUESTION])
    qtbot.waitUntil(lambda: is_answered(room))
    copy, original = room.chat.history.all()
    assert said(room, copy) == [QUESTION, "What does it burn?"]
    assert said(room, original) == [QUESTION, "Does it burn oil?"]


@pytest.mark.slow
def test_an_edited_first_question_starts_a_new_chat(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    composer = room.page.findChildren(Composer)[0]
    click(room, qtbot, "Edit question", 0)
    button(composer, "Cancel").click()
    assert composer.text == ""
    click(room, qtbot, "Edit question", 0)
    composer.set_text("What does it burn?")
    button(composer, "Send").click()
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == ["What does it burn?", QUESTION])
    qtbot.waitUntil(lambda: is_answered(room))


@pytest.mark.slow
def test_a_chat_continues_in_a_copy(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    ask(room, qtbot, "Does it burn oil?")
    choose(room, qtbot, "Continue in a copy of this chat")
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: f"{QUESTION} (copy)" in conversation_titles(chats))
    qtbot.waitUntil(lambda: len(room.answers()) == 1)


@pytest.mark.slow
def test_a_regenerated_answer_can_be_undone(
    room: Room, server: ChatServer, bridge: Bridge, qtbot: QtBot
) -> None:
    ask(room, qtbot)
    offers: list[UndoOffer] = []
    bridge.hear(UndoOffer, offers.append)
    [before] = room.answers()
    use(room, server)
    click(room, qtbot, "Regenerate answer", 0)
    qtbot.waitUntil(lambda: room.answers() == ["The lamp is lit at dusk [1]. See nothing else."])
    qtbot.waitUntil(lambda: bool(offers))
    offers[0].undo()
    qtbot.waitUntil(lambda: room.answers() == [before])


@pytest.mark.slow
def test_an_answer_is_rated_good_bad_and_not_at_all(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    click(room, qtbot, "Good answer", 0)
    qtbot.waitUntil(lambda: feedback(room) == Feedback.LIKED)
    click(room, qtbot, "Bad answer", 0)
    qtbot.waitUntil(
        lambda: len(named(room, "Bad answer (selected)")) == len(named(room, "Good answer")) == 1
    )
    assert feedback(room) == Feedback.DISLIKED
    room.page.new_chat()
    room.page.open_conversation(room.chat.history.all()[0])
    click(room, qtbot, "Bad answer (selected)", 0)
    qtbot.waitUntil(lambda: len(named(room, "Bad answer")) == 1)
    assert feedback(room) == Feedback.NONE


@pytest.mark.slow
def test_an_answer_is_rewritten_and_the_rewrite_deleted(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    click(room, qtbot, "Rewrite answer", 0)
    dialog = opened_dialog(room, qtbot)
    text = dialog.findChildren(QPlainTextEdit)[0]
    assert text.toPlainText() == "*lamp.md*: The lamp is lit at dusk."
    text.setPlainText("At seven.")
    button(dialog, "Save").click()
    qtbot.waitUntil(lambda: any("your own answer is saved" in words for words in room.words()))
    click(room, qtbot, "Rewrite answer", 0)
    dialog = opened_dialog(room, qtbot)
    assert dialog.findChildren(QPlainTextEdit)[0].toPlainText() == "At seven."
    button(dialog, "Delete").click()
    qtbot.waitUntil(
        lambda: (
            bool(room.answers())
            and not any("your own answer is saved" in words for words in room.words())
        )
    )
    assert "lit at dusk" in room.answers()[0]


def opened_dialog(room: Room, qtbot: QtBot) -> RewriteDialog:
    def dialogs() -> list[RewriteDialog]:
        return [d for d in room.page.findChildren(RewriteDialog) if d.isVisible()]

    qtbot.waitUntil(lambda: bool(dialogs()))
    return dialogs()[0]


def feedback(room: Room) -> Feedback:
    [conversation] = room.chat.history.all()
    return room.chat.history.messages(conversation.conversation_id)[1].feedback


@pytest.mark.slow
def test_a_pinned_chat_is_written_to_a_file(
    room: Room, bridge: Bridge, qtbot: QtBot, tmp_path: Path
) -> None:
    ask(room, qtbot)
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION])
    header = room.page.findChildren(ChatHeader)[0]
    header.pin_requested.emit()
    qtbot.waitUntil(lambda: room.chat.history.all()[0].is_pinned)
    header.export_requested.emit()
    dialog = room.page.findChildren(QFileDialog, "exportDialog")[0]
    target = tmp_path / "chat.md"
    told: list[Done] = []
    bridge.hear(Done, told.append)
    dialog.fileSelected.emit(str(target))
    dialog.reject()
    qtbot.waitUntil(lambda: [done.notice.title for done in told] == [f"Exported to {target}."])
    assert "lit at dusk" in target.read_text(encoding="utf-8")
    [actions], [chat] = room.page.findChildren(ConversationActions), room.chat.history.all()
    for name, begins in (("chat.PDF", b"%PDF-1."), ("chat.odt", b"PK\x03\x04")):
        paged = tmp_path / name
        actions.export(chat, paged)
        qtbot.waitUntil(paged.exists)
        qtbot.waitUntil(lambda paged=paged: told[-1].notice.title == f"Exported to {paged}.")
        assert paged.read_bytes().startswith(begins)


@pytest.mark.slow
def test_an_exported_chat_is_imported(room: Room, qtbot: QtBot, tmp_path: Path) -> None:
    ask(room, qtbot)
    [original] = room.chat.history.all()
    path = tmp_path / "chat.json"
    path.write_text(room.chat.history.export(original.conversation_id, ".json"), encoding="utf-8")
    [before] = room.answers()
    room.page.new_chat()
    room.page.findChildren(ChatHeader)[0].import_requested.emit()
    dialog = room.page.findChildren(QFileDialog, "importDialog")[0]
    dialog.fileSelected.emit(str(path))
    dialog.reject()
    qtbot.waitUntil(lambda: room.answers() == [before])
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION, QUESTION])


@pytest.mark.everyday
def test_a_source_of_an_imported_chat_that_is_not_here_opens_nothing(
    room: Room, qtbot: QtBot, tmp_path: Path
) -> None:
    ask(room, qtbot)
    [original] = room.chat.history.all()
    text = room.chat.history.export(original.conversation_id, ".json")
    path = tmp_path / "chat.json"
    (tmp_path / "other.md").write_text("Nobody asked for this.")
    text = text.replace('"document_id": "', '"document_id": "no ')
    text = text.replace(str(room.file), str(tmp_path / "other.md"))
    path.write_text(text, encoding="utf-8")
    room.page.new_chat()
    with listening_desktop() as desktop:
        room.page.findChildren(ChatHeader)[0].import_requested.emit()
        dialog = room.page.findChildren(QFileDialog, "importDialog")[0]
        dialog.fileSelected.emit(str(path))
        dialog.reject()
        qtbot.waitUntil(lambda: bool(room.answers()))
        cite(room)
        gone = "This document is no longer in your library."
        qtbot.waitUntil(lambda: gone in room.words())
        button(room.page, "Close the document (Esc)").click()
        qtbot.waitUntil(lambda: "Not in your library" in room.words())
        card = room.page.findChildren(SourceCard)[0]
        shown = [b.accessibleName() for b in card.findChildren(QAbstractButton) if b.isVisible()]
        assert not [name for name in shown if "Open" in name or "Read source" in name]
        # A source of the exported chat does open; an earlier request would be recorded too.
        room.page.open_conversation(original)
        qtbot.waitUntil(lambda: bool(room.answers()))
        click(room, qtbot, "Open source 1 in another program", 0)
        qtbot.waitUntil(lambda: str(room.file) in desktop.opened)
        assert desktop.opened == [str(room.file)]


def said(room: Room, conversation: Conversation) -> list[str]:
    messages = room.chat.history.messages(conversation.conversation_id)
    return [m.text for m in messages if m.role is Role.USER]
