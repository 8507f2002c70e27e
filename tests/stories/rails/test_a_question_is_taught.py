"""A question of a chat becomes an example of its assistant's rails by one press, and is undone."""

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QMenu

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.paths import Home
from desktop_rag.ui.composer.model_choice import AssistantChoice
from tests.stories.conftest import Person

_TOPICS = """define user ask for the price
  "How much is a ticket?"

define bot tell the price
  "Three euros."

define flow
  user ask for the price
  bot tell the price
"""


def _picks(person: Person, name: str) -> None:
    [choice] = person.window.findChildren(AssistantChoice)
    menu = choice.menu()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == name).trigger()


def _chooses_in_the_menu(person: Person, words: str) -> None:
    person.waits_until(lambda: QApplication.activePopupWidget() is not None)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    [action] = [action for action in menu.actions() if action.text() == words]
    action.trigger()
    menu.close()


@pytest.mark.everyday
def test_a_question_becomes_an_example_and_undo_takes_it_back(
    open_window: Callable[[], Person], home: Home
) -> None:
    folder = home.rails / "Museum"
    folder.mkdir(parents=True)
    topics = folder / "topics.co"
    topics.write_text(_TOPICS)
    person = open_window()
    assistants = person.app.services.chat.assistants
    assistants.add(Assistant("", "Guide", rails=str(folder)))
    assistants.add(Assistant("", "Polite", rails="polite-refusal"))
    person.window.refresh_chats()
    person.presses("Ctrl+1")
    person.waits_until(lambda: person.window.findChildren(AssistantChoice)[0].menu() is not None)
    [choice] = person.window.findChildren(AssistantChoice)
    person.waits_until(lambda: "Guide" in [a.text() for a in choice.choices.actions()])
    _picks(person, "Guide")
    person.asks("Tickets, two of them, please")
    person.sees("Tickets, two of them, please")
    person.clicks("Teach this to a topic")
    _chooses_in_the_menu(person, "Teach this to “ask for the price”")
    person.sees("“ask for the price” knows this sentence now.")
    taught = _TOPICS.replace('ticket?"\n', 'ticket?"\n  "Tickets, two of them, please"\n')
    assert topics.read_text() == taught
    person.clicks("Undo")
    person.waits_until(lambda: topics.read_text() == _TOPICS)
    # Rails of the app can't be taught.
    _picks(person, "Polite")
    person.waits_until(lambda: person._button("Teach this to a topic") is None)  # noqa: SLF001
