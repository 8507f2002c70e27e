import time

import pytest

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.source import Unreadable
from desktop_rag.ingest.read.table import column_name
from tests.unit.ingest.read.samples import cell, make_xlsx, make_zip, parse, text_at

ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>'
    '<office:spreadsheet><table:table table:name="Fees"><table:table-row>'
    '<table:table-cell office:value-type="string"><text:p>Ann</text:p></table:table-cell>'
    '<table:table-cell office:value-type="date" office:date-value="2024-05-06"/>'
    "</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"
)

MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
)


def test_sheets_are_headings_and_rows_are_lines_with_their_cells() -> None:
    budget = (
        f'<row r="1">{cell("A1", "Name")}{cell("B1", "Amount")}</row>'
        f'<row r="5">{cell("A5", "Travel")}{cell("D5", 41300)}</row>'
    )
    document = parse("b.xlsx", make_xlsx({"Budget": budget, "Empty": "", "Two": budget}))
    rows = "Name | Amount\nTravel |  |  | 41300"
    assert document.text == f"Budget\n{rows}\n\nTwo\n{rows}"
    assert [(h.level, h.title) for h in document.headings] == [(1, "Budget"), (1, "Two")]
    assert [mark.anchor for mark in document.marks[:3]] == [
        Anchor(sheet="Budget"),
        Anchor(sheet="Budget", cells="A1:B1"),
        Anchor(sheet="Budget", cells="A5:D5"),
    ]
    assert text_at(document, 4).strip() == "Name | Amount"
    assert (document.format, document.title) == ("spreadsheet", "Budget")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (5.0, "5"),
        (-3.25, "-3.25"),
        (0.30000000000000004, "0.3"),
        (123456789012, "123456789012"),
        (1e22, "1e+22"),
        (True, "TRUE"),
        ("two\nlines &amp; more", "two lines & more"),
    ],
)
def test_values_are_shown_as_people_write_them(value: str | float, shown: str) -> None:
    document = parse("a.xlsx", make_xlsx({"S": f'<row r="1">{cell("A1", value)}</row>'}))
    assert document.text == f"S\n{shown}"


def test_a_cell_far_away_is_found_without_walking_there() -> None:
    began = time.perf_counter()
    rows = f'<row r="1048576">{cell("XFD1048576", "far")}</row>'
    document = parse("a.xlsx", make_xlsx({"S": rows}))
    assert document.text == "S\nfar"
    assert document.marks[-1].anchor == Anchor(sheet="S", cells="XFD1048576")
    assert time.perf_counter() - began < 5


def test_a_long_stretch_of_empty_cells_is_cut_short() -> None:
    rows = f'<row r="1">{cell("A1", "near")}{cell("CV1", "far")}</row>'
    document = parse("a.xlsx", make_xlsx({"S": rows}))
    assert len(document.text) < 60
    assert document.marks[-1].anchor.cells == "A1:CV1"


def test_open_document_sheets_are_read() -> None:
    files: dict[str, str | bytes] = {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": MANIFEST,
        "content.xml": ODS,
    }
    document = parse("a.ods", make_zip(files))
    assert document.text == "Fees\nAnn | 2024-05-06"


def test_a_workbook_without_cells_has_no_text() -> None:
    with pytest.raises(Unreadable) as caught:
        parse("a.xlsx", make_xlsx({"S": ""}))
    assert (caught.value.reason, caught.value.title) == ("no text", "No text found")


@pytest.mark.parametrize(
    ("column", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16383, "XFD")]
)
def test_columns_are_named_as_in_spreadsheets(column: int, name: str) -> None:
    assert column_name(column) == name
