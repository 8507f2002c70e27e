"""A folder that was moved is offline; the person says where it is, and all is well."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from tests.stories.conftest import Person


def test_the_folder_is_elsewhere(person: Person, papers: Path, tmp_path: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.clicks("Folders")
    goal = papers.rename(tmp_path / "letters")
    person.clicks("Check papers for changes")
    person.sees("● Offline")
    person.clicks("Say where papers is now")
    person.waits_until(lambda: bool(person.window.findChildren(QFileDialog)))
    [dialog] = person.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(goal))
    dialog.reject()
    person.sees(str(goal))
    person.sees("● Watched")
    person.sees("3 files: 2 searchable, 1 not read")
    person.clicks("Show files in letters")
    person.waits_until(lambda: {row[1] for row in person.rows("Files")} == {"letters"})
