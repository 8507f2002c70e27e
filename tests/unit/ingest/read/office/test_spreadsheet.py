import io
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from desktop_rag.core.parsed import Anchor, ParsedDocument
from desktop_rag.core.places import column_letters
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.office.spreadsheet import read
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
    "<office:spreadsheet>{}</office:spreadsheet></office:body></office:document-content>"
)
FEES = (
    '<table:table table:name="Fees"><table:table-row>'
    '<table:table-cell office:value-type="string"><text:p>Ann</text:p></table:table-cell>'
    '<table:table-cell office:value-type="date" office:date-value="2024-05-06"/>'
    "</table:table-row></table:table>"
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


def make_ods(tables: str) -> bytes:
    return make_zip({
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": MANIFEST,
        "content.xml": ODS.format(tables),
    })  # fmt: skip


def test_open_document_sheets_are_read() -> None:
    assert parse("a.ods", make_ods(FEES)).text == "Fees\nAnn | 2024-05-06"


def test_a_workbook_without_cells_has_no_text() -> None:
    with pytest.raises(Unreadable) as caught:
        parse("a.xlsx", make_xlsx({"S": ""}))
    assert (caught.value.reason, caught.value.title) == ("no text", "No text found")


@pytest.mark.parametrize(
    ("column", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16383, "XFD")]
)
def test_columns_are_named_as_in_spreadsheets(column: int, name: str) -> None:
    assert column_letters(column) == name


def rows_of(*rows: Sequence[str | float]) -> str:
    """The rows of a sheet from A1 on; an empty row leaves its number out."""
    return "".join(
        f'<row r="{n}">'
        + "".join(cell(f"{column_letters(c)}{n}", v) for c, v in enumerate(row))
        + "</row>"
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
    said = 'ref="A1" dT="2024-05-06T10:00:00Z" personId="{1}"'
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
    comments = "Comment on A1 by Bob, 2024-05-06 10:00: so\nComment on B2 by Ann: why?"
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


MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def shown(values: Sequence[tuple[str, float]]) -> ParsedDocument:
    """A sheet with a row for each value in its number format."""
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" s="{n}"><v>{value!r}</v></c></row>'
        for n, (_, value) in enumerate(values, 1)
    )
    content = make_xlsx({"S": rows})
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    formats = "".join(
        f'<numFmt numFmtId="{n + 163}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
        for n, (code, _) in enumerate(values, 1)
    )
    used = "".join(f'<xf numFmtId="{n + 163}"/>' for n, _ in enumerate(values, 1))
    parts["xl/styles.xml"] = (
        f"<styleSheet {MAIN}><numFmts>{formats}</numFmts>"
        f'<cellXfs><xf numFmtId="0"/>{used}</cellXfs></styleSheet>'
    )
    parts["xl/_rels/workbook.xml.rels"] = relations(
        {"worksheets/sheet1.xml": "worksheet", "styles.xml": "styles"}
    )
    return parse("a.xlsx", make_zip(parts))


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("0.0%", 0.125, "12.5%"),
        ("0%", 0.12345, "12% (12.345%)"),
        ("0.00%", -0.0314, "-3.14%"),
        ("#,##0.00 €", 1234.5, "1,234.50 €"),
        ("[$€-407] #,##0.00;[Red]-[$€-407] #,##0.00", -1234.5, "-€ 1,234.50"),
        ('_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', -50.0, "-$50.00"),
        ("0%", 0.125, "13% (12.5%)"),
        ("0%", 0.145, "15% (14.5%)"),
        ("0.00 €", 1.005, "1.01 € (1.005)"),
        ('#,##0 "€"', 10.4, "10 € (10.4)"),
        ('#,##0 "€"', -10.4, "-10 € (-10.4)"),
        ('#,##0 "€"', 0.1 + 0.2, "0 € (0.3)"),
        ("#,##0.0,\\k", 12345.0, "12.3k (12345)"),
        ("#,##0,", 12345.0, "12 (12345)"),
        ("000-00", 123.5, "001-24 (123.5)"),
        ("#,##0 €", 1e300, f"1{',000' * 100} €"),
        ("00000", 501.0, "00501"),
        ('"ORD-"0000', 7.0, "ORD-0007"),
        ("000-00-0000", 12345678.0, "012-34-5678"),
        ("(000) 000-0000", 5551234567.0, "(555) 123-4567"),
        ('0.0" kg"', 12.34, "12.3 kg (12.34)"),
        ('General" pcs"', 12.0, "12 pcs"),
        ('0.0,,"M"', 1234567.0, "1.2M (1234567)"),
        ('0,,"M"', 2000000.0, "2M (2000000)"),
        ("#,##0", 1250000.0, "1250000"),
        ("0.00", 3.14159, "3.14159"),
        ("# ?/?", 0.75, "0.75"),
        ("0.00E+00", 12345.0, "12345"),
        ("[<100]0;0.0", 5.0, "5"),
        ('[>=1000]0.0,"k";0" items"', 1500.0, "1.5k (1500)"),
        ('[Red][>=1000]0.0,"k";0" items"', -5.0, "-5 items"),
        ('"Yes";"Yes";"No"', 1.0, "Yes (1)"),
        ('"Yes";"Yes";"No"', 0.0, "No (0)"),
        ('0" €";-0" €";"–"', 0.0, "0 €"),
        ('0" €";-0" €";"-"??', 0.0, "0 €"),
        ("[h]:mm", 1.5, "36:00"),
    ],
)
def test_a_number_is_read_as_the_sheet_shows_it(code: str, value: float, text: str) -> None:
    assert shown([(code, value)]).text == f"S\n{text}"


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("dd.mm.yyyy", 46191.0, "2026-06-18 (18.06.2026)"),
        ("yyyy-mm-dd", 46191.0, "2026-06-18"),
        ('d" of "mmmm yy', 46191.0, "2026-06-18 (18 of June 26)"),
        ("ddd, mmm d", 46191.0, "2026-06-18 (Thu, Jun 18)"),
        ("[$-409]d. mmmm yyyy", 46191.0, "2026-06-18 (18. June 2026)"),
        ("[$-407]d. mmmm yyyy", 46191.0, "2026-06-18 (18. Juni 2026)"),
        ("[$-1040C]dddd d mmmm yyyy", 46191.0, "2026-06-18 (jeudi 18 juin 2026)"),
        ("[$-407]d. mmm yyyy", 46191.0, "2026-06-18 (18. Jun 2026)"),
        ("[$-40C]ddd d mmm yy", 45978.0, "2025-11-17 (lun 17 nov 25)"),
        ("[$-F800]dddd, mmmm dd, yyyy", 46191.0, "2026-06-18 (Thursday, June 18, 2026)"),
        ("[$-FFF]d mmmm yyyy", 46191.0, "2026-06-18"),
        ("[$-407]d.m.yy", 46191.0, "2026-06-18 (18.6.26)"),
        ("m/d/yy h:mm AM/PM", 46191.5625, "2026-06-18 13:30:00 (6/18/26 1:30 PM)"),
        ("h:mm AM/PM", 0.5625, "13:30:00 (1:30 PM)"),
        ("hh:mm:ss", 0.5625, "13:30:00"),
        ("mmm-yy", 46191.0, "2026-06-18 (Jun-26)"),
        ("d.m. hh:mm:ss;@", 46191.0, "2026-06-18 (18.6. 00:00:00)"),
    ],
)
def test_a_date_is_read_with_what_the_sheet_shows(code: str, value: float, text: str) -> None:
    assert shown([(code, value)]).text == f"S\n{text}"


