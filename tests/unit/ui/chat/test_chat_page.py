"""The chat page on the real chat: ask, stop, retry, switch conversations, open sources."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import Message, MessageState, Role, SourceRef
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.settings import Settings
from desktop_rag.ui.chat.chat_page import ChatHeader
from desktop_rag.ui.chat.conversation_list import ConversationList
from desktop_rag.ui.chat.empty_chat import EmptyChat
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.documents.sources_panel import PassageText, SourceCard, SourcesPanel
from desktop_rag.ui.foundation.ask_request import UndoOffer, Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.widgets.controls import ElidedLabel
from tests.servers.chat_server import ChatServer
from tests.unit.ui.chat_room import (
    QUESTION,
    Room,
    ask,
    cite,
    click,
    conversation_titles,
    is_answered,
    named,
    use,
)
from tests.unit.ui.rooms import button, marked_in, marked_words, texts


@pytest.mark.slow
def test_an_empty_chat_says_what_can_be_asked(room: Room, bridge: Bridge, qtbot: QtBot) -> None:
    wanted: list[Wanted] = []
    bridge.hear(Wanted, wanted.append)
    room.page.apply(Settings())
    qtbot.waitUntil(lambda: any("Ask anything about your 1 file." in t for t in room.words()))
    # At once before the press: the questions of the library itself come at some time.
    room.page.findChildren(EmptyChat)[0].show_examples([QUESTION])
    button(room.page, QUESTION).click()
    qtbot.waitUntil(lambda: is_answered(room))
    assert not room.page.findChildren(EmptyChat)[0].isVisible()
    room.page.findChildren(EmptyChat)[0].writing_requested.emit()
    qtbot.waitUntil(lambda: wanted == [Wanted.WRITTEN_ANSWERS])


@pytest.mark.slow
def test_where_excerpts_are_chosen_no_model_is_said_to_be_missing(
    room: Room, server: ChatServer
) -> None:
    room.page.apply(Settings(other_endpoints=(server.endpoint(),)))
    assert not any("No model is connected" in text for text in room.words())
    assert any(text.startswith("Excerpts are chosen above") for text in room.words())
    use(room, server)
    assert not any(text.startswith("Excerpts are chosen above") for text in room.words())


@pytest.mark.slow
def test_while_the_documents_are_searched_no_answer_is_said_to_lack_sources(
    room: Room, qtbot: QtBot
) -> None:
    panel = room.page.findChildren(SourcesPanel)[0]
    room.page.ask(QUESTION)
    assert "This answer has no sources." not in texts(panel)
    qtbot.waitUntil(lambda: is_answered(room))


@pytest.mark.slow
def test_without_an_endpoint_the_answer_is_excerpts(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    assert "lit at dusk" in room.answers()[0]
    assert any(text.startswith("Excerpts from your documents") for text in room.words())
    panel = room.page.findChildren(SourcesPanel)[0]
    assert panel.isVisible()
    assert [source.title for source in panel.sources] == ["Lamp"]


@pytest.mark.slow
def test_an_answer_streams_in_and_its_sources_open(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    use(room, server)
    ask(room, qtbot)
    assert room.answers() == ["The lamp is lit at dusk [1]. See nothing else."]
    assert any(text.startswith("test-model") for text in room.words())
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: QUESTION in conversation_titles(chats))


@pytest.mark.slow
def test_a_citation_is_read_beside_the_chat_and_chooses_its_card(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    use(room, server)
    ask(room, qtbot)
    cite(room)
    pane = room.page.reading.pane
    qtbot.waitUntil(lambda: "The lamp is lit at dusk." in marked_words(pane))
    assert pane.isVisible()
    card = room.page.findChildren(SourceCard)[0]
    assert card.property("chosen") is True
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    assert not pane.isVisible()
    assert card.isVisible()


@pytest.mark.slow
def test_each_citation_leads_to_the_words_it_stands_for(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    """The card marks what each of the sentences rests on, and a press opens the one pressed."""
    server.answer = "What burns is oil [1]. The lamp is lit at dusk [1]."
    use(room, server)
    ask(room, qtbot)
    passage = room.page.findChildren(PassageText)[0]
    qtbot.waitUntil(lambda: marked_in(passage).strip() == "The lamp is lit at dusk.It burns oil.")
    cite(room)
    pane = room.page.reading.pane
    qtbot.waitUntil(lambda: marked_words(pane) == ["It burns oil."])


@pytest.mark.slow
def test_a_document_makes_way_for_the_sources_of_another_chat(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    use(room, server)
    ask(room, qtbot)
    cite(room)
    pane = room.page.reading.pane
    qtbot.waitUntil(pane.isVisible)
    room.page.new_chat()
    assert not pane.isVisible()
    ask(room, qtbot)
    assert room.page.findChildren(SourcesPanel)[0].isVisible()


@pytest.mark.slow
def test_the_sources_of_an_earlier_answer_stay_while_the_last_is_checked(
    room: Room, qtbot: QtBot
) -> None:
    first = SourceRef(1, "d1", "/lamp.md", "Lamp", Anchor(), "Text.", 0.5)
    second = replace(first, title="Oil")
    asked = Message("m1", "c1", Role.USER, QUESTION, 1.0)
    earlier = Message("m2", "c1", Role.ASSISTANT, "At dusk [1].", 2.0, sources=(first,))
    last = replace(earlier, message_id="m4", sources=(second,))
    session = room.page.sessions.current
    session.model.load([asked, earlier, replace(asked, message_id="m3"), last])
    panel = room.page.findChildren(SourcesPanel)[0]
    assert panel.sources == (second,)
    qtbot.waitUntil(lambda: len(named(room, "1 source")) == 2)
    named(room, "1 source")[0].click()
    session.model.change(replace(last, follow_ups=("And what does it burn?",)))
    assert panel.sources == (first,)
    session.model.change(replace(last, sources=(replace(second, is_cited=True),)))
    assert panel.sources[0].title == "Oil"


@pytest.mark.slow
def test_a_missing_source_is_an_error(
    room: Room, bridge: Bridge, server: ChatServer, qtbot: QtBot
) -> None:
    use(room, server)
    ask(room, qtbot)
    room.file.unlink()
    errors: list[AppError] = []
    bridge.hear(AppError, errors.append)
    click(room, qtbot, "Open source 1 in another program", 0)
    qtbot.waitUntil(lambda: bool(errors))
    assert "no longer exists" in errors[0].title


@pytest.mark.slow
def test_stop_keeps_what_has_arrived_and_it_can_be_asked_again(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    server.pause_s = 0.1
    use(room, server)
    room.page.ask(QUESTION)
    qtbot.waitUntil(lambda: any("The lamp" in text for text in room.answers()))
    button(room.page, "Stop (Esc)").click()
    qtbot.waitUntil(lambda: any(text.startswith("stopped") for text in room.words()))
    server.pause_s = 0.0
    button(room.page, "Regenerate answer").click()
    qtbot.waitUntil(lambda: room.answers() == ["The lamp is lit at dusk [1]. See nothing else."])


@pytest.mark.slow
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

    def states() -> list[MessageState]:
        messages = room.chat.history.messages(conversation.conversation_id)
        return [message.state for message in messages]

    # The answer is stored a moment after it is shown.
    qtbot.waitUntil(lambda: states() == [MessageState.DONE, MessageState.DONE])


@pytest.mark.slow
def test_excerpts_take_the_place_of_an_answer_that_failed(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    server.mode, server.misbehaves_times = "status", 100
    server.status = 401
    use(room, server)
    room.page.ask(QUESTION)
    qtbot.waitUntil(lambda: "Show excerpts instead" in visible_buttons(room), timeout=15_000)
    button(room.page, "Show excerpts instead").click()
    qtbot.waitUntil(
        lambda: any(text.startswith("Excerpts from your documents") for text in room.words())
    )
    [conversation] = room.chat.history.all()
    [_, answer] = room.chat.history.messages(conversation.conversation_id)
    assert (answer.state, answer.is_excerpts) == (MessageState.DONE, True)
    assert "Show excerpts instead" not in visible_buttons(room)


def visible_buttons(room: Room) -> list[str]:
    return [b.text() for b in room.page.findChildren(QAbstractButton) if b.isVisible()]


@pytest.mark.slow
def test_an_answer_continues_while_another_chat_is_shown(
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


@pytest.mark.slow
def test_a_deleted_chat_comes_back_by_undo(room: Room, bridge: Bridge, qtbot: QtBot) -> None:
    ask(room, qtbot)
    offers: list[UndoOffer] = []
    bridge.hear(UndoOffer, offers.append)
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION])
    chats.delete_current()
    qtbot.waitUntil(lambda: conversation_titles(chats) == [])
    assert [offer.notice.title for offer in offers] == [f"Deleted “{QUESTION}”."]
    assert room.answers() == []
    offers[0].undo()
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION] and is_answered(room))


@pytest.mark.slow
def test_a_renamed_chat_has_its_title_everywhere(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    chats = room.page.findChildren(ConversationList)[0]
    qtbot.waitUntil(lambda: conversation_titles(chats) == [QUESTION])
    [conversation] = room.chat.history.all()
    chats.renamed.emit(conversation.conversation_id, "Lamp & <b>lens</b>")
    qtbot.waitUntil(lambda: conversation_titles(chats) == ["Lamp & <b>lens</b>"])
    assert "Lamp & <b>lens</b>" in room.words()


@pytest.mark.slow
def test_a_question_from_outside_is_written_not_asked(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    room.page.write_question("Is it oil?")
    assert room.page.findChildren(Composer)[0].text == "Is it oil?"
    [conversation] = room.chat.history.all()
    roles = [m.role for m in room.chat.history.messages(conversation.conversation_id)]
    assert roles == [Role.USER, Role.ASSISTANT]
    qtbot.waitUntil(lambda: room.answers() == [])


@pytest.mark.slow
def test_a_narrow_window_shows_one_side_at_a_time(room: Room, qtbot: QtBot) -> None:
    ask(room, qtbot)
    panel = room.page.findChildren(SourcesPanel)[0]
    chats = room.page.findChildren(ConversationList)[0]
    assert panel.isVisible()
    assert chats.isVisible()
    room.page.resize(620, 600)
    qtbot.waitUntil(lambda: panel.isVisible() and not chats.isVisible())
    header = room.page.findChildren(ChatHeader)[0]
    qtbot.waitUntil(lambda: header.minimumSizeHint().width() <= header.width())
    title = header.findChildren(ElidedLabel, "chatTitle")[0]
    qtbot.waitUntil(lambda: title.width() >= header.width() // 4)
    button(room.page, "Show or hide chats").click()
    assert chats.isVisible()
    assert not panel.isVisible()
    button(room.page, "Show or hide sources").click()
    assert panel.isVisible()
    assert not chats.isVisible()
    button(room.page, "Close sources").click()
    assert not panel.isVisible()


@pytest.mark.slow
def test_a_conversation_without_sources_has_no_panel_until_there_are_some(
    room: Room, qtbot: QtBot
) -> None:
    panel = room.page.findChildren(SourcesPanel)[0]
    ask(room, qtbot, "Hello!")
    qtbot.waitUntil(lambda: not panel.isVisible())
    button(room.page, "Show or hide sources").click()
    assert panel.isVisible()
    button(room.page, "Close sources").click()
    button(room.page, "Show or hide sources").click()
    assert panel.isVisible()


@pytest.mark.slow
def test_the_panel_opens_with_the_first_sources_and_stays(room: Room, qtbot: QtBot) -> None:
    panel = room.page.findChildren(SourcesPanel)[0]
    ask(room, qtbot, "Hello!")
    qtbot.waitUntil(lambda: not panel.isVisible())
    ask(room, qtbot)
    qtbot.waitUntil(panel.isVisible)
    ask(room, qtbot, "Hello!")
    assert panel.isVisible()


@pytest.mark.slow
def test_an_open_panel_shows_the_nearest_passages_of_an_answer_without_sources(
    room: Room, qtbot: QtBot
) -> None:
    panel = room.page.findChildren(SourcesPanel)[0]
    ask(room, qtbot)
    qtbot.waitUntil(panel.isVisible)
    model = MessageModel()
    [asked] = room.chat.history.all()
    question, answer = room.chat.history.messages(asked.conversation_id)
    model.load([question, replace(answer, sources=(), nearest=answer.sources)])
    room.page.reading.follow(model)
    assert "Nearest passages" in texts(panel)
    assert "This answer has no sources." not in texts(panel)


@pytest.mark.slow
def test_the_sources_stay_while_the_next_question_is_asked(
    room: Room, server: ChatServer, qtbot: QtBot
) -> None:
    use(room, server)
    panel = room.page.findChildren(SourcesPanel)[0]
    seen: list[bool] = []
    ask(room, qtbot)
    assert panel.isVisible()
    width = panel.width()
    shown = panel.sources
    room.page.sessions.messages_changed.connect(lambda: seen.append(panel.isVisible()))
    room.page.ask("How is it lit?")
    assert panel.isVisible()
    assert panel.sources == shown
    qtbot.waitUntil(lambda: len(seen) > 2 and is_answered(room))
    assert all(seen)
    assert panel.width() == width
