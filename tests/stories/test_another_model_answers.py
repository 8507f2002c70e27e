"""Two endpoints: the model is switched in the chat, and stays switched after a restart."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox

from desktop_rag.core.files.settings_file import load_settings, save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ui.composer.model_choice import ModelChoice
from tests.servers.chat_server import ChatServer
from tests.servers.model_dialects import Dialect
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"


@pytest.fixture
def second() -> ChatServer:
    return ChatServer("At dusk, says the second [1].")


@pytest.fixture
def two_endpoints(home: Home, server: ChatServer, second: ChatServer) -> None:
    home.create()
    server.dialect = Dialect(context_tokens=5000)
    settings = Settings(endpoint=server.endpoint(), other_endpoints=(second.endpoint(model="two"),))
    save_settings(home.settings, settings)


@pytest.mark.everyday
def test_another_model_answers(
    two_endpoints: None,
    person: Person,
    papers: Path,
    server: ChatServer,
    second: ChatServer,
    home: Home,
) -> None:
    with second:
        person.drops(papers)
        person.sees("2 searchable")
        person.presses("Ctrl+1")
        person.asks(QUESTION)
        person.sees("test-model · ")

        [choice] = person.window.findChildren(ModelChoice)
        assert choice.text() == "test-model"
        next(a for a in choice.menu().actions() if a.text() == "two").trigger()
        assert choice.text() == "two"
        models = person.app.services.chat.models
        person.waits_until(lambda: models.endpoint.model == "two")
        person.asks(QUESTION)
        person.sees("At dusk, says the second")
        person.waits_until(lambda: load_settings(home.settings)[0].endpoint.model == "two")

        # The first was measured in the background in the meantime.
        person.presses("Ctrl+4")
        person.sees("Helper model")
        box = person.field("Endpoint")
        assert isinstance(box, QComboBox)
        place = box.findData(server.base_url)
        box.setCurrentIndex(place)
        box.activated.emit(place)
        person.sees("Reads 5,000 tokens.")
        person.closes_the_window()


def test_two_models_can_be_compared(two_endpoints: None, person: Person) -> None:
    person.presses("Ctrl+1")
    [choice] = person.window.findChildren(ModelChoice)
    next(a for a in choice.menu().actions() if a.text() == "Compare models…").trigger()
    person.sees("Advanced")
    person.sees("Is the other model better?")


def choose(person: Person, beginning: str) -> ModelChoice:
    """The choice of the model, after an entry of its menu was chosen."""
    [choice] = person.window.findChildren(ModelChoice)
    entries = choice.menu().actions()
    next(a for a in entries if a.isEnabled() and a.text().startswith(beginning)).trigger()
    return choice


def test_excerpts_only_are_of_one_chat_unless_no_model_is_in_use(
    two_endpoints: None, open_window: Callable[[], Person], papers: Path
) -> None:
    first = open_window()
    first.drops(papers)
    first.sees("2 searchable")
    first.presses("Ctrl+1")
    choice = choose(first, "Excerpts only in this chat")
    assert choice.text() == "Excerpts only in this chat"
    first.asks(QUESTION)
    first.sees("Excerpts from your documents")
    first.clicks("New chat")
    assert choice.text() == "test-model"
    first.opens_settings("Models")
    first.clicks("Use excerpts only")
    first.sees("Use for answers")
    first.closes_the_window()

    person = open_window()
    [choice] = person.window.findChildren(ModelChoice)
    person.waits_until(lambda: choice.text() == "Excerpts only, no model")
    choose(person, "test-model")
    assert choice.text() == "test-model"
    person.clicks("New chat")
    assert choice.text() == "test-model"
    person.asks(QUESTION)
    person.sees("test-model · ")
    person.waits_until(lambda: len(person.rows("Chats")) == 2)
    person.opens_row("Chats", 1)
    person.waits_until(lambda: choice.text() == "Excerpts only in this chat")
    assert person.app.services.chat.models.endpoint.model == "test-model"
