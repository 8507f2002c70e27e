"""Facets beside the table: combined, counted, and removed again."""

from pathlib import Path

from desktop_rag.ui.library.document_rows import Column
from tests.stories.conftest import Person


def test_what_failed_is_found_in_two_presses(person: Person, papers: Path) -> None:
    (papers / "scans").mkdir()
    (papers / "scans" / "old.pdf").write_bytes(b"%PDF-1.4\nalso damaged")
    person.drops(papers)
    person.sees("4 files: 2 searchable, 2 not read")
    person.clicks("Not read 2")
    assert names(person) == ["broken.pdf", "old.pdf"]
    person.clicks("scans 1")
    assert names(person) == ["old.pdf"]
    person.clicks("Remove the filter State: Not read")
    person.waits_until(lambda: names(person) == ["old.pdf"])
    person.clicks("Clear filters")
    assert names(person) == ["broken.pdf", "fees.csv", "lamp.md", "old.pdf"]


def test_words_and_types_go_together(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.types("Filter files", "e")
    person.clicks("Spreadsheet 1")
    assert names(person) == ["fees.csv"]
    person.clicks("Folders")
    person.clicks("Show files in papers")
    assert names(person) == ["broken.pdf", "fees.csv", "lamp.md"]


def test_the_status_line_leads_to_what_was_not_read(person: Person, papers: Path) -> None:
    (papers / "song.xyz").write_bytes(bytes(range(256)))
    person.drops(papers)
    person.sees("4 files, 2 not read")
    person.presses("Ctrl+1")
    person.clicks("Library: 4 files, 2 not read")
    assert names(person) == ["broken.pdf", "song.xyz"]
    assert {cells[Column.STATE] for cells in person.rows("Files")} == {"Not read"}
    person.sees("State: Not read")


def names(person: Person) -> list[str]:
    return [cells[0] for cells in person.rows("Files")]
