"""A note is written from the library, opened by its list, and refreshed without losing a word."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ui.reading.reading_pane import ReadingWindow
from tests.asking import ask
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person
from tests.unit.ui.rooms import marked_words


@pytest.fixture
def writer(
    home: Home, server: ChatServer, open_window: Callable[[], Person], papers: Path
) -> Person:
    """A person with an indexed folder and a model, in front of the notes."""
    home.create()
    save_settings(home.settings, Settings(endpoint=server.endpoint()))
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+2")
    person.clicks("My notes")
    return person


def reads_a_source(dialog: Person) -> None:
    """A link opens its document at the cited words, in a window over the dialog."""
    dialog.clicks_words("[1]")
    dialog.waits_until(lambda: len(dialog.place.findChildren(ReadingWindow)) == 1)
    [window] = dialog.place.findChildren(ReadingWindow)
    dialog.waits_until(lambda: "lit at dusk" in " ".join(marked_words(window)))
    window.close()


def reads_the_note(person: Person, path: Path) -> None:
    """The note in a window, whose link leads to the document at the place that the note names."""
    documents = person.app.services.library.documents
    person.waits_until(lambda: any(d.chunk_count for d in documents.below(path)))
    person.clicks("Read")
    person.waits_until(lambda: len(person.window.findChildren(ReadingWindow)) == 1)
    [window] = person.window.findChildren(ReadingWindow)
    reader = person.in_front_of(window)
    reader.sees("Overview")
    reader.clicks_words("[1]")
    # The note names the heading.
    reader.waits_until(lambda: marked_words(window) == ["Lamp"])
    reader.sees("lit at dusk by the keeper")
    window.close()


def writes(person: Person, folder: Path) -> Path:
    """The person writes a note about the lamp."""
    person.clicks("Write a note about…")
    person.sees("Each run sends the question and its sources to")
    person.types("Topic", "lamp")
    field = person.field("Folder")
    assert isinstance(field, QLineEdit)
    field.setText(str(folder))
    person.clicks("Write")
    person.sees("Nothing is written yet.")
    assert not folder.exists()
    reads_a_source(person.in_the_dialog())
    person.clicks("Write the checked")
    person.sees("Written: ")
    return folder / "lamp.md"


@pytest.mark.everyday
def test_a_note_is_written_and_refreshed(
    writer: Person, server: ChatServer, tmp_path: Path
) -> None:
    path = writes(writer, tmp_path / "Notes")
    text = path.read_text()
    assert "The lamp is lit at dusk [[1]](../papers/lamp.md)." in text
    writer.waits_until(lambda: writer.rows("My notes") == [[f"lamp · written by the app · {path}"]])
    reads_the_note(writer, path)
    mine = text.replace("## People\n", "## Mine\n\nHands off.\n\n## People\n\nMine too.\n", 1)
    path.write_text(mine)
    server.answer = "The wick is trimmed twice a night [1]."
    writer.clicks("Refresh…")
    writer.sees("Then:")
    assert ["People · Changed · yours"] in writer.rows("Sections")
    assert path.read_text() == mine
    writer.clicks("Write the checked")
    writer.waits_until(lambda: "The wick is trimmed" in path.read_text())
    after = path.read_text()
    assert "Hands off." in after
    assert "Mine too." in after


def test_nothing_new_is_said(writer: Person, tmp_path: Path) -> None:
    path = writes(writer, tmp_path / "Notes")
    writer.waits_until(lambda: writer.rows("My notes") == [[f"lamp · written by the app · {path}"]])
    writer.clicks("Refresh…")
    writer.sees("The note says the same as before.")


def test_an_answer_in_own_words_stands_there_too(writer: Person) -> None:
    services = writer.app.services
    answer = ask(services, "When is the lamp lit?")
    path = services.chat.history.rewrite(answer, "At dusk, says the keeper.")
    writer.presses("Ctrl+1")
    writer.presses("Ctrl+2")
    row = f"When is the lamp lit? · your wording of an answer · {path}"
    writer.waits_until(lambda: writer.rows("My notes") == [[row]])
    documents = services.library.documents
    writer.waits_until(lambda: any(d.chunk_count for d in documents.below(path)))
    writer.clicks("Read")
    writer.waits_until(lambda: len(writer.window.findChildren(ReadingWindow)) == 1)
    [window] = writer.window.findChildren(ReadingWindow)
    writer.in_front_of(window).sees("At dusk, says the keeper.")
    window.close()
