"""A collection is made and filled in its dialog, and the move is undone."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget

from tests.stories.conftest import Person


@pytest.mark.everyday
def test_a_new_collection_takes_a_folder(person: Person, papers: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "oil.md").write_text("# Oil\n\nThe oil is bought in spring.")
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.drops(tmp_path / "more")
    person.sees("4 files: 3 searchable, 1 not read")
    person.clicks("Collections…")
    person.clicks("New collection")
    person.types("Name of the collection", "Work")
    members = person.window.findChildren(QListWidget, "collectionChecks")[0]
    assert [members.item(row).text() for row in range(2)] == [
        "papers — in My documents", "more — in My documents",
    ]  # fmt: skip
    members.item(1).setCheckState(Qt.CheckState.Checked)
    person.clicks("Save")
    person.sees("1 folder or link moved to another collection.")
    person.clicks("Work 1")
    assert [row[0] for row in person.rows("Files")] == ["oil.md"]
    person.clicks("Undo")
    person.clicks("Clear filters")
    person.clicks("My documents 4")
    assert len(person.rows("Files")) == 4
