"""Chunk settings are compared over one's documents, one is used, and taken back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QListWidget

from desktop_rag.core.parsed import ChunkSettings
from tests.integration.experiments.test_chunks_compared import PLACES, TINY, paper
from tests.stories.conftest import Person


@pytest.fixture
def reader(open_window: Callable[[], Person], tmp_path: Path) -> Person:
    """A person whose documents are cut too finely, with questions made from them."""
    folder = tmp_path / "island"
    folder.mkdir()
    for place in PLACES[:3]:
        (folder / f"{place}.md").write_text(paper(place))
    person = open_window()
    person.drops(folder)
    person.sees("3 searchable")
    library = person.app.services.library
    [collection] = library.collections.all()
    library.collections.set_chunking(collection.collection_id, TINY)
    assert library.indexing.wait_until_idle(60)
    person.opens_settings("Compare models")
    person.sees("Is the other model better?")
    person.chooses_entry("New set", "Headings and sentences of my documents")
    person.sees("Press “Ask…” to have the questions answered.")
    return person


def chunking(person: Person) -> ChunkSettings:
    [collection] = person.app.services.library.collections.all()
    return collection.chunking


def chooses_row(person: Person, name: str, row: int) -> None:
    listed = person.view(name)
    assert isinstance(listed, QListWidget)
    listed.clearSelection()
    listed.setCurrentRow(row)


@pytest.mark.timeout(240)
def test_better_chunks_are_found_used_and_taken_back(reader: Person) -> None:
    reader.clicks("Ask…")
    dialog = reader.in_the_dialog()
    dialog.clicks("Compare chunks")
    dialog.sees("nothing is sent anywhere")
    for _ in range(4):
        chooses_row(dialog, "Set-ups", 2)
        dialog.clicks("Remove")
    dialog.clicks("Ask")
    reader.waits_until(
        lambda: [row[0].split(" · ")[1] for row in reader.rows("Runs")] == ["done", "done"]
    )
    reader.sees("headings and sentences of the documents, without a model")
    assert " chunks" in str(reader.rows("Runs"))
    assert "the answer is split across" in str(reader.rows("Questions and answers"))
    chooses_row(reader, "Runs", 1)
    reader.clicks("Use these chunks")
    reader.sees("The old chunks answer until the new ones are there.")
    assert chunking(reader) != TINY
    reader.clicks("Undo")
    reader.sees("The chunks are as they were.")
    assert chunking(reader) == TINY
