"""Rails are written in the window: topics, a sentence tried, saved, and edited again."""

import os
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QInputDialog, QMessageBox

from desktop_rag.core.paths import Home
from tests.stories.conftest import Person

_PRICE = 'define user ask for the price\n  "How much is a ticket?"\n'
_BY_HAND = f'{_PRICE}\ndefine flow\n  user ask for the price\n  $n = 1\n  bot "Three euros."\n'


def _names_rails(person: Person, name: str) -> None:
    person.clicks("New rails…")
    dialog = person.in_the_dialog().place
    assert isinstance(dialog, QInputDialog)
    dialog.setTextValue(name)
    dialog.accept()
    # A desktop would restore the focus.
    person.window.activateWindow()


def _happens(person: Person, words: str) -> None:
    reply = person.field("What happens")
    assert isinstance(reply, QComboBox)
    place = reply.findText(words)
    reply.setCurrentIndex(place)
    reply.activated.emit(place)


def _answers_box(person: Person, words: str) -> None:
    box = person.in_the_dialog().place
    assert isinstance(box, QMessageBox)
    next(button for button in box.buttons() if button.text() == words).click()


def _adds(person: Person, name: str, *examples: str) -> None:
    person.clicks("Add topic")
    person.types("Name of the topic", name)
    for example in examples:
        person.types("Example sentences", example)
        QTest.keyClick(person.field("Example sentences"), Qt.Key.Key_Return)


def test_rails_are_written_tried_saved_and_edited_again(
    open_window: Callable[[], Person], home: Home
) -> None:
    person = open_window()
    person.opens_settings("Rails")
    person.sees("Begin with “New rails…”")
    _names_rails(person, "Museum")
    person.sees("No topics yet.")
    _adds(person, "ask for the price", "How much is a ticket?", "What does it cost to get in?")
    _happens(person, "Say a given text")
    person.sees("says nothing yet")
    person.types("The text", "Three euros.")
    _adds(person, "ask about politics", "Who should I vote for?", "Which party is best?")
    _happens(person, "Refuse politely")
    _adds(person, "ask for a tour", "Can somebody show us around?")
    _happens(person, "Ask back")
    person.types("The question", "How many are you?")
    person.types("Sentence to try", "How much is a ticket?")
    person.clicks("Try")
    person.sees("Says: Three euros.")
    person.sees("user_intent     ask for the price")
    person.types("Sentence to try", " for my sister")
    person.clicks("Try")
    person.sees("“How much is a ticket?”: ask for the price")
    topics = home.rails / "Museum" / "topics.co"
    assert not topics.read_text()
    person.presses("Ctrl+S")
    person.sees("Saved.")
    assert topics.read_text().startswith(
        'define user ask for the price\n  "How much is a ticket?"\n'
    )
    # In their order, removed, put back by Undo.
    person.clicks("Move up")
    person.clicks("Remove topic")
    person.waits_until(lambda: len(person.rows("Topics")) == 2)
    person.clicks("Undo")
    person.sees("Not saved yet.")
    person.clicks("Save")
    person.sees("Saved.")
    forms = [line for line in topics.read_text().splitlines() if line.startswith("define user")]
    assert forms == [f"define user ask {what}" for what in ("for the price", "for a tour",
                                                            "about politics")]  # fmt: skip


@pytest.mark.slow
def test_what_is_unsaved_is_asked_about_and_kept_over_a_restart(
    open_window: Callable[[], Person], home: Home
) -> None:
    person = open_window()
    person.opens_settings("Rails")
    _names_rails(person, "Museum")
    _adds(person, "ask for the price", "How much is a ticket?")
    _names_rails(person, "Library")
    _answers_box(person, "Cancel")
    assert not (home.rails / "Library").exists()
    person.sees("Not saved yet.")
    person.closes_the_window()
    again = open_window()
    again.opens_settings("Rails")
    again.sees("These changes were not saved last time.")
    _names_rails(again, "Library")
    _answers_box(again, "Save")
    again.sees("No topics yet.")
    assert "How much is a ticket?" in (home.rails / "Museum" / "topics.co").read_text()


def test_what_was_written_by_hand_is_shown_with_its_place_and_never_changed(
    open_window: Callable[[], Person], home: Home
) -> None:
    folder = home.rails / "Hand"
    folder.mkdir(parents=True)
    (folder / "topics.co").write_text(_BY_HAND)
    person = open_window()
    person.opens_settings("Rails")
    person.sees("topics.co:6:3: A flow that is more than a topic. It is shown as it is")
    person.sees("$n = 1")
    assert "Add topic" not in person.screen()
    (folder / "topics.co").write_text(_BY_HAND.replace("  $n = 1\n", "  $n = = 1\n"))
    person.clicks("Read the folder again")
    person.sees("topics.co:6:8: ")
    # Written as topics, it can be edited; changed on the disk meanwhile, it is not overwritten.
    plain = _BY_HAND.replace("  $n = 1\n", "").replace(
        '"Three euros."', "answer from the documents"
    )
    (folder / "topics.co").write_text(plain)
    person.clicks("Read the folder again")
    person.sees("Add topic")
    person.types("Example sentences", " ")
    _happens(person, "Refuse politely")
    (folder / "topics.co").write_text(_BY_HAND)
    os.utime(folder / "topics.co")
    person.clicks("Save")
    person.sees("topics.co was changed by another program.")
    assert (folder / "topics.co").read_text() == _BY_HAND
