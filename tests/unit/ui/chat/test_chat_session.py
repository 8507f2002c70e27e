"""A conversation when the store fails: the question stays and can be asked again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import MessageState
from desktop_rag.core.question import Question
from desktop_rag.store.contract.records import ConversationStore
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.foundation.bridge import Bridge
from tests.unit.ui.rooms import make_chat, opened_store


@pytest.fixture
def closed_chat(tmp_path: Path) -> Iterator[Chat]:
    """A chat whose store is closed."""
    with opened_store(tmp_path) as database:
        chat = make_chat(database, None)
    yield chat
    chat.close()


@pytest.mark.slow
def test_a_question_that_cannot_be_stored_stays_and_is_sent_again(
    bridge: Bridge, closed_chat: Chat, qtbot: QtBot
) -> None:
    session = ChatSession(bridge, closed_chat)
    for attempt in (lambda: session.ask(Question("Why?")), session.retry):
        with qtbot.waitSignal(session.answered):
            attempt()
            assert session.is_busy
        assert not session.is_busy
        assert session.conversation_id == ""
        assert session.model.rows == 2
        assert session.model.turn(0).message.text == "Why?"
        answer = session.model.turn(-1).message
        assert answer.state is MessageState.FAILED
        assert answer.error_title == "The library is closed."


def test_a_second_retry_while_one_is_under_way_does_nothing(
    bridge: Bridge, closed_chat: Chat, qtbot: QtBot
) -> None:
    session = ChatSession(bridge, closed_chat)
    with qtbot.waitSignal(session.answered):
        session.ask(Question("Why?"))
        session.retry()
    assert session.model.rows == 2


def test_a_stored_conversation_knows_its_assistant(bridge: Bridge, tmp_path: Path) -> None:
    with opened_store(tmp_path) as database:
        stored = ConversationStore(database).add("Lamps", "c", "k")
        session = ChatSession(bridge, make_chat(database, None), stored)
        assert (session.collection_id, session.assistant_id) == ("c", "k")


def test_a_stored_conversation_knows_its_collection(bridge: Bridge, tmp_path: Path) -> None:
    with opened_store(tmp_path) as database:
        session = ChatSession(bridge, make_chat(database, None))
        session.load()
        assert session.collection_id == ""
        assert session.conversation is None
