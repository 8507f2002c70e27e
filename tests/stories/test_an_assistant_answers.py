"""An assistant is created, answers by its instructions, and is kept after a restart."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit, QMenu, QPlainTextEdit, QRadioButton

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ui.composer.model_choice import AssistantChoice
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"
WISHES = "Answer like a pirate."
FROM_THE_MODEL = "Not from your documents: nothing relevant was found in them."


@pytest.fixture
def endpoint(home: Home, server: ChatServer) -> None:
    home.create()
    save_settings(home.settings, Settings(endpoint=server.endpoint()))


def choice(person: Person) -> AssistantChoice:
    [found] = person.window.findChildren(AssistantChoice)
    return found


def picks(person: Person, text: str) -> None:
    menu = choice(person).menu()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == text).trigger()


def makes_an_open_pirate(person: Person) -> None:
    assert choice(person).isHidden(), "it is a choice once there is an assistant"
    person.chooses_entry("Chat options", "New assistant…")
    person.sees("Added to the app's built-in rules")
    name, wishes = person.field("Name"), person.field("Instructions")
    assert isinstance(name, QLineEdit)
    assert isinstance(wishes, QPlainTextEdit)
    person.types("Name", "Pirate")
    person.types("Instructions", WISHES)
    person.types("Filters", "type:md")
    person.sees("Only MD files")
    buttons = person.window.findChildren(QRadioButton)
    next(b for b in buttons if b.text() == "Also the model's own knowledge").click()
    person.clicks("Save")
    person.waits_until(lambda: choice(person).text() == "Pirate")


@pytest.mark.everyday
def test_an_assistant_is_created_and_answers_by_its_instructions(
    endpoint: None, open_window: Callable[[], Person], papers: Path, server: ChatServer
) -> None:
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    makes_an_open_pirate(person)
    person.asks(QUESTION)
    person.sees("Only MD files.")
    person.sees("test-model · ")
    assert any(WISHES in str(chat) and QUESTION in str(chat) for chat in server.chats)

    server.answer = "The Storting, arr."
    person.asks("Which parliament adopted the fishing quota of 1974?")
    person.sees("The Storting, arr.")
    person.sees(FROM_THE_MODEL)
    person.closes_the_window()

    person = open_window()
    person.waits_until(lambda: bool(person.rows("Chats")))
    assert choice(person).text() == "No assistant"
    person.opens_row("Chats", 0)
    person.sees(FROM_THE_MODEL)
    assert choice(person).text() == "Pirate"

    picks(person, "Manage assistants…")
    person.sees("all documents · only MD files · may answer from its own knowledge")
    person.clicks("Delete")
    person.sees("Deleted “Pirate”.")
    person.waits_until(lambda: choice(person).text() == "No assistant")
    person.clicks("Undo")
    person.waits_until(lambda: choice(person).text() == "Pirate")
