"""The library page over the real library and store."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QTableView
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import DocumentState, SourceRules
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import (
    DocumentsChanged,
    IndexProgress,
    ProgressChanged,
    SourcesChanged,
    Stage,
    StepProgress,
)
from desktop_rag.ingest.library import Library
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import engine_over
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.delayed_change import DelayedChange
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.dialogs.folder_dialog import FolderDialog
from desktop_rag.ui.library.document_rows import Column
from desktop_rag.ui.library.library_page import LibraryPage
from desktop_rag.ui.library.source_list import FolderCard
from tests.unit.ui.rooms import (
    button,
    deliver,
    field,
    in_state,
    listening_desktop,
    make_document,
    make_library,
    texts,
)


@pytest.fixture
def library(store: Database, bridge: Bridge, tmp_path: Path) -> Iterator[Library]:
    library = make_library(store, tmp_path / "home")
    library.changes.hear(object, bridge.post)
    yield library
    library.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk.\n")
    (folder / "scan.pdf").write_bytes(b"%PDF-1.4 and nothing more")
    return folder


@pytest.fixture
def page(library: Library, bridge: Bridge, theme: Theme, qtbot: QtBot) -> LibraryPage:
    page = LibraryPage(bridge, library, theme, ["PDF", "Word"])
    page.load()
    qtbot.addWidget(page)
    page.resize(1100, 800)
    page.show()
    return page


def rows(page: LibraryPage, column: Column = Column.NAME) -> list[str]:
    model = field(page, QTableView, "Files").model()
    return [model.index(row, column).data() for row in range(model.rowCount())]


def says(page: LibraryPage, text: str) -> bool:
    return any(text in shown for shown in texts(page))


def knows(page: LibraryPage, path: Path) -> bool:
    """True once the folder or file has its card."""
    return any(card.source.path == path for card in page.findChildren(FolderCard))


def dialog_of(page: LibraryPage) -> FolderDialog:
    found = page.findChild(FolderDialog)
    assert isinstance(found, FolderDialog)
    return found


def drop(page: LibraryPage, paths: list[Path]) -> QDropEvent:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    actions = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    place = QPointF(20, 20)
    QApplication.sendEvent(page, QDragEnterEvent(place.toPoint(), actions, data, buttons, keys))
    event = QDropEvent(place, actions, data, buttons, keys)
    QApplication.sendEvent(page, event)
    return event


@pytest.mark.slow
def test_an_empty_library_offers_two_ways_to_start(page: LibraryPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: says(page, "Ask your documents"))
    with qtbot.waitSignal(page.demo_requested):
        button(page, "Add demo documents").click()
    assert not button(page, "Pause").isVisible()


@pytest.mark.slow
def test_a_chosen_folder_becomes_searchable(
    page: LibraryPage, library: Library, folder: Path, qtbot: QtBot
) -> None:
    library.start(watch=False)
    page.choose_folder()
    dialog = page.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.selectFile(str(folder))
    dialog.accept()
    qtbot.waitUntil(lambda: page.findChild(FolderDialog) is not None)
    button(dialog_of(page), "Add folder").click()
    qtbot.waitUntil(
        lambda: says(page, "2 files: 1 by words only so far, 1 not read"), timeout=30_000
    )
    assert knows(page, folder)
    assert rows(page) == ["lamp.md", "scan.pdf"]
    assert rows(page, Column.STATE) == ["Searchable by words", "Not read"]
    assert rows(page, Column.REASON)[1] != ""


@pytest.mark.slow
def test_dropped_folders_and_files_are_added_and_never_moved(
    page: LibraryPage, library: Library, folder: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    single = tmp_path / "single.md"
    single.write_text("One file.")
    qtbot.waitUntil(lambda: says(page, "Ask your documents"))
    event = drop(page, [folder, single])
    assert event.isAccepted()
    assert event.dropAction() is Qt.DropAction.CopyAction
    assert not page.property("dropping")
    qtbot.waitUntil(lambda: knows(page, folder) and knows(page, single))
    assert {source.path for source in library.sources.all()} == {folder, single}


@pytest.mark.slow
def test_an_error_while_adding_is_shown_and_the_rest_is_added(
    page: LibraryPage, bridge: Bridge, folder: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    told: list[object] = []
    bridge.hear(object, told.append)
    drop(page, [tmp_path / "gone", folder])
    qtbot.waitUntil(lambda: any(isinstance(event, AppError) for event in told))
    qtbot.waitUntil(lambda: knows(page, folder))


@pytest.mark.slow
def test_removing_a_source(
    page: LibraryPage, bridge: Bridge, library: Library, folder: Path, qtbot: QtBot
) -> None:
    source = library.sources.add(folder)
    late = make_document("late.md", source_id=source.source_id)
    qtbot.waitUntil(lambda: knows(page, folder))
    change = removed(page)
    deliver(bridge, DocumentsChanged((late,)))
    qtbot.waitUntil(lambda: says(page, "Ask your documents"))
    assert rows(page) == []
    change.make()
    qtbot.waitUntil(lambda: not library.sources.all())
    assert folder.exists()


def removed(page: LibraryPage) -> DelayedChange:
    """The offer to undo that follows the removal of the only folder."""
    button(page, "Remove papers from the library").click()
    button(page, "Remove").click()
    [change] = page.findChildren(DelayedChange)
    return change


@pytest.mark.slow
def test_what_was_removed_comes_back_as_it_was(
    page: LibraryPage, library: Library, folder: Path, qtbot: QtBot
) -> None:
    source = library.sources.add(folder, rules=SourceRules(excluded=("*.pdf",)))
    library.start(watch=False)
    qtbot.waitUntil(lambda: rows(page) == ["lamp.md"])
    [document] = library.documents.all()
    library.tags.change([document.document_id], add=["mine"])
    change = removed(page)
    qtbot.waitUntil(lambda: says(page, "Ask your documents"))
    qtbot.waitUntil(lambda: library.sources.all() == [])
    page.load()
    change.undo()
    qtbot.waitUntil(lambda: rows(page) == ["lamp.md"])
    assert not says(page, "Ask your documents")
    [kept] = library.documents.all()
    assert (kept.document_id, kept.all_tags) == (document.document_id, ("mine",))
    change.make()
    assert library.sources.all() == [source], "what was undone is not made"


@pytest.mark.slow
def test_the_end_of_the_app_makes_a_removal_final(
    page: LibraryPage, library: Library, folder: Path, qtbot: QtBot
) -> None:
    library.sources.add(folder)
    qtbot.waitUntil(lambda: knows(page, folder))
    removed(page)
    page.make_removals()
    assert library.sources.all() == []


@pytest.mark.slow
def test_a_folder_that_is_removed_can_be_added_at_once(
    page: LibraryPage, library: Library, folder: Path, qtbot: QtBot
) -> None:
    first = library.sources.add(folder)
    qtbot.waitUntil(lambda: knows(page, folder))
    ended: list[bool] = []
    removed(page).ended.connect(lambda: ended.append(True))
    drop(page, [folder])
    assert ended, "the offer is over"
    qtbot.waitUntil(lambda: first not in library.sources.all())


@pytest.mark.everyday
def test_shows_the_initial_state_and_changes_during_loading(
    library: Library, store: Database, bridge: Bridge, theme: Theme, folder: Path, qtbot: QtBot
) -> None:
    source = library.sources.add(folder)
    known = make_document("known.md", source_id=source.source_id)
    engine_over(store).documents.apply_changes(known.source_id, [known], {}, [])
    page = LibraryPage(bridge, library, theme, ["PDF", "Word"])
    page.load()
    qtbot.addWidget(page)
    failed = in_state(known, DocumentState.FAILED, "Encrypted.")
    deliver(bridge, DocumentsChanged((failed,)))
    deliver(bridge, SourcesChanged(()))
    qtbot.waitUntil(lambda: rows(page, Column.REASON) == ["Encrypted."])


@pytest.mark.slow
def test_another_view_is_built_when_it_is_first_shown(
    library: Library, bridge: Bridge, theme: Theme, folder: Path, qtbot: QtBot
) -> None:
    built: list[QLabel] = []

    def notes() -> QLabel:
        built.append(QLabel("Written yesterday"))
        return built[-1]

    library.sources.add(folder)
    page = LibraryPage(bridge, library, theme, ["PDF"], {"Notes": notes})
    qtbot.addWidget(page)
    page.load()
    page.show()
    qtbot.waitUntil(lambda: button(page, "Notes").isVisible())
    assert built == []
    for name in ("Notes", "Files", "Notes"):
        button(page, name).click()
    [shown] = built
    assert shown.isVisible()


@pytest.mark.slow
def test_documents_change_in_batches(
    page: LibraryPage, bridge: Bridge, library: Library, folder: Path, qtbot: QtBot
) -> None:
    source_id = library.sources.add(folder).source_id
    qtbot.waitUntil(lambda: knows(page, folder))
    model = field(page, QTableView, "Files").model()
    told: list[object] = []
    model.rowsInserted.connect(lambda *_: told.append(None))
    for n in range(2500):
        document = make_document(f"{n:04}.md", source_id=source_id)
        bridge.post(DocumentsChanged((document,)))
    qtbot.waitUntil(lambda: len(rows(page)) == 2500)
    assert len(told) == 2


@pytest.mark.slow
def test_progress_and_pause(
    page: LibraryPage, bridge: Bridge, library: Library, folder: Path, qtbot: QtBot
) -> None:
    library.sources.add(folder)
    qtbot.waitUntil(lambda: knows(page, folder))
    step = StepProgress(Stage.READING, files_total=9, files_done=4)
    progress = IndexProgress(Stage.READING, 9, 4, fraction=0.4375, steps=(step,))
    deliver(bridge, ProgressChanged(progress))
    assert says(page, "43.7% overall")
    button(page, "Pause").click()
    assert library.indexing.is_paused
    button(page, "Resume").click()
    assert not library.indexing.is_paused
    assert button(page, "Pause").isVisible()


@pytest.mark.slow
def test_buttons_reach_the_library(
    page: LibraryPage, bridge: Bridge, library: Library, store: Database, folder: Path, qtbot: QtBot
) -> None:
    source_id = library.sources.add(folder).source_id
    failed = make_document("f.md", DocumentState.FAILED, source_id=source_id, reason="Odd.")
    engine_over(store).documents.apply_changes(failed.source_id, [failed], {}, [])
    deliver(bridge, DocumentsChanged((failed,)))
    qtbot.waitUntil(lambda: rows(page, Column.STATE) == ["Not read"])
    button(page, "Folders").click()
    button(page, "Show 1 not read").click()
    assert button(page, "Files").isChecked()
    assert rows(page) == ["f.md"]
    button(page, "Check papers for changes").click()
    button(page, "Retry failed").click()
    qtbot.waitUntil(lambda: library.documents.counts().of(DocumentState.WAITING) == 1)
    qtbot.waitUntil(lambda: rows(page) == [])


@pytest.mark.slow
def test_several_files_are_added_at_once(
    page: LibraryPage, library: Library, folder: Path, qtbot: QtBot
) -> None:
    library.sources.add(folder / "lamp.md")
    qtbot.waitUntil(lambda: button(page, "Add files…").isVisible())
    button(page, "Add files…").click()
    dialog = page.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.ExistingFiles
    dialog.filesSelected.emit([str(folder / "scan.pdf")])
    dialog.close()
    qtbot.waitUntil(lambda: knows(page, folder / "scan.pdf"))


@pytest.mark.slow
def test_opens_files_and_folders_and_starts_no_program_that_was_skipped(
    page: LibraryPage, bridge: Bridge, library: Library, folder: Path, qtbot: QtBot
) -> None:
    source_id = library.sources.add(folder).source_id
    good = replace(make_document("g"), source_id=source_id, path=folder / "lamp.md")
    odd = replace(good, document_id="o", path=folder / "setup.exe", state=DocumentState.SKIPPED)
    qtbot.waitUntil(lambda: knows(page, folder))
    deliver(bridge, DocumentsChanged((good, odd)))
    qtbot.waitUntil(lambda: rows(page) == ["lamp.md", "setup.exe"])
    table = field(page, QTableView, "Files")
    qtbot.waitActive(page)
    table.setFocus()
    with listening_desktop() as desktop:
        for row in range(2):
            table.selectRow(row)
            qtbot.keyClick(table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            qtbot.waitUntil(lambda row=row: len(desktop.opened) == row + 1)
        button(page, "Open papers").click()
        qtbot.waitUntil(lambda: len(desktop.opened) == 3)
        assert desktop.opened == [str(folder / "lamp.md"), str(folder), str(folder)]


@pytest.mark.everyday
def test_every_button_has_a_name_and_fits_a_small_window(
    page: LibraryPage, library: Library, folder: Path, qtbot: QtBot
) -> None:
    library.sources.add(folder)
    qtbot.waitUntil(lambda: knows(page, folder))
    # Fields and tables contain buttons of Qt's own.
    ours = [b for b in page.findChildren(QAbstractButton) if type(b).__module__.startswith("desk")]
    assert ours
    assert all(b.text() or b.accessibleName() for b in ours)
    assert page.minimumSizeHint().width() <= 600
    assert page.minimumSizeHint().height() <= 480


@pytest.mark.slow
def test_the_tab_key_goes_from_top_to_bottom(
    page: LibraryPage, library: Library, folder: Path, qtbot: QtBot
) -> None:
    library.sources.add(folder)
    qtbot.waitUntil(lambda: knows(page, folder))
    qtbot.waitActive(page)
    button(page.header, "Add folder…").setFocus()
    seen: list[str] = []
    for _ in range(10):
        stop = QApplication.focusWidget()
        assert stop is not None
        words = stop.text() if isinstance(stop, QAbstractButton) else ""
        seen.append(stop.accessibleName() or words)
        qtbot.keyClick(stop, Qt.Key.Key_Tab)
    assert seen == [
        "Add folder…", "Add files…", "Files", "Collections…",
        "Pause", "Filters", "Filter files", "Searchable 0", "In progress 0",
        "Files",
    ]  # fmt: skip
