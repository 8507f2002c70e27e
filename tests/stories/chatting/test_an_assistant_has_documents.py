"""An assistant gets a folder and a file of its own, answers from these only, and goes with them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QListWidget, QMenu

from desktop_rag.ui.composer.model_choice import AssistantChoice
from desktop_rag.ui.personal.assistant_dialog import OwnDocumentsField
from tests.stories.conftest import Person

LEASE = "The lease of the harbour office was signed by Ingrid Holm in March 2017."
QUESTION = "Who signed the lease of the harbour office?"


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "lease.md").write_text(f"# Lease\n\n{LEASE}")
    return folder


def choice(person: Person) -> AssistantChoice:
    [found] = person.window.findChildren(AssistantChoice)
    return found


def picks(person: Person, text: str) -> None:
    menu = choice(person).menu()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == text).trigger()


def adds(person: Person, path: Path) -> None:
    """Choose a file or folder, as the desktop's dialog would give it."""
    person.window.findChildren(OwnDocumentsField)[-1].add_paths([str(path)])


def shown(person: Person) -> list[str]:
    found = [w for w in person.window.findChildren(QListWidget) if w.objectName() == "ownDocuments"]
    return [found[-1].item(row).text() for row in range(found[-1].count())] if found else []


def names(person: Person) -> list[str]:
    return [source.name for source in person.app.services.library.sources.all()]


def test_an_assistant_has_documents_of_its_own(
    open_window: Callable[[], Person], papers: Path, letters: Path
) -> None:
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    picks(person, "New assistant…")
    person.sees("Files, folders and links for this assistant.")
    person.types("Name", "Clerk")
    adds(person, letters)
    assert shown(person) == ["letters · added when saved"]
    person.clicks("Save")
    person.waits_until(lambda: choice(person).text() == "Clerk")
    assert names(person) == ["papers", "letters"]
    person.waits_until(lambda: bool(person.app.services.library.indexing.wait_until_idle(0.1)))

    person.asks(QUESTION)
    person.sees("Ingrid Holm")
    person.sees("Passages of 1 file were read")

    picks(person, "Manage assistants…")
    person.clicks("Edit…")
    person.waits_until(lambda: shown(person) == ["letters · 1 file: 1 searchable"])
    (letters / "note.md").write_text("The harbour office is painted green.")
    person.clicks("Refresh")
    person.waits_until(lambda: shown(person) == ["letters · 2 files: 2 searchable"])
    person.clicks("Cancel")

    person.clicks("Delete")
    person.sees("They are removed from the library with it")
    person.clicks("Delete with its documents")
    person.sees("Deleted “Clerk”.")
    person.waits_until(lambda: names(person) == ["papers"])
    assert (letters / "lease.md").read_text().endswith(LEASE), "no file is touched"
    person.clicks("Undo")
    person.waits_until(lambda: names(person) == ["papers", "letters"])
    services = person.app.services
    [clerk] = services.chat.assistants.all()
    own = [c for c in services.library.collections.all() if c.name == "Clerk"]
    assert [c.collection_id for c in own] == list(clerk.collection_ids)
