"""Sets of questions from workbooks, read in the parser process."""

from pathlib import Path
from threading import Event

import pytest

from desktop_rag import app
from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.set_files import read_questions
from desktop_rag.features.evaluation.values.run import SetQuestion
from tests.unit.ingest.read.samples import make_xlsx


def row(number: int, *cells: str) -> str:
    """A row of texts; empty ones are left out."""
    written = (
        f'<c r="{column}{number}" t="inlineStr"><is><t>{text}</t></is></c>'
        for column, text in zip("BCDE", cells, strict=False)
        if text
    )
    return f'<row r="{number}">{"".join(written)}</row>'


def questions(services: app.Services, folder: Path, *rows: str) -> list[SetQuestion]:
    file = folder / "lamps.xlsx"
    file.write_bytes(make_xlsx({"Lamps": "".join(rows), "Other": row(1, "question", "x")}))
    documents = services.library.documents
    return read_questions(file, lambda path: documents.parsed(path, cancel=Event()))


NAMES = row(2, "Question", "Tags", "Answer")


def test_the_first_sheet_is_read_by_the_names_in_its_first_row(
    services: app.Services, tmp_path: Path
) -> None:
    rows = (row(3, "When?", "sea|lamp", "At dusk.|At 18:00."), row(5, "Who?"), row(6, "", "", "x"))
    first, second = questions(services, tmp_path, NAMES, *rows)
    assert (first.text, second.text) == ("When?", "Who?")
    assert first.expected == ("At dusk.", "At 18:00.")
    assert (first.tags, second.expected) == (("sea", "lamp"), ())
    assert services.library.documents.all() == []


def test_a_row_that_could_be_read_in_two_ways_is_refused(
    services: app.Services, tmp_path: Path
) -> None:
    with pytest.raises(AppError, match="Row 3 can't be told apart"):
        questions(services, tmp_path, NAMES, row(3, "When? | Who?", "sea"))


def test_a_damaged_workbook_is_refused(services: app.Services, tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    file.write_bytes(b"PK nothing")
    documents = services.library.documents
    with pytest.raises(AppError):
        read_questions(file, lambda path: documents.parsed(path, cancel=Event()))
