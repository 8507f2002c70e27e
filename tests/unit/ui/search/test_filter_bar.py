import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.search.filter_bar import FilterBar
from desktop_rag.ui.search.filter_choices import Choice
from desktop_rag.ui.search.search_filters import FilterKind, SearchFilter
from desktop_rag.ui.widgets.controls import ElidedLabel
from desktop_rag.ui.widgets.removable_chip import RemovableChip

PDF = SearchFilter(FilterKind.TYPE, "PDF", "PDF")
ROOF = SearchFilter(FilterKind.TAG, "roof & <b>oil</b>", "roof & <b>oil</b>")


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
