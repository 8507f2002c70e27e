"""The feed that keeps the library page up to date."""

from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.library_events import DocumentsChanged, SourcesChanged
from desktop_rag.ingest.library import Library
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import engine_over
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.library_feed import LibraryFeed
from tests.unit.ui.rooms import deliver, in_state, make_document


@pytest.fixture
def source_id(library: Library, tmp_path: Path) -> str:
    folder = tmp_path / "papers"
    folder.mkdir()
    return library.sources.add(folder).source_id


@pytest.fixture
def model(qapp: QObject) -> DocumentModel:
    return DocumentModel()


@pytest.fixture
def feed(bridge: Bridge, library: Library, model: DocumentModel) -> LibraryFeed:
    return LibraryFeed(bridge, library, model, model)


def states(model: DocumentModel) -> list[DocumentState]:
    return [model.document_at(row).state for row in range(model.rowCount())]


def test_changes_are_queued_while_loading(
    bridge: Bridge,
    feed: LibraryFeed,
    model: DocumentModel,
    store: Database,
    source_id: str,
    qtbot: QtBot,
) -> None:
    known = make_document("a.md", DocumentState.WAITING, source_id=source_id)
    engine_over(store).documents.apply_changes(known.source_id, [known], {}, [])
    feed.load()
    bridge.post(DocumentsChanged((in_state(known, DocumentState.READING),)))
    bridge.post(DocumentsChanged((in_state(known, DocumentState.SEARCHABLE),)))
    assert states(model) == []
    qtbot.waitUntil(lambda: states(model) == [DocumentState.SEARCHABLE])


def test_sources_that_changed_while_loading_are_read_again(
    bridge: Bridge,
    feed: LibraryFeed,
    library: Library,
    source_id: str,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    counts: list[int] = []
    feed.sources_changed.connect(lambda sources, _: counts.append(len(sources)))
    feed.load()
    bridge.post(SourcesChanged(()))
    qtbot.waitUntil(lambda: len(counts) == 2)
    single = tmp_path / "single.md"
    single.touch()
    library.sources.add(single)
    bridge.post(SourcesChanged(()))
    qtbot.waitUntil(lambda: counts == [1, 1, 2])


def test_changes_of_a_source_being_removed_are_ignored(
    bridge: Bridge, feed: LibraryFeed, model: DocumentModel, source_id: str, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(feed.sources_changed):
        feed.load()
    late = make_document("late.md", source_id=source_id)
    other = make_document("other.md", source_id="other")
    deliver(bridge, DocumentsChanged((late,)))
    feed.exclude_source(source_id)
    deliver(bridge, DocumentsChanged((late, other)))
    qtbot.waitUntil(lambda: model.rowCount() == 1)
    assert model.document_at(0) == other


@pytest.mark.slow
def test_a_source_that_could_not_be_removed_comes_back(
    feed: LibraryFeed, model: DocumentModel, store: Database, source_id: str, qtbot: QtBot
) -> None:
    document = make_document("a.md", source_id=source_id)
    engine_over(store).documents.apply_changes(source_id, [document], {}, [])
    feed.exclude_source(source_id)
    feed.include_source(source_id)
    qtbot.waitUntil(lambda: model.rowCount() == 1)
