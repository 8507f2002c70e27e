"""The picture of the library: its areas, its parts, and what a press on them shows."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import DocumentState, Source
from desktop_rag.core.language.translation import use_language
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.document_rows import make_table
from desktop_rag.ui.library.facets.facet_groups import Places
from desktop_rag.ui.library.facets.facet_values import Facet, FileFilter
from desktop_rag.ui.library.picture.library_picture import (
    Area,
    Grouping,
    LibraryPicture,
    PictureTile,
    picture_parts,
    squarified,
)
from tests.unit.ui.rooms import button, make_document

SOURCES = [Source(name, "c", Path("/docs") / name, 0.0) for name in ("papers", "notes")]
PLACES = Places(SOURCES)
DOCUMENTS = [
    make_document("a.md"),
    make_document("b.md"),
    make_document("c.pdf", DocumentState.FAILED),
    make_document("2024/d.md", source_id="notes"),
]


@pytest.fixture
def model(qapp: object) -> DocumentModel:
    model = DocumentModel()
    roots = {source.source_id: str(source.path) for source in SOURCES}
    model.set_table(make_table(DOCUMENTS, roots))
    return model


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=40))
def test_areas_fill_the_room_in_proportion(sizes: list[int]) -> None:
    ordered = sorted(sizes, reverse=True)
    areas = squarified(ordered, Area(5, 7, 300, 200))
    for size, area in zip(ordered, areas, strict=True):
        assert area.width * area.height == pytest.approx(60_000 * size / sum(sizes))
        assert area.x >= 4.99
        assert area.x + area.width <= 305.01
        assert area.y + area.height <= 207.01


def test_no_room_is_divided_into_nothing() -> None:
    assert squarified([3, 2], Area(0, 0, 0, 50)) == [Area(0, 0, 0, 0)] * 2


def test_folders_are_divided_by_type(model: DocumentModel) -> None:
    papers, notes = picture_parts(model.totals(), PLACES, Grouping.FOLDER)
    assert [part.words for part in papers.parts] == [
        "Text, Markdown in papers: 2 files, 2 searchable",
        "PDF in papers: 1 file, 1 failed",
    ]
    assert notes.label == "notes"
    assert notes.chosen == {Facet.FOLDER: {"notes"}}


def test_types_are_divided_by_folder(model: DocumentModel) -> None:
    texts, pdfs = picture_parts(model.totals(), PLACES, Grouping.KIND)
    assert [part.label for part in texts.parts] == [
        "papers in Text, Markdown", "notes in Text, Markdown",
    ]  # fmt: skip
    assert pdfs.states == Counter({"Failed": 1})


def test_a_single_folder_is_divided_by_those_in_it_and_small_ones_are_together(
    model: DocumentModel,
) -> None:
    documents = [make_document(f"{n:02}/{m}.md") for n in range(30) for m in range(40 - n)]
    model.set_table(make_table(documents, {"papers": "/docs/papers"}))
    groups = picture_parts(model.totals(), Places(SOURCES[:1]), Grouping.FOLDER)
    assert [group.label for group in groups][:2] == ["00", "01"]
    assert groups[-1].label == "18 other folders"
    assert len(groups[-1].chosen[Facet.FOLDER]) == 18
    assert sum(group.count for group in groups) == len(documents)


@pytest.fixture
def picture(model: DocumentModel, theme: Theme, qtbot: QtBot) -> LibraryPicture:
    picture = LibraryPicture(theme, model)
    model.setParent(picture)
    qtbot.addWidget(picture)
    picture.set_places(PLACES)
    picture.resize(700, 500)
    picture.show()
    qtbot.waitActive(picture)
    # The tiles are laid out a moment after it is shown.
    qtbot.waitUntil(lambda: bool(picture.findChildren(PictureTile)))
    return picture


def pressed(picture: LibraryPicture, name: str, qtbot: QtBot) -> FileFilter:
    with qtbot.waitSignal(picture.filter_chosen) as told:
        button(picture, name).click()
    assert told.args
    return told.args[0]


def test_each_part_and_state_filters(picture: LibraryPicture, qtbot: QtBot) -> None:
    pdfs = pressed(picture, "PDF in papers: 1 file, 1 failed", qtbot)
    assert pdfs.chosen == {Facet.FOLDER: {"papers"}, Facet.KIND: {"PDF"}}
    assert pressed(picture, "notes: 1 file, 1 searchable", qtbot).chosen == {
        Facet.FOLDER: {"notes"}
    }
    failed = pressed(picture, "1 file: Failed", qtbot)
    assert failed.chosen == {Facet.STATE: {"Failed"}}


def test_the_keyboard_reaches_every_tile(picture: LibraryPicture, qtbot: QtBot) -> None:
    tile = next(t for t in picture.findChildren(PictureTile) if "PDF" in t.accessibleName())
    assert tile.focusPolicy() is Qt.FocusPolicy.StrongFocus
    tile.setFocus()
    with qtbot.waitSignal(picture.filter_chosen):
        qtbot.keyClick(tile, Qt.Key.Key_Space)


def test_numbers_change_in_their_place(picture: LibraryPicture, qtbot: QtBot) -> None:
    model = picture.findChild(DocumentModel)
    assert model is not None
    tile = button(picture, "PDF in papers: 1 file, 1 failed")
    model.apply_changes([make_document("c.pdf")])
    qtbot.waitUntil(lambda: tile.accessibleName() == "PDF in papers: 1 file, 1 searchable")


def test_a_tile_has_the_name_without_that_of_its_group(
    model: DocumentModel, request: pytest.FixtureRequest
) -> None:
    german = {"{label} in {label2}": "{label} ({label2})"}
    request.addfinalizer(lambda: use_language(None))
    use_language(lambda text: german.get(text, ""))
    _, pdfs = picture_parts(model.totals(), PLACES, Grouping.FOLDER)[0].parts
    assert (pdfs.label, pdfs.name) == ("PDF (papers)", "PDF")


@pytest.mark.slow
def test_values_of_filters_are_named_in_the_language() -> None:
    """In a process of its own: the language is chosen before the rooms are imported."""
    code = """if True:
        from desktop_rag.core.paths import resources_dir
        from desktop_rag.ui.foundation.window_language import choose_language
        choose_language(resources_dir() / "words", "de")
        from desktop_rag.ui.foundation.wording import value_in_words
        from desktop_rag.ui.library.facets.facet_groups import Places
        from desktop_rag.ui.library.facets.facet_values import Facet
        for facet, value in ((Facet.STATE, "Failed"), (Facet.KIND, "Spreadsheet")):
            print(value_in_words(facet, begins=True), Places().label(facet, value))
    """
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert done.stdout.decode().splitlines() == ["Status Fehlgeschlagen", "Art Tabelle"]
