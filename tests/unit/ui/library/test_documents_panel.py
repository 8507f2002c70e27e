"""The documents table and its filters, in a window."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QLineEdit,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import Collection, DocumentState, Source
from desktop_rag.core.pictures import TO_HAVE_THEM_READ
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.document_rows import Column, make_table
from desktop_rag.ui.library.documents_panel import DocumentsPanel
from desktop_rag.ui.library.facets.facet_list import FacetBox, FacetList, FilterChip
from desktop_rag.ui.library.facets.facet_values import StateGroup
from tests.unit.ui.rooms import button, field, in_state, make_document, texts

SOURCES = [Source(name, f"of {name}", Path("/docs") / name, 0.0) for name in ("papers", "notes")]
COLLECTIONS = [Collection("of papers", "Work"), Collection("of notes", "Home")]
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
    panel.set_places(SOURCES, COLLECTIONS)
    panel.resize(1100, 400)
    panel.show()
    qtbot.waitActive(panel)
    return panel


def table(panel: DocumentsPanel) -> QTableView:
    return field(panel, QTableView, "Files")


def names(panel: DocumentsPanel) -> list[str]:
    model = table(panel).model()
    return [model.index(row, Column.NAME).data() for row in range(model.rowCount())]


def counted(panel: DocumentsPanel, qtbot: QtBot, *values: str) -> None:
    """Wait until these values are offered with their counts."""
    for value in values:
        qtbot.waitUntil(lambda value=value: value in offered(panel))


def offered(panel: DocumentsPanel) -> list[str]:
    return [box.accessibleName() for box in panel.findChildren(FacetBox) if box.isVisible()]


def chip(panel: DocumentsPanel, name: str) -> FilterChip:
    """The visible chip of this name; those that were removed are deleted later."""
    chips = panel.findChildren(FilterChip)
    return next(c for c in chips if c.isVisibleTo(panel) and c.accessibleName() == name)


def test_facets_count_and_filter(panel: DocumentsPanel, qtbot: QtBot) -> None:
    counted(panel, qtbot, "Searchable 2", "Not read 1", "PDF 1", "papers 3", "notes 1", "Work 3")
    assert "Not read 0" not in offered(panel)
    button(panel, "Searchable 2").click()
    assert names(panel) == ["a.md", "b.md"]
    counted(panel, qtbot, "PDF 0", "notes 0", "In progress 1")
    button(panel, "Not read 1").click()
    assert names(panel) == ["a.md", "b.md", "c.pdf"], "values of one facet add up"
    chip(panel, "Remove the filter State: Searchable").click()
    assert names(panel) == ["c.pdf"]
    button(panel, "Clear filters").click()
    assert names(panel) == ["a.md", "b.md", "c.pdf", "d.md"]
    assert not button(panel, "Clear filters").isVisible()


def test_documents_inside_files_are_told_apart(panel: DocumentsPanel, qtbot: QtBot) -> None:
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    attached = make_document("a.md#1", source_id="papers")
    model.apply_changes([replace(attached, parent_id=DOCUMENTS[0].document_id, part="x.md")])
    counted(panel, qtbot, "Searchable 2", "Not read 1")
    qtbot.waitUntil(lambda: "4 files, and 1 inside them" in texts(panel))
    button(panel, "Not read 1").click()
    qtbot.waitUntil(lambda: "1 of 4 files" in texts(panel))


def test_facets_are_combined(panel: DocumentsPanel, qtbot: QtBot) -> None:
    counted(panel, qtbot, "Text, Markdown 3", "Home 1")
    button(panel, "Text, Markdown 3").click()
    button(panel, "Home 1").click()
    assert names(panel) == ["d.md"]
    counted(panel, qtbot, "In progress 1", "Searchable 0", "papers 0", "Work 2")


def test_facets_follow_the_documents(panel: DocumentsPanel, qtbot: QtBot) -> None:
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    model.apply_changes([in_state(DOCUMENTS[3], DocumentState.OFFLINE)])
    counted(panel, qtbot, "In progress 0", "Offline 1")


def test_a_folder_shows_those_inside_it(panel: DocumentsPanel, qtbot: QtBot) -> None:
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    model.apply_changes([make_document("2024/may/x.md"), make_document("2025/y.md")])
    counted(panel, qtbot, "papers 5")
    assert "2024 1" not in offered(panel)
    button(panel, "papers 5").click()
    counted(panel, qtbot, "2024 1", "2025 1")
    button(panel, "papers 5").click()
    counted(panel, qtbot, "papers 5")
    button(panel, "papers 5").click()
    counted(panel, qtbot, "2024 1")
    button(panel, "2024 1").click()
    chip(panel, "Remove the filter Folder: papers").click()
    assert names(panel) == ["x.md"]


@pytest.mark.slow
def test_a_long_facet_is_whole_on_request(panel: DocumentsPanel, qtbot: QtBot) -> None:
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    panel.set_places(SOURCES[:1], COLLECTIONS[:1])
    model.apply_changes([make_document(f"{n:02}/x.md") for n in range(30)])
    counted(panel, qtbot, "papers 33", "07 1")
    assert "08 1" not in offered(panel)
    button(panel, "Show all 31").click()
    counted(panel, qtbot, "29 1")
    button(panel, "Show fewer").click()
    assert "29 1" not in offered(panel)


def test_a_narrow_page_hides_the_facets_until_they_are_wanted(
    panel: DocumentsPanel, qtbot: QtBot
) -> None:
    panel.resize(500, 400)
    assert offered(panel) == []
    button(panel, "Filters").click()
    counted(panel, qtbot, "Not read 1")


def test_typing_filters_by_reason_too(panel: DocumentsPanel, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(panel, QLineEdit, "Filter files"), "encr")
    qtbot.waitUntil(lambda: names(panel) == ["c.pdf"])
    qtbot.keyClicks(field(panel, QLineEdit, "Filter files"), "x")
    qtbot.waitUntil(lambda: names(panel) == [])
    assert "No files match the filter. Clear it to see all." in texts(panel)


def test_a_removed_folder_is_no_longer_chosen(panel: DocumentsPanel, qtbot: QtBot) -> None:
    counted(panel, qtbot, "notes 1")
    button(panel, "notes 1").click()
    assert names(panel) == ["d.md"]
    panel.set_places(SOURCES[:1], COLLECTIONS[:1])
    assert names(panel) == ["a.md", "b.md", "c.pdf", "d.md"]


def test_shows_the_failed_files_of_a_folder_on_demand(panel: DocumentsPanel) -> None:
    field(panel, QLineEdit, "Filter files").setText("something else")
    button(panel, "Show them").click()
    assert names(panel) == ["c.pdf"]
    panel.show_files("papers", [StateGroup.NOT_READ])
    assert names(panel) == ["c.pdf"]
    assert not table(panel).isColumnHidden(Column.REASON)
    assert table(panel).isColumnHidden(Column.PASSAGES)
    assert chip(panel, "Remove the filter Folder: papers").isVisible()


def test_retry_is_offered_while_something_failed(panel: DocumentsPanel, qtbot: QtBot) -> None:
    counted(panel, qtbot, "Not read 1")
    assert "1 file not read: Encrypted (1)." in texts(panel)
    with qtbot.waitSignal(panel.retry_failed_requested):
        button(panel, "Retry failed").click()
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    scan = f"No text found. {TO_HAVE_THEM_READ}install the extra “ocr”."
    skipped = [in_state(d, DocumentState.SKIPPED, scan) for d in DOCUMENTS[:2]]
    model.apply_changes([*skipped, in_state(DOCUMENTS[2], DocumentState.FAILED, "Encrypted.")])
    told = "3 files not read: No text found (2), Encrypted (1). Scans and pictures have no text"
    qtbot.waitUntil(lambda: any(text.startswith(told) for text in texts(panel)))
    model.apply_changes([in_state(d, DocumentState.SEARCHABLE) for d in DOCUMENTS[:2]])
    model.apply_changes([in_state(DOCUMENTS[2], DocumentState.WAITING)])
    qtbot.waitUntil(lambda: not button(panel, "Retry failed").isVisible())


@pytest.mark.parametrize("is_key", [True, False])
def test_opens_with_double_click_and_return(
    panel: DocumentsPanel, qtbot: QtBot, is_key: bool
) -> None:
    view = table(panel)
    place = view.visualRect(view.model().index(1, Column.NAME)).center()
    opened: list[object] = []
    panel.table.view_requested.connect(opened.append)
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
        "Read", "Open in another program", "Show in folder", "Summarise", "Ask about this", "Tags…",
        "Read again", "Exclude", "Copy path", "Copy reason",
    ]  # fmt: skip
    assert not actions["Summarise"].isEnabled(), "of what was not read there is nothing to tell"
    actions["Copy path"].trigger()
    assert QGuiApplication.clipboard().text() == "/docs/papers/c.pdf"
    actions["Copy reason"].trigger()
    assert QGuiApplication.clipboard().text() == "Encrypted."
    with qtbot.waitSignal(panel.table.folder_requested) as told:
        actions["Show in folder"].trigger()
    assert told.args == [DOCUMENTS[2]]
    menu.close()


def test_an_encoding_is_chosen_for_a_text(panel: DocumentsPanel, qtbot: QtBot) -> None:
    letter = replace(make_document("letter.txt"), format="text")
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    model.set_table(make_table([letter], ROOTS))
    view = table(panel)
    place = view.visualRect(view.model().index(0, Column.NAME)).center()
    view.customContextMenuRequested.emit(place)
    menu = view.findChild(QMenu)
    assert isinstance(menu, QMenu)
    inner = menu.findChild(QMenu)
    assert isinstance(inner, QMenu)
    assert inner.title() == "Text encoding"
    choices = {action.text(): action for action in inner.actions()}
    with qtbot.waitSignal(panel.table.encoding_chosen) as told:
        choices["Central European: DOS 852"].trigger()
    assert told.args == [[letter], "cp852"]
    with qtbot.waitSignal(panel.table.encoding_chosen) as told:
        choices["Found by itself"].trigger()
    assert told.args == [[letter], ""]
    menu.close()


def test_no_menu_beside_the_rows(panel: DocumentsPanel) -> None:
    table(panel).customContextMenuRequested.emit(QPoint(5, 300))
    assert table(panel).findChild(QMenu) is None


def test_columns_give_way_where_there_is_little_room(panel: DocumentsPanel, qtbot: QtBot) -> None:
    assert not table(panel).isColumnHidden(Column.SIZE)
    panel.resize(560, 400)
    assert table(panel).isColumnHidden(Column.INDEXED)
    assert not table(panel).isColumnHidden(Column.STATE)
    bar = table(panel).horizontalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() == 0)


@pytest.mark.slow
def test_fifty_thousand_files_are_filtered_and_changed_in_one_pass(panel: DocumentsPanel) -> None:
    documents = [make_document(f"{n:05}.md") for n in range(50_000)]
    model = table(panel).model()
    assert isinstance(model, DocumentModel)
    model.set_table(make_table(documents, ROOTS))
    steps: list[int] = []
    for signal in (model.rowsInserted, model.rowsRemoved, model.dataChanged, model.layoutChanged):
        signal.connect(lambda: steps.append(model.rowCount()))
    panel.show_files(groups=[StateGroup.NOT_READ])
    model.apply_changes([in_state(d, DocumentState.FAILED) for d in documents[::50]])
    panel.show_files()
    # Each row is not a step of its own.
    assert len(steps) <= 10
    assert (model.rowCount(), max(steps), min(steps)) == (50_000, 50_000, 0)


def test_states_and_sizes_are_never_elided(panel: DocumentsPanel) -> None:
    rows = table(panel)
    words = rows.fontMetrics().horizontalAdvance
    padding = 24
    assert rows.columnWidth(Column.STATE) >= words("Searchable by words") + padding
    assert rows.columnWidth(Column.SIZE) >= words("1,023 bytes") + padding


def test_what_failed_says_why_in_a_small_window_with_large_text(
    panel: DocumentsPanel, qtbot: QtBot
) -> None:
    counted(panel, qtbot, "Not read 1")
    button(panel, "Not read 1").click()
    view, facets = table(panel), panel.findChildren(FacetList)[0]
    row_px, facets_px = view.verticalHeader().defaultSectionSize(), facets.width()
    font = panel.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    for part in (panel, *panel.findChildren(QWidget)):
        part.setFont(font)
    assert facets.width() > facets_px, "counts have room"
    assert view.verticalHeader().defaultSectionSize() > row_px, "rows grow with the text"
    panel.resize(430, 400)
    shown = [column for column in Column if not view.isColumnHidden(column)]
    assert shown == [Column.NAME, Column.REASON]
    assert sum(map(view.columnWidth, shown)) <= view.viewport().width()


def test_a_long_name_is_cut_in_its_middle(panel: DocumentsPanel) -> None:
    rows = table(panel)
    index = rows.model().index(0, Column.NAME)
    delegate = rows.itemDelegateForIndex(index)
    assert isinstance(delegate, QStyledItemDelegate)
    option = QStyleOptionViewItem()
    delegate.initStyleOption(option, index)
    assert option.textElideMode is Qt.TextElideMode.ElideMiddle
