import io
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.office.spreadsheet import column_name, read
from tests.conftest import SHARED
from tests.unit.ingest.read.samples import (
    cell,
    make_ole,
    make_xlsx,
    make_zip,
    parse,
    relations,
    text_at,
)

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

BINARY_BOOK = SHARED / "files" / "poi" / "files" / "spreadsheet" / "Simple.xlsb"


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
    rows = f'<row r="1048576">{cell("XFD1048576", "far")}</row>'
    document = parse("a.xlsx", make_xlsx({"S": rows}))
    assert document.text == "S\nfar"
    assert document.marks[-1].anchor == Anchor(sheet="S", cells="XFD1048576")


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


def rows_of(*rows: Sequence[str | float]) -> str:
    """The rows of a sheet from A1 on; an empty row leaves its number out."""
    return "".join(
        f'<row r="{n}">{"".join(cell(f"{column_name(c)}{n}", v) for c, v in enumerate(row))}</row>'
        for n, row in enumerate(rows, 1)
    )


def test_each_table_of_a_sheet_has_its_own_header_or_goes_on_under_the_last() -> None:
    rows = rows_of(
        ["Fees of 2024"], ["Name", "Fee"], ["Ann", 10], ["Bob", 20], [], ["Cid", 30], [],
        ["City", "People", "Area"], ["Rome", 3, 4], [], ["a remark"],
    )  # fmt: skip
    document = parse("a.xlsx", make_xlsx({"S": rows}))
    spans = [(h.text, document.text[h.start : h.end].strip()) for h in document.table_headers]
    assert spans == [
        ("Name | Fee", "Ann | 10\nBob | 20"),
        ("Name | Fee", "Cid | 30"),
        ("City | People | Area", "Rome | 3 | 4"),
    ]


def test_merged_cells_are_said_in_each_row_but_titles_once() -> None:
    rows = rows_of(["A title"], ["Rome", "May", 1], ["", "June", 2], ["", "", ""], ["x", "y", 3])
    merged = "".join(f'<mergeCell ref="{area}"/>' for area in ("A1:C1", "A2:A4", "XFD1:XFD9"))
    content = make_xlsx({"S": f"{rows}</sheetData><mergeCells>{merged}</mergeCells><sheetData>"})
    assert parse("a.xlsx", content).text == "S\nA title\nRome | May | 1\nRome | June | 2\nx | y | 3"


def test_comments_and_text_boxes_follow_the_cells_of_their_sheet() -> None:
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    comment = '<comment ref="B2" authorId="0"><text><r><t>why?</t></r></text></comment>'
    placeholder = '<comment ref="A1" authorId="0"><text><t>[Threaded]</t></text></comment>'
    said = 'ref="A1" dT="2024-05-06T10" personId="{1}"'
    thread = f"<threadedComment {said}><text>so</text></threadedComment>"
    parts = {
        "xl/c.xml": f"<comments {main}><authors><author>Ann</author></authors>"
        f"<commentList>{comment}{placeholder}</commentList></comments>",
        "xl/t.xml": f"<ThreadedComments>{thread}</ThreadedComments>",
        "xl/d.xml": "<wsDr><sp><txBody><p><r><t>in a box</t></r></p></txBody></sp></wsDr>",
        "xl/p.xml": '<personList><person displayName="Bob" id="{1}"/></personList>',
        "xl/worksheets/_rels/sheet1.xml.rels": relations(
            {"../c.xml": "comments", "../t.xml": "threadedComment", "../d.xml": "drawing"}
        ),
        "xl/_rels/workbook.xml.rels": relations(
            {"worksheets/sheet1.xml": "worksheet", "p.xml": "person"}
        ),
    }
    with zipfile.ZipFile(io.BytesIO(make_xlsx({"S": rows_of(["text"])}))) as archive:
        files: dict[str, str | bytes] = {n: archive.read(n) for n in archive.namelist()}
    document = parse("a.xlsx", make_zip(files | parts))
    comments = "Comment on A1 by Bob, 2024-05-06: so\nComment on B2 by Ann: why?"
    assert document.text == f"S\ntext\nin a box\n{comments}"
    assert document.marks[-1].anchor == Anchor(sheet="S", cells="B2")


def test_an_old_workbook_with_a_password_is_named_so() -> None:
    records = b"\x09\x08\x10\0" + bytes(16) + b"\x86\0\0\0" + b"\x2f\0\4\0abcd"
    with pytest.raises(Unreadable) as caught:
        read(SourceFile(Path("a.xls"), make_ole({"Workbook": records})), DocumentDraft(1000))
    assert caught.value.reason == "encrypted"


def test_a_workbook_that_makes_the_library_panic_is_damaged() -> None:
    book = (8).to_bytes(1) + b"\0"
    sheet = b"\x9c\x01\x1c" + bytes(8) + struct.pack("<I", 2) + "r9".encode("utf-16-le")
    sheet += struct.pack("<I", 2) + "S1".encode("utf-16-le")
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations({"xl/workbook.bin": "officeDocument"}),
        "xl/workbook.bin": book + sheet,
        "xl/_rels/workbook.bin.rels": relations({"x.bin": "worksheet"}),
    }
    with pytest.raises(Unreadable) as caught:
        read(SourceFile(Path("a.xlsb"), make_zip(files)), DocumentDraft(1000))
    assert caught.value.reason == "damaged"


@pytest.mark.skipif(not BINARY_BOOK.is_file(), reason="the shared files are not here")
def test_a_workbook_that_only_the_library_cannot_read_is_not_called_damaged() -> None:
    source = SourceFile(BINARY_BOOK, BINARY_BOOK.read_bytes())
    with pytest.raises(Unreadable) as caught:
        read(source, DocumentDraft(1000))
    assert caught.value.reason == "unsupported"
    assert "as .xlsx" in caught.value.hint


def test_a_hidden_sheet_is_named_and_not_read() -> None:
    rows = '<row r="1">{}{}</row>'
    content = make_xlsx({
        "Now": rows.format(cell("A1", "Rope"), cell("B1", 40)),
        "Former": rows.format(cell("A1", "Rope"), cell("B1", 29)),
    })  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    book = archive_text(parts["xl/workbook.xml"])
    parts["xl/workbook.xml"] = book.replace('name="Former"', 'name="Former" state="veryHidden"')
    document = parse("a.xlsx", make_zip(parts))
    assert document.text == "Now\nRope | 40"
    assert document.warnings == ("The hidden sheet Former is not read.",)


def archive_text(part: str | bytes) -> str:
    return part.decode() if isinstance(part, bytes) else part
