"""Files get tags of one's own in the list of files, and are found by them."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget, QTableView

from desktop_rag.ui.tags.tag_actions import TagDialog
from tests.stories.conftest import Person

NOTE = "---\ntags: [roof, 2024]\n---\n# Slates\n\nThe slates of the roof are from Wales.\n"


@pytest.fixture
def files(papers: Path) -> Path:
    (papers / "slates.md").write_text(NOTE)
    return papers


def select(person: Person, *names: str) -> None:
    """Select the rows of these files as with the Ctrl key."""
    tables = person.window.findChildren(QTableView)
    [table] = [t for t in tables if t.objectName() == "files" and t.isVisible()]
    rows = [cells[0] for cells in person.rows("Files")]
    # A desktop would restore the focus after a dialog.
    person.window.activateWindow()
    person.waits_until(person.window.isActiveWindow)
    table.clearSelection()
    for name in names:
        place = table.visualRect(table.model().index(rows.index(name), 0)).center()
        control = Qt.KeyboardModifier.ControlModifier
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, control, place)
    QTest.keyClick(table, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)


def dialog(person: Person) -> TagDialog:
    person.waits_until(lambda: any(d.isVisible() for d in person.window.findChildren(TagDialog)))
    return next(d for d in person.window.findChildren(TagDialog) if d.isVisible())


def tags_in(shown: TagDialog) -> dict[str, Qt.CheckState]:
    [rows] = shown.findChildren(QListWidget)
    return {rows.item(n).text(): rows.item(n).checkState() for n in range(rows.count())}


@pytest.mark.everyday
def test_several_files_are_tagged_and_filtered(person: Person, files: Path) -> None:
    person.drops(files)
    person.sees("3 searchable")
    select(person, "lamp.md", "fees.csv")
    dialog(person)
    person.sees("Tags of 2 files")
    person.types("Add a tag", "To do, harbour")
    person.clicks("Save")
    person.waits_until(lambda: not person.window.findChildren(TagDialog))
    person.types("Filter files", "harbour")
    person.waits_until(lambda: [r[0] for r in person.rows("Files")] == ["fees.csv", "lamp.md"])
    # Only one of them is taken out again; the other keeps both.
    select(person, "lamp.md")
    shown = dialog(person)
    assert tags_in(shown) == {"To do": Qt.CheckState.Checked, "harbour": Qt.CheckState.Checked}
    [rows] = shown.findChildren(QListWidget)
    rows.item(1).setCheckState(Qt.CheckState.Unchecked)
    person.clicks("Save")
    person.waits_until(lambda: [r[0] for r in person.rows("Files")] == ["fees.csv"])
    found = person.app.services.chat.search("tag:harbour")
    assert {Path(passage.path).name for passage in found} == {"fees.csv"}


def test_what_only_some_files_have_stays_unless_it_is_changed(person: Person, files: Path) -> None:
    person.drops(files)
    person.sees("3 searchable")
    select(person, "lamp.md")
    dialog(person)
    person.types("Add a tag", "sea")
    person.clicks("Save")
    person.waits_until(lambda: not person.window.findChildren(TagDialog))
    select(person, "lamp.md", "fees.csv")
    assert tags_in(dialog(person)) == {"sea": Qt.CheckState.PartiallyChecked}
    person.types("Add a tag", "2025")
    person.clicks("Save")
    person.waits_until(lambda: not person.window.findChildren(TagDialog))
    given = {d.path.name: d.given_tags for d in person.app.services.library.documents.all()}
    assert (given["lamp.md"], given["fees.csv"]) == (("sea", "2025"), ("2025",))


def test_tags_of_the_front_matter_are_named_but_changed_in_the_file(
    person: Person, files: Path
) -> None:
    person.drops(files)
    person.sees("3 searchable")
    select(person, "slates.md")
    assert tags_in(dialog(person)) == {}
    person.sees("From the file itself, to be changed there: roof, 2024")
    person.types("Add a tag", "wal")
    person.clicks("Cancel")
    person.types("Filter files", "2024")
    person.waits_until(lambda: [r[0] for r in person.rows("Files")] == ["slates.md"])
