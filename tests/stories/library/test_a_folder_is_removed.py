"""A folder is removed from the library, and brought back as it was."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stories.conftest import Person


def removes(person: Person) -> None:
    """The person removes the only folder."""
    person.clicks("Folders")
    person.clicks("Remove papers from the library")
    person.clicks("Remove")
    person.sees("“papers” is removed from the library.")
    person.sees("Ask your documents")


def test_a_removed_folder_comes_back(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    documents = person.app.services.library.documents
    before = {document.document_id for document in documents.all()}
    removes(person)
    person.clicks("Undo")
    person.sees("2 searchable")
    person.sees_no_longer("is removed from the library")
    assert {document.document_id for document in documents.all()} == before


@pytest.mark.everyday
def test_a_removed_folder_answers_no_longer_although_it_could_come_back(
    person: Person, papers: Path
) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    removes(person)
    person.presses("Ctrl+N")
    person.sees("Add a folder of documents, then ask anything about them")
    person.presses("Ctrl+2")
    person.clicks("Undo")
    person.sees("2 searchable")
    person.presses("Ctrl+N")
    person.sees("Ask anything about your 2 files")


def test_a_removal_is_final_once_the_app_is_closed(
    open_window: Callable[[], Person], papers: Path
) -> None:
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    removes(person)
    person.closes_the_window()
    again = open_window()
    again.presses("Ctrl+2")
    again.sees("Add demo documents")
    assert again.app.services.library.sources.all() == []
    assert len(list(papers.iterdir())) == 3
