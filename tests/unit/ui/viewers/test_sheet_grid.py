"""The rows of spreadsheets, found in the stored text."""

from desktop_rag.core.domain import Document, StoredText
from desktop_rag.core.places import column_letters, places_to_json
from desktop_rag.ui.viewers.sheet_grid import is_within, sheet_grids
from tests.unit.ingest.read.samples import cell, make_xlsx, parse
from tests.unit.ui.rooms import make_document


def stored(name: str, content: bytes) -> StoredText:
    parsed = parse(name, content)
    document: Document = make_document(name)
    return StoredText(document, parsed.text, places_to_json(parsed))


def test_the_cells_of_a_csv_file_are_in_their_columns() -> None:
    lines = ["region,units,keeper", *(f"north,{n},keeper {n}" for n in range(2, 60))]
    document = stored("a.csv", "\n".join(lines).encode())
    [grid] = sheet_grids(document)
    assert (grid.row_count, grid.column_count) == (59, 3)
    at = document.text.index("keeper 41")
    row = grid.row_at(at)
    assert grid.number(row) == 41
    assert {c: found.text for c, found in grid.cells(row).items()} == {
        0: "north",
        1: "41",
        2: "keeper 41",
    }
    assert is_within(grid.cells(row)[2], (at, at + 6))
    assert not is_within(grid.cells(row)[1], (at, at + 6))


def test_each_sheet_is_one_and_empty_rows_and_cells_stay_empty() -> None:
    rows = f"<row>{cell('B2', 'lamp')}{cell('N2', 'oil')}</row><row>{cell('B9', 'wick')}</row>"
    document = stored("a.xlsx", make_xlsx({"Stock": rows, "More": f"<row>{cell('A1', 1)}</row>"}))
    stock, more = sheet_grids(document)
    assert (stock.name, more.name) == ("Stock", "More")
    assert [stock.number(row) for row in range(stock.row_count)] == [2, 9]
    assert {c: found.text for c, found in stock.cells(0).items()} == {1: "lamp", 13: "oil"}
    assert stock.holds(document.text.index("wick"))
    assert not more.holds(document.text.index("wick"))


def test_text_without_cells_has_no_sheet() -> None:
    assert sheet_grids(StoredText(make_document("a.csv"), "words")) == []


def test_columns_have_letters() -> None:
    assert [column_letters(n) for n in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
