"""A question about something that is in none of the documents, with and without a model."""

import json
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from desktop_rag.core.conversation import NEAREST
from desktop_rag.core.settings import Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

OFF_TOPIC = "Which chess opening did the grandmaster play in the final?"


def test_no_answer_is_found_and_the_nearest_passages_are_shown_on_request(
    person: Person, papers: Path
) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.presses("Ctrl+1")
    person.asks(OFF_TOPIC)
    person.sees("Nothing in your documents seems to be about this question.")
    assert NEAREST not in person.screen()
    person.clicks("Show the nearest passages")
    person.sees(NEAREST)


def test_a_model_reads_the_few_files_and_finds_nothing(
    person: Person, papers: Path, server: ChatServer
) -> None:
    person.app.services.chat.apply(replace(Settings(), endpoint=server.endpoint()))
    server.answer = "The sources do not say that."
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.presses("Ctrl+1")
    person.asks(OFF_TOPIC)
    person.sees("The whole text was read as well.")
    person.sees("The sources do not say that.")
    # It may be measured in the background, with sample text.
    asked = [json.dumps(body) for body in server.chats if OFF_TOPIC in json.dumps(body)]
    assert any("a part of a document" in body for body in asked)


def test_in_an_empty_library_the_answer_offers_to_add_a_folder(person: Person) -> None:
    person.asks("When does the lease end?")
    person.sees("There are no documents yet.")
    person.waits_until(lambda: not person.window.chat_page.is_answering)
    person.sees("Add folder…")
    assert "No file" not in person.screen()


def test_a_question_waits_for_the_first_folder(person: Person, papers: Path) -> None:
    person.asks("When is the lamp lit?")
    person.clicks("Add folder…")
    person.waits_until(lambda: bool(person.window.findChildren(QFileDialog)))
    [dialog] = person.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(papers))
    dialog.close()
    assert person.window.pages.currentWidget() is person.window.chat_page
    person.sees("The lamp is lit at dusk by the keeper.")
    person.sees_no_longer("There are no documents yet.")
    assert "Undo" not in person.screen()


def test_a_question_during_the_first_reading_is_asked_again(person: Person, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(200):
        (folder / f"{n}.md").write_text(f"# Page {n}\n\nThe ferry leaves at noon.\n" * 30)
    lamp = folder / "zz.md"
    lamp.write_text("# Lamp\n\nThe lamp of the lighthouse is lit at dusk by the keeper.\n" * 2)
    person.presses("Ctrl+1")
    person.clicks("Add folder…")
    person.waits_until(lambda: bool(person.window.findChildren(QFileDialog)))
    [dialog] = person.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(folder))
    dialog.close()
    person.waits_until(lambda: person.app.services.library.documents.counts().searchable > 0)
    person.asks("When is the lamp of the lighthouse lit?")
    person.sees("lit at dusk by the keeper.")
    person.sees("1 source")


def test_a_large_first_folder_is_asked_about(person: Person, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.mkdir()
    for n in range(1_001):
        (large / f"{n}.txt").write_text("a", encoding="utf-8")
    person.presses("Ctrl+1")
    person.clicks("Add folder…")
    person.waits_until(lambda: bool(person.window.findChildren(QFileDialog)))
    [dialog] = person.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(large))
    dialog.close()
    asked = person.in_the_dialog()
    asked.sees("Cancel")
    asked.clicks("Cancel")
    assert not person.app.services.library.sources.all()
