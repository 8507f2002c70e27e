"""Tables of real spreadsheets: every cell equals that of the format's own library."""

import csv
import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from python_calamine import CalamineWorkbook

from desktop_rag.answer.tables.sheet_table import RowBlock, SheetTable, row_blocks, table_at
from desktop_rag.core.places import places_to_json
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.parsing.protocol import Limits
from desktop_rag.store.duckdb.tables.table_queries import TableQueries
from tests.conftest import SHARED

FILES = SHARED / "files"
POI = "poi/files/spreadsheet"
# A file, the row count of its largest table, and the types of some columns.
TABLES = [
    (f"{POI}/Excel_file_with_trash_item.xlsx", 679,
     {"Date": "DATE", "Team1": "VARCHAR", "Goals Scored": "BIGINT"}),
    (f"{POI}/InlineStrings.xlsx", 6, {"Numbers": "BIGINT", "Strings": "VARCHAR"}),
    (f"{POI}/DataTableCities.xlsx", 14, {}),
    (f"{POI}/56644.xlsx", 57, {}),
    (f"{POI}/IrrNpvTestCaseData.xls", 9, {"IRR": "DOUBLE", "NPV": "DOUBLE"}),
    (f"{POI}/Themes2.xlsx", 12, {"Theme": "VARCHAR"}),
    (f"{POI}/WORKBOOK_in_capitals.xls", 211,
     {"ISIN": "VARCHAR", "Anzahl": "BIGINT", "Bewertungskurs": "DOUBLE"}),
    (f"{POI}/SimpleChart.xls", 15, {"A": "TIMESTAMP", "B": "BIGINT"}),
    (f"{POI}/53984.xls", 191, {}),
    (f"{POI}/57196.xlsx", 31, {"B": "BIGINT"}),
    (f"{POI}/SimpleNormal.xlsx", 6, {}),
    ("tika/files/tika-parsers-standard-integration-tests/test-columnar.csv", 11,
     {"Record Number": "BIGINT", "date": "DATE", "Percent Done": "DOUBLE"}),
    ("docling/files/csv/csv-semicolon.csv", 5, {}),
    ("docling/files/csv/csv-comma-in-cell.csv", 5, {}),
]  # fmt: skip


@pytest.fixture
def parser() -> Iterator[ParserProcess]:
    parser = ParserProcess(limits=Limits())
    yield parser
    parser.close()


def tables_of(blocks: list[RowBlock], title: str) -> list[SheetTable]:
    """All tables that can be queried, each once."""
    found: list[SheetTable] = []
    for block in blocks:
        table = table_at(blocks, block.rows[0].start, block.rows[-1].end, title)
        if table and all(table.rows != other.rows for other in found):
            found.append(table)
    return found


def read_by_others(path: Path) -> dict[str | None, list[list[object]]]:
    """The cells of each sheet from its first used row and column."""
    if path.suffix == ".csv":
        delimiter = ";" if "semicolon" in path.name else ","
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {None: [[*row] for row in csv.reader(file, delimiter=delimiter)]}
    book = CalamineWorkbook.from_path(path)
    rows = {n: book.get_sheet_by_name(n).to_python(skip_empty_area=False) for n in book.sheet_names}
    return {name: [[*row] for row in sheet] for name, sheet in rows.items()}


def is_same(cell: str, value: object) -> bool:
    match value:
        case bool():
            return cell == str(value).upper()
        case float() | int():
            shown = re.search(r"-?[\d,]*\.?\d+", re.sub(r"[$€£]", "", cell))
            if shown and shown[0] != cell and "e" not in cell.partition(" (")[0]:
                # As its format shows it.
                unit = 0.01 if "%" in cell else 1.0
                rounding = 0.51 * unit * 10.0 ** -len(shown[0].partition(".")[2])
                number = float(shown[0].replace(",", "")) * unit
                return number == pytest.approx(float(value), abs=rounding)
            return float(cell) == pytest.approx(float(value), rel=1e-14)
        case datetime.datetime():
            return datetime.datetime.fromisoformat(cell.partition(" (")[0]) == value
        case datetime.date() | datetime.time():
            # What the sheet shows stands behind it.
            return cell.partition(" (")[0] == value.isoformat()
        case _:
            return cell == " ".join(str(value).split())


@pytest.mark.skipif(not FILES.is_dir(), reason="the shared files are not beside the project")
@pytest.mark.parametrize(("name", "rows", "kinds"), TABLES, ids=lambda x: str(x)[-40:])
def test_cells_stand_where_the_file_has_them(
    parser: ParserProcess, name: str, rows: int, kinds: dict[str, str]
) -> None:
    path = FILES / name
    document = parser.parse(path)
    tables = tables_of(row_blocks(document.text, places_to_json(document)), path.stem)
    sheets = read_by_others(path)
    compared = 0
    for table in tables:
        for row in table.rows:
            first = next(c.column for c in table.columns if c.column >= 0)
            for n, cell in enumerate(row.cells, first):
                value = sheets[row.sheet][row.number - 1][n]
                # The value of a merged cell applies to every row and column it covers.
                assert value == "" or is_same(cell, value), (row.number, n, cell, value)
                compared += bool(cell)
        with TableQueries().open((table.query_table(),)) as opened:
            asked = opened.run(f'SELECT count(*) FROM "{table.name}"', Event())
            assert asked.rows == ((len(table.rows),),)
    largest = max(tables, key=lambda table: len(table.rows))
    found = {column.name: column.values.kind for column in largest.columns}
    assert len(largest.rows) == rows
    assert {name: found.get(name) for name in kinds} == kinds
    assert compared > len(largest.rows)
