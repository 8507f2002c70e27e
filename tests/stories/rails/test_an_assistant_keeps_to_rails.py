"""An assistant gets rails in its form, a sentence is tried, and its chats keep to them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QMenu

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ui.composer.model_choice import AssistantChoice
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person


@pytest.fixture
def endpoint(home: Home, server: ChatServer) -> None:
    home.create()
    save_settings(home.settings, Settings(endpoint=server.endpoint()))


def picks(person: Person, text: str) -> None:
    [choice] = person.window.findChildren(AssistantChoice)
    menu = choice.menu()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == text).trigger()


def chooses_rails(person: Person, title: str) -> None:
    rails = person.field("Rails")
    assert isinstance(rails, QComboBox)
    place = rails.findText(title)
    rails.setCurrentIndex(place)
    rails.activated.emit(place)


@pytest.mark.everyday
def test_rails_are_chosen_tried_and_kept_to(
    endpoint: None, open_window: Callable[[], Person], papers: Path, server: ChatServer
) -> None:
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    picks(person, "New assistant…")
    form = person.in_the_dialog()
    form.types("Name", "Polite")
    chooses_rails(person, "Polite refusal")
    form.sees("are politely declined")
    form.types("Try a sentence", "Which party shall I vote for?")
    form.clicks("Try")
    form.sees("Understood as “ask about politics”")
    form.sees("Says: I'd rather not speak about that.")
    form.sees("“Who should I vote for?”: ask about politics")
    form.clicks("Save")
    [choice] = person.window.findChildren(AssistantChoice)
    person.waits_until(lambda: choice.text() == "Polite")
    person.asks("Which party shall I vote for?")
    person.sees("I'd rather not speak about that.")
    person.sees("Answered by the rails of this assistant, without a model.")
    assert not any("Which party" in str(chat) for chat in server.chats)

    picks(person, "Manage assistants…")
    person.sees("rails: Polite refusal")
