"""The overview of the library shows where files are, and a press shows them in the table."""

from pathlib import Path

from tests.stories.conftest import Person


def test_from_the_picture_to_the_files(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 failed")
    person.clicks("Overview")
    person.clicks("By type")
    person.clicks("papers in PDF: 1 file, 1 failed")
    assert [row[0] for row in person.rows("Files")] == ["broken.pdf"]
    person.sees("Folder: papers")
    person.clicks("Overview")
    person.clicks("1 file: Failed")
    assert [row[0] for row in person.rows("Files")] == ["broken.pdf"]
    person.clicks("Clear filters")
    assert len(person.rows("Files")) == 3
