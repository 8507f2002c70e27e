"""A question is asked again in other words: the model sees the earlier answer while allowed."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialog

from desktop_rag.core.settings import Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

FIRST = "When is the lamp of the lighthouse lit?"
ALIKE = "At what time do they light the lamp of the lighthouse?"
LINE = "Guided by 1 earlier answer"


@pytest.fixture
def asker(person: Person, papers: Path, server: ChatServer) -> Person:
    """A person who has asked one question."""
    person.drops(papers)
    person.sees("2 searchable")
    settings = Settings(endpoint=server.endpoint())
    person.app.services.chat.apply(settings)
    person.window.show_settings(settings)
    asks_anew(person, FIRST)
    return person


def asks_anew(person: Person, question: str) -> None:
    """Ask in a new chat and wait for the answer."""
    before = person.app.services.chat.memory.count()
    person.presses("Ctrl+N")
    person.sees("Ask your documents")
    person.asks(question)
    person.sees("Cited · 1")
    person.waits_until(lambda: person.app.services.chat.memory.count() == before + 1)


def prompts_with_examples(server: ChatServer) -> int:
    return sum("<example-" in str(body.get("messages")) for body in server.chats)


@pytest.mark.everyday
def test_an_answer_is_remembered_shown_and_forgotten(asker: Person, server: ChatServer) -> None:
    assert LINE not in asker.screen()
    asks_anew(asker, ALIKE)
    asker.sees(LINE)
    assert prompts_with_examples(server) == 1
    asker.clicks(LINE)
    asker.sees(FIRST)
    asker.clicks("Delete")
    asker.sees("Deleted")
    asker.waits_until(lambda: asker.app.services.chat.memory.count() == 1)
    asker.clicks("Close")
    assert not [d for d in asker.window.findChildren(QDialog) if d.isVisible()]
    asker.window.activateWindow()
    asker.waits_until(asker.window.isActiveWindow)


def test_when_off_the_model_sees_no_earlier_answers(asker: Person, server: ChatServer) -> None:
    asker.opens_settings("Privacy")
    asker.sees("1 answer remembered")
    asker.clicks("Learn from earlier answers")
    asker.presses("Ctrl+1")
    asker.presses("Ctrl+N")
    asker.asks(ALIKE)
    asker.sees("Cited · 1")
    assert prompts_with_examples(server) == 0
    assert asker.app.services.chat.memory.count() == 1
