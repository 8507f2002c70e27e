"""Chunk settings are compared over one's documents, one is used, and taken back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QTabBar

from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.services import EvaluationServices
from tests.integration.experiments.test_chunk_trials import PLACES, TINY, paper
from tests.stories.conftest import Person

# Six settings are indexed.
_COMPARING_S = 150


@pytest.fixture
def reader(open_window: Callable[[], Person], tmp_path: Path) -> Person:
    """A person whose documents are cut too finely, in front of the view."""
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
    [tabs] = [t for t in person.window.findChildren(QTabBar) if t.accessibleName() == "Views"]
    tabs.setCurrentIndex(1)
    person.sees("Documents are searched in chunks.")
    return person


def chunking(person: Person) -> ChunkSettings:
    [collection] = person.app.services.library.collections.all()
    return collection.chunking


@pytest.mark.timeout(240)
def test_better_chunks_are_found_used_and_taken_back(reader: Person) -> None:
    reader.clicks("Compare chunks")
    reader.clicks("Pause")
    reader.sees("paused · ")
    reader.clicks("Resume")
    assert reader.app.services.wing(EvaluationServices).worker.chunk_trials.wait(_COMPARING_S)
    reader.sees("answers here, the present chunks")
    reader.sees("headings and sentences of the documents, without a model")
    rows = [row[0] for row in reader.rows("Chunk settings")]
    assert rows[0].endswith("in use")
    assert "the answer is split across" in str(reader.rows("The worst questions, and why"))
    reader.clicks("Use these chunks")
    reader.sees("The old chunks answer until the new ones are there.")
    assert chunking(reader) != TINY
    reader.clicks("Undo")
    reader.sees("The chunks are as they were.")
    assert chunking(reader) == TINY


def test_a_comparison_is_cancelled(reader: Person) -> None:
    reader.clicks("Compare chunks")
    reader.clicks("Cancel")
    reader.sees("Cancelled. Nothing was changed.")
    assert chunking(reader) == TINY
