"""Commands in the window: a program is registered, proposed, run once; a note is saved, undone."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QMenu, QPushButton, QSpinBox

from desktop_rag.features.rails.ui.command_card import CommandCard
from desktop_rag.ui.composer.model_choice import AssistantChoice
from tests.stories.conftest import Person

SCRIPT = '#!/bin/sh\necho "$@" >> runs.txt\necho "Copied $1."\n'


@pytest.fixture(autouse=True)
def persons_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


def picks(person: Person, text: str) -> None:
    [choice] = person.window.findChildren(AssistantChoice)
    menu = choice.menu()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == text).trigger()


def returns(person: Person) -> None:
    """Wait until the dialog is gone, and the window has the focus as a desktop would restore it."""
    person.waits_until(lambda: QApplication.activeModalWidget() is None)
    person.window.activateWindow()
    person.waits_until(person.window.isActiveWindow)


def makes_a_helper(person: Person) -> None:
    person.presses("Ctrl+1")
    picks(person, "New assistant…")
    form = person.in_the_dialog()
    form.types("Name", "Helper")
    rails = form.field("Rails")
    assert isinstance(rails, QComboBox)
    place = rails.findText("Commands with consent")
    rails.setCurrentIndex(place)
    rails.activated.emit(place)
    form.clicks("Save")
    [choice] = person.window.findChildren(AssistantChoice)
    person.waits_until(lambda: choice.text() == "Helper")
    returns(person)


def card(person: Person) -> CommandCard:
    [found] = person.window.findChildren(CommandCard)
    return found


def button(person: Person, text: str) -> QPushButton:
    return next(b for b in card(person).findChildren(QPushButton) if b.text() == text)


@pytest.mark.everyday
@pytest.mark.skipif(sys.platform == "win32", reason="runs a script of a POSIX shell")
def test_a_program_is_registered_proposed_and_run_once(person: Person, tmp_path: Path) -> None:
    script, folder = tmp_path / "copy.sh", tmp_path / "copies"
    folder.mkdir()
    script.write_text(SCRIPT)
    script.chmod(0o755)
    registers(person, script, folder)
    makes_a_helper(person)
    person.asks('Copy "a & b; rm *" for me')
    person.sees("Run “Copy”? Nothing is done before you agree.")
    person.waits_until(lambda: card(person).isVisible())
    for shown in (str(script), "a & b; rm *", str(folder), "20 seconds at most"):
        person.sees(shown)
    assert not list(folder.iterdir())
    # Neither Enter nor a key typed on does anything: the question field has the focus.
    agree = button(person, "Do it")
    assert [agree.isDefault(), agree.autoDefault(), agree.hasFocus()] == [False] * 3
    QTest.mouseDClick(agree, Qt.MouseButton.LeftButton)
    QTest.mouseClick(agree, Qt.MouseButton.LeftButton)
    person.sees("Copied a & b; rm *.")
    person.sees("Done.")
    assert (folder / "runs.txt").read_text() == "a & b; rm *\n"
    assert not agree.isVisible()

    person.opens_settings("Commands")
    person.sees('“Copy "a & b; rm *" for me”')
    person.clicks("Forget: Run “Copy”")
    person.sees("Nothing yet.")
    person.presses("Ctrl+1")
    person.waits_until(lambda: not card(person).isVisible())


def registers(person: Person, script: Path, folder: Path) -> None:
    person.opens_settings("Commands")
    person.sees("No program yet.")
    person.clicks("Register a program…")
    form = person.in_the_dialog()
    form.types("Name", "Copy")
    form.types("Program", "copy.sh")
    form.types("Arguments", "{what:text}")
    form.types("Sentences", "copy {what} for me")
    form.types("Folder", str(folder))
    [seconds] = form.place.findChildren(QSpinBox)
    seconds.setValue(20)
    form.clicks("Save")
    form.sees("Give the whole path of the program.")
    field = form.field("Program")
    QTest.keySequence(field, "Ctrl+A")
    form.types("Program", str(script))
    form.clicks("Save")
    returns(person)
    person.sees("Say: copy {what} for me")


def test_an_answer_becomes_a_note_by_keyboard_and_is_taken_back(
    person: Person, papers: Path, persons_home: Path
) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    makes_a_helper(person)
    person.asks("When is the lamp lit?")
    person.sees("lit at dusk")
    person.waits_until(lambda: not person.window.chat_page.is_answering)
    person.asks("Save this as a note")
    person.waits_until(lambda: card(person).isVisible())
    note = persons_home / "Notes" / "When is the lamp lit.md"
    person.sees(str(note))
    decline, agree = button(person, "Don't"), button(person, "Do it")
    decline.setFocus()
    QTest.keyClick(decline, Qt.Key.Key_Space)
    person.sees("Declined.")
    assert not note.exists()

    person.asks("Save this as a note")
    person.waits_until(lambda: agree.isVisible() and agree.isEnabled())
    agree.setFocus()
    QTest.keyClick(agree, Qt.Key.Key_Space)
    person.sees(f"Saved as {note}")
    assert "lit at dusk" in note.read_text("utf-8")
    person.clicks("Undo")
    person.sees("Undone.")
    assert not note.exists()


def test_a_proposal_does_not_outlive_the_app(
    open_window: Callable[[], Person], tmp_path: Path
) -> None:
    new = tmp_path / "new papers"
    new.mkdir()
    person = open_window()
    makes_a_helper(person)
    person.asks(f'Add the folder "{new}"')
    person.waits_until(lambda: card(person).isVisible())
    person.closes_the_window()
    again = open_window()
    again.opens_settings("Commands")
    again.sees("Not decided, so not done")
    assert os.fspath(new) not in {str(s.path) for s in again.app.services.library.sources.all()}
