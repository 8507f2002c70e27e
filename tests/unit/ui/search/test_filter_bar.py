from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.search.filter_bar import FilterBar
from desktop_rag.ui.search.filter_choices import (
    Choice,
    FilterKind,
    Found,
    SearchFilter,
    folder_filter,
)
from desktop_rag.ui.widgets.controls import ElidedLabel, MenuButton
from desktop_rag.ui.widgets.removable_chip import RemovableChip
from tests.unit.ui.search.test_found_files import document

PDF = SearchFilter(FilterKind.TYPE, "PDF", "PDF")
ROOF = SearchFilter(FilterKind.TAG, "roof & <b>oil</b>", "roof & <b>oil</b>")
SHEET = SearchFilter(FilterKind.TYPE, "Spreadsheet", "Spreadsheet")
TYPES = {FilterKind.TYPE: [Choice(SHEET, 10), Choice(PDF, 9)]}


@pytest.fixture
def bar(theme: Theme, qtbot: QtBot) -> FilterBar:
    bar = FilterBar(theme)
    qtbot.addWidget(bar)
    bar.resize(900, 60)
    bar.show()
    return bar


def chips(bar: FilterBar) -> list[RemovableChip]:
    return [chip for chip in bar.findChildren(RemovableChip) if chip.isVisible()]


@pytest.mark.parametrize("side", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_a_chip_shows_its_whole_text_whatever_happens_around_it(
    bar: FilterBar, qtbot: QtBot, side: Qt.LayoutDirection
) -> None:
    bar.setLayoutDirection(side)
    bar.add(PDF)
    bar.add(ROOF)
    bar.resize(400, 120)
    for chip in chips(bar):
        [label] = chip.findChildren(ElidedLabel)
        qtbot.waitUntil(lambda label=label: label.text() == label.full_text)


def test_a_menu_has_counts_and_takes_names_literally(bar: FilterBar) -> None:
    bar.show_choices({FilterKind.TAG: [Choice(ROOF, 1200)]})
    menu = bar.menu(FilterKind.TAG)
    menu.aboutToShow.emit()
    [action] = menu.actions()
    assert action.text() == "roof && <b>oil</b>\t1,200"
    action.trigger()
    assert bar.filters == (ROOF,)
    menu.aboutToShow.emit()
    assert menu.actions()[0].isChecked()
    menu.actions()[0].trigger()
    assert bar.filters == ()


def test_without_tags_the_menu_says_where_they_come_from(bar: FilterBar) -> None:
    bar.menu(FilterKind.TAG).aboutToShow.emit()
    [action] = bar.menu(FilterKind.TAG).actions()
    assert not action.isEnabled()
    assert "No tags yet" in action.text()


def test_several_filters_are_cleared_together(bar: FilterBar, qtbot: QtBot) -> None:
    bar.add(PDF)
    bar.add(ROOF)
    with qtbot.waitSignal(bar.changed):
        bar.clear()
    assert chips(bar) == []


def entries(menu: QMenu) -> list[str]:
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions()]


def test_what_was_found_is_counted_and_comes_first(bar: FilterBar) -> None:
    bar.show_choices(TYPES)
    found = tuple(replace(document(name), format="PDF") for name in ("a.pdf", "b.pdf"))
    bar.show_found(Found(found, is_complete=True))
    menu = bar.menu(FilterKind.TYPE)
    assert entries(menu) == ["PDF\t2", "Spreadsheet\t0"]
    # Of the best passages only, and with one type chosen, nobody knows the numbers.
    bar.show_found(Found(found, is_complete=False))
    assert entries(menu) == ["Spreadsheet", "PDF"]
    bar.show_found(Found(found, is_complete=True))
    bar.add(PDF)
    assert entries(menu) == ["Spreadsheet", "PDF"]
    bar.clear()
    bar.show_found(None)
    assert entries(menu) == ["Spreadsheet\t10", "PDF\t9"]


def test_documents_inside_files_are_counted_apart(bar: FilterBar) -> None:
    bar.show_choices({FilterKind.TYPE: [Choice(PDF, 58, parts=3), Choice(SHEET, 1200)]})
    menu = bar.menu(FilterKind.TYPE)
    assert entries(menu) == ["PDF\t58 + 3", "Spreadsheet\t1,200"]
    part = replace(document("all.zip"), part="a.pdf", format="PDF")
    bar.show_found(Found((replace(document("b.pdf"), format="PDF"), part), is_complete=True))
    assert entries(menu) == ["PDF\t1 + 1", "Spreadsheet\t0"]


def test_found_files_are_counted_by_folder_and_tag(bar: FilterBar) -> None:
    inside = tuple(Choice(folder_filter(Path("/docs") / name), 5) for name in ("a", "b"))
    folder = Choice(folder_filter(Path("/docs")), 10, inside)
    bar.show_choices({FilterKind.FOLDER: [folder], FilterKind.TAG: [Choice(ROOF, 3)]})
    found = replace(document("b/log.md"), tags=("Roof & <b>oil</b>",))
    bar.show_found(Found((found, document("lamp.md")), is_complete=True))
    assert entries(bar.menu(FilterKind.TAG)) == ["roof && <b>oil</b>\t1"]
    bar.menu(FilterKind.FOLDER).aboutToShow.emit()
    [below] = bar.menu(FilterKind.FOLDER).findChildren(QMenu)
    assert [a.text() for a in below.actions()] == ["All of it\t2", "", "b\t1", "a\t0"]


@pytest.mark.parametrize("side", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_a_menu_opens_at_the_side_of_its_button(bar: FilterBar, side: Qt.LayoutDirection) -> None:
    bar.setLayoutDirection(side)
    bar.setGeometry(200, 100, 400, 60)
    bar.show_choices(TYPES)
    button = bar.findChildren(MenuButton)[0]
    places: list[QRect] = []

    def note() -> None:
        places.append(button.choices.geometry())
        button.choices.close()

    button.choices.aboutToShow.connect(lambda: QTimer.singleShot(0, note))
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    place = QRect(button.mapToGlobal(QPoint()), button.size())
    [opened] = places
    if side is Qt.LayoutDirection.LeftToRight:
        assert opened.left() == place.left()
    else:
        assert opened.right() == pytest.approx(place.right(), abs=1)