def test_hidden_rows_and_columns_are_named_and_not_read() -> None:
    rows = rows_of(["Rope", 40, 3], ["Old rope", 29, 3], ["Twine", 5, 3])
    hidden = rows.replace('<row r="2"', '<row r="2" hidden="1"')
    columns = '</sheetData><cols><col min="3" max="3" hidden="1"/></cols><sheetData>'
    document = parse("a.xlsx", make_xlsx({"S": f"{hidden}{columns}"}))
    assert document.text == "S\nRope | 40\nTwine | 5"
    assert document.warnings == (
        "Hidden columns of the sheet S are not read: 1.",
        "Hidden rows of the sheet S are not read: 1.",
    )


@pytest.mark.parametrize("kept", ["<autoFilter><filterColumn/></autoFilter>", "outline"])
def test_rows_that_a_press_shows_again_are_read(kept: str) -> None:
    """A filter and a closed group hide rows for a while."""
    hidden = 'hidden="1" outlineLevel="1"' if kept == "outline" else 'hidden="1"'
    rows = rows_of(["Rope", 40], ["Twine", 5]).replace('<row r="2"', f'<row r="2" {hidden}')
    after = "" if kept == "outline" else f"</sheetData>{kept}<sheetData>"
    document = parse("a.xlsx", make_xlsx({"S": rows + after}))
    assert document.text == "S\nRope | 40\nTwine | 5"
    assert not document.warnings


def test_formulas_without_a_stored_value_are_counted() -> None:
    rows = (
        '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><f>A1*2</f></c><c r="C1"><f>A1</f><v>2</v></c>'
    )
    document = parse("a.xlsx", make_xlsx({"S": f"{rows}</row>"}))
    assert document.warnings == ("Formulas of the sheet S have no stored values: 1.",)


def test_formulas_of_open_documents_without_a_stored_value_are_counted() -> None:
    formula = '<table:table-cell table:formula="of:=1*2" {}/>'
    stored = 'office:value-type="float" office:value="2"'
    cells = formula.format("") + formula.format(stored)
    rows = f"<table:table-row>{cells}</table:table-row>"
    document = parse("a.ods", make_ods(f'<table:table table:name="S">{rows}</table:table>'))
    assert document.warnings == ("Formulas of the sheet S have no stored values: 1.",)


