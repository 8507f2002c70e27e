"""The documents table and its filters, in a window."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QLineEdit, QMenu, QTableView
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import DocumentState, Source
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.document_rows import Column, StateGroup, make_table
from desktop_rag.ui.library.documents_panel import DocumentsPanel
from tests.unit.ui.rooms import button, field, in_state, make_document, texts

SOURCES = [Source(name, "c", Path("/docs") / name, 0.0) for name in ("papers", "notes")]
ROOTS = {source.source_id: str(source.path) for source in SOURCES}
DOCUMENTS = [
    make_document("a.md"),
    make_document("b.md", DocumentState.SEARCHABLE_BY_WORDS),
    make_document("c.pdf", DocumentState.FAILED, reason="Encrypted."),
    make_document("d.md", DocumentState.WAITING, source_id="notes"),
]


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme) -> DocumentsPanel:
    model = DocumentModel()
    model.set_table(make_table(DOCUMENTS, ROOTS))
    panel = DocumentsPanel(theme, model)
    model.setParent(panel)
    qtbot.addWidget(panel)
    panel.set_sources(SOURCES)
    panel.resize(1100, 400)
    panel.show()
    qtbot.waitActive(panel)
    return panel


def table(panel: DocumentsPanel) -> QTableView:
    return field(panel, QTableView, "Files")


def names(panel: DocumentsPanel) -> list[str]:
    model = table(panel).model()
    return [model.index(row, Column.NAME).data() for row in range(model.rowCount())]


def test_chips_count_and_filter(panel: DocumentsPanel) -> None:
    button(panel, "Searchable 2").click()
    assert names(panel) == ["a.md", "b.md"]
    button(panel, "Failed 1").click()
    assert names(panel) == ["c.pdf"]
    assert not button(panel, "Skipped 0").isVisible()
    button(panel, "All 4").click()
    assert names(panel) == ["a.md", "b.md", "c.pdf", "d.md"]


def test_chips_follow_the_documents(panel: DocumentsPanel) -> None:
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    model.apply_changes([in_state(DOCUMENTS[3], DocumentState.OFFLINE)])
    assert button(panel, "In progress 0").isVisible()
    assert button(panel, "Offline 1").isVisible()


def test_typing_filters_by_reason_too(panel: DocumentsPanel, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(panel, QLineEdit, "Filter files"), "encr")
    qtbot.waitUntil(lambda: names(panel) == ["c.pdf"])
    qtbot.keyClicks(field(panel, QLineEdit, "Filter files"), "x")
    qtbot.waitUntil(lambda: names(panel) == [])
    assert texts(panel) == ["No files match the filter."]


def test_one_folder_at_a_time(panel: DocumentsPanel) -> None:
    folders = field(panel, QComboBox, "Folder")
    folders.setCurrentIndex(folders.findText("notes"))
    assert names(panel) == ["d.md"]
    assert button(panel, "All 1").isVisible()
    panel.set_sources(SOURCES[::-1])
    assert folders.currentText() == "notes"
    panel.set_sources(SOURCES[:1])
    assert not folders.isVisible()
    assert button(panel, "All 4").isVisible()


def test_shows_the_failed_files_of_a_folder_on_demand(panel: DocumentsPanel) -> None:
    field(panel, QLineEdit, "Filter files").setText("something else")
    panel.show_files("papers", StateGroup.FAILED)
    assert names(panel) == ["c.pdf"]
    assert not table(panel).isColumnHidden(Column.REASON)
    assert table(panel).isColumnHidden(Column.PASSAGES)
    assert field(panel, QComboBox, "Folder").currentText() == "papers"


def test_retry_is_offered_while_something_failed(panel: DocumentsPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.retry_requested):
        button(panel, "Retry failed").click()
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    model.apply_changes([in_state(DOCUMENTS[2], DocumentState.WAITING)])
    assert not button(panel, "Retry failed").isVisible()


@pytest.mark.parametrize("is_key", [True, False])
def test_opens_with_double_click_and_return(
    panel: DocumentsPanel, qtbot: QtBot, is_key: bool
) -> None:
    view = table(panel)
    place = view.visualRect(view.model().index(1, Column.NAME)).center()
    opened: list[object] = []
    panel.open_requested.connect(opened.append)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    if is_key:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    else:
        qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened == [DOCUMENTS[1]]


def test_menu_of_a_row(panel: DocumentsPanel, qtbot: QtBot) -> None:
    view = table(panel)
    place = view.visualRect(view.model().index(2, Column.NAME)).center()
    view.customContextMenuRequested.emit(place)
    menu = view.findChild(QMenu)
    assert isinstance(menu, QMenu)
    actions = {action.text(): action for action in menu.actions() if action.text()}
    assert list(actions) == [
        "Open", "Show text", "Show in folder", "Summarise", "Copy path", "Copy reason",
    ]  # fmt: skip
    assert not actions["Summarise"].isEnabled(), "of what was not read there is nothing to tell"
    actions["Copy path"].trigger()
    assert QGuiApplication.clipboard().text() == "/docs/papers/c.pdf"
    actions["Copy reason"].trigger()
    assert QGuiApplication.clipboard().text() == "Encrypted."
    with qtbot.waitSignal(panel.folder_requested) as told:
        actions["Show in folder"].trigger()
    assert told.args == [DOCUMENTS[2]]
    menu.close()


def test_no_menu_beside_the_rows(panel: DocumentsPanel) -> None:
    table(panel).customContextMenuRequested.emit(QPoint(5, 300))
    assert table(panel).findChild(QMenu) is None


def test_filters_switch_between_one_and_two_lines(panel: DocumentsPanel, qtbot: QtBot) -> None:
    chip, text = button(panel, "All 4"), field(panel, QLineEdit, "Filter files")
    panel.resize(600, 400)
    qtbot.waitUntil(lambda: text.y() > chip.y() + chip.height())
    panel.resize(1400, 400)
    qtbot.waitUntil(lambda: text.y() < chip.y() + chip.height())


def test_fifty_thousand_files_are_filtered_and_changed_in_one_pass(panel: DocumentsPanel) -> None:
    documents = [make_document(f"{n:05}.md") for n in range(50_000)]
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    model.set_table(make_table(documents, ROOTS))
    steps: list[int] = []
    for signal in (model.rowsInserted, model.rowsRemoved, model.dataChanged, model.layoutChanged):
        signal.connect(lambda: steps.append(model.rowCount()))
    button(panel, "Failed 0").click()
    model.apply_changes([in_state(d, DocumentState.FAILED) for d in documents[::50]])
    button(panel, "All 50,000").click()
    # Each row is not a step of its own.
    assert len(steps) <= 10
    assert (model.rowCount(), max(steps), min(steps)) == (50_000, 50_000, 0)


def test_states_and_sizes_are_never_elided(panel: DocumentsPanel) -> None:
    rows = table(panel)
    words = rows.fontMetrics().horizontalAdvance
    padding = 24
    assert rows.columnWidth(Column.STATE) >= words("Searchable by words") + padding
    assert rows.columnWidth(Column.SIZE) >= words("1,023 bytes") + padding
    chosen = button(panel, "All 4")
    assert not chosen.font().bold(), "a chip keeps its width when it is chosen"
