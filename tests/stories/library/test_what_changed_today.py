"""One press shows what happened to files today."""

from pathlib import Path

from desktop_rag.ui.library.changes.changes_panel import ChangesTable
from tests.stories.conftest import Person


def test_added_changed_removed_and_failed(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    (papers / "lamp.md").write_text("# Lamp\n\nThe lamp is out.")
    (papers / "fees.csv").unlink()
    (papers / "new.md").write_text("# New\n\nA new paper about oil.")
    person.sees("3 files: 2 searchable, 1 not read")
    person.clicks("Changed today")
    person.sees("Removed 1")
    person.sees("Changed 1")
    person.clicks("Not read 1")
    [failed] = person.rows("Changed files")
    assert failed[1:3] == ["Not read", "broken.pdf"]
    assert failed[4]
    person.clicks("Removed 1")
    assert [row[2] for row in person.rows("Changed files")] == ["fees.csv"]
    person.clicks("Changed 1")
    [table] = person.window.findChildren(ChangesTable)
    table.doubleClicked.emit(table.model().index(0, 0))
    person.sees("The lamp is out.")