def test_open_document_dates_and_addresses_are_read_as_shown() -> None:
    xlink = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    link = f'<text:a {xlink} xlink:href="https://example.org/rope">Rope</text:a>'
    date = 'office:value-type="date" office:date-value="2026-06-18"'
    row = (
        f'<table:table-row><table:table-cell office:value-type="string"><text:p>{link}</text:p>'
        f"</table:table-cell><table:table-cell {date}><text:p>18. Juni 26</text:p>"
        "</table:table-cell></table:table-row>"
    )
    document = parse("a.ods", make_ods(f'<table:table table:name="S">{row}</table:table>'))
    assert document.text == "S\nRope (https://example.org/rope) | 2026-06-18 (18. Juni 26)"


def test_open_document_numbers_are_read_as_shown() -> None:
    cells = "".join(
        f'<table:table-cell office:value-type="{kind}" office:value="{value}" '
        f'table:number-columns-repeated="{count}"><text:p>{text}</text:p></table:table-cell>'
        for kind, value, text, count in (
            ("percentage", "0.125", "12,5 %", 1),
            ("currency", "1250", "1.250,00 €", 2),
            ("float", "7", "007", 1),
            ("float", "1250", "1,250", 1),
            ("currency", "10.4", "10 €", 1),
            ("percentage", "-0.12345", "-12 %", 1),
            ("float", "1234567", "1,2 Mio", 1),
            ("currency", "1250", "1.250 €", 1),
        )
    )
    hidden = '<table:table-row table:visibility="collapse"><table:table-cell '
    hidden += 'office:value-type="string"><text:p>old</text:p></table:table-cell></table:table-row>'
    row = f"<table:table-row>{cells}</table:table-row>{hidden}"
    document = parse("a.ods", make_ods(f'<table:table table:name="S">{row}</table:table>'))
    rounded = "10 € (10.4) | -12 % (-12.345%) | 1,2 Mio (1234567) | 1.250 € (1250)"
    assert document.text == f"S\n12,5 % | 1.250,00 € | 1.250,00 € | 007 | 1250 | {rounded}"
    assert document.warnings == ("Hidden rows of the sheet S are not read: 1.",)


def archive_text(part: str | bytes) -> str:
    return part.decode() if isinstance(part, bytes) else part


RICH = (
    "<sst><si><r><t>Staff 84</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>1</t></r></si>"
    "<si><r><t xml:space='preserve'>Fee </t></r><r><rPr><strike/></rPr><t>90</t></r><r>"
    "<t xml:space='preserve'> 80</t></r></si></sst>"
)
STRUCK = (
    "<styleSheet><fonts><font/><font><strike/></font></fonts>"
    '<cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs></styleSheet>'
)


def test_letters_of_cells_that_are_raised_or_crossed_out() -> None:
    cells = '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" s="1"><v>500</v></c>'
    content, changed = make_xlsx({"S": f'<row r="1">{cells}</row>'}), io.BytesIO()
    kinds = {"sharedStrings": RICH, "styles": STRUCK}
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    related = relations({f"{kind}.xml": kind for kind in kinds}).partition("<Relationship ")
    more = "".join(related[1:]).replace('"r', '"x')
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(changed, "w") as after:
        for name in set(before.namelist()) - {f"xl/{kind}.xml" for kind in kinds}:
            is_list = name.endswith("workbook.xml.rels")
            data = before.read(name).decode()
            after.writestr(name, data.replace("</Relationships>", more) if is_list else data)
        for kind, xml in kinds.items():
            after.writestr(f"xl/{kind}.xml", xml.replace(">", f" {space}>", 1))
    assert parse("a.xlsx", changed.getvalue()).text == "S\nStaff 84¹ | Fee ~~90~~ 80 | ~~500~~"


def test_cells_of_open_document_sheets_that_are_crossed_out() -> None:
    styles = "".join(
        f'<style:style xmlns:style="style" style:name="{name}"><style:text-properties {said}/>'
        "</style:style>"
        for name, said in (
            ("out", 'style:text-line-through-style="solid"'),
            ("up", 'style:text-position="super 58%"'),
        )
    )
    cells = '<table:table-cell table:style-name="out" office:value-type="float" office:value="500">'
    cells += "<text:p>500</text:p></table:table-cell>"
    cells += '<table:table-cell office:value-type="string"><text:p>Staff 84'
    cells += '<text:span text:style-name="up">1</text:span></text:p></table:table-cell>'
    row = f"<table:table-row>{cells}</table:table-row>"
    content = make_ods(f'{styles}<table:table table:name="S">{row}</table:table>')
    assert parse("a.ods", content).text == "S\n~~500~~ | Staff 84¹"
