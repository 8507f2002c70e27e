"""Writes blocks as DOCX and sheets as XLSX, with fixed dates. Used by build_demo.py only."""

import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

import docx
import xlsxwriter
from demo_blocks import Block, Heading, Items, PageBreak, Paragraph, Table, Text, plain
from docx.document import Document
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph as Line

WRITTEN_AT = datetime.datetime(2026, 3, 28, 9, 0, 0)
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
HEADER_ROW = 3  # zero-based: title, note and an empty row precede it
SEA, RED, PALE = "#1F3F57", "#9C2F24", "#EEF2F4"


def write_docx(path: Path, blocks: list[Block], author: str) -> None:
    """Write `blocks` to `path` with Word's own heading and list styles.

    Raises:
        ValueError: if there is more than one numbered list (Word would continue the numbering).
    """
    if sum(isinstance(block, Items) and block.is_numbered for block in blocks) > 1:
        raise ValueError(f"{path.name}: one numbered list at most")
    document = docx.Document()
    _set_looks(document)
    for block in blocks:
        _add_block(document, block)
    document.sections[0].footer.paragraphs[0].text = author
    properties = document.core_properties
    properties.title = next(plain(block.text) for block in blocks if isinstance(block, Heading))
    properties.author = properties.last_modified_by = author
    properties.created = properties.modified = WRITTEN_AT
    properties.comments = ""
    written = io.BytesIO()
    document.save(written)
    _rewrite_zip(written, path)


def _set_looks(document: Document) -> None:
    for name, size, colour in (
        ("Title", 24, SEA), ("Heading 1", 15, RED), ("Heading 2", 12, SEA), ("Normal", 11, None),
    ):  # fmt: skip
        style: Any = document.styles[name]
        style.font.size = Pt(size)
        if colour is not None:
            style.font.color.rgb = RGBColor.from_string(colour[1:])


def _add_block(document: Document, block: Block) -> None:
    match block:
        case Heading(level, text):
            document.add_heading(plain(text), level - 1)  # level 0 is Word's Title
        case Paragraph(text):
            _fill(document.add_paragraph(), text)
        case Items(is_numbered, items):
            for item in items:
                style = "List Number" if is_numbered else "List Bullet"
                _fill(document.add_paragraph(style=style), item)
        case Table(rows):
            table = document.add_table(len(rows), len(rows[0]), style="Light Grid Accent 1")
            for table_row, texts in zip(table.rows, rows, strict=True):
                for cell, text in zip(table_row.cells, texts, strict=True):
                    _fill(cell.paragraphs[0], text)
            document.add_paragraph()
        case PageBreak():
            document.add_page_break()


def _fill(line: Line, text: Text) -> None:
    for run in text:
        line.add_run(run.text).bold = run.is_bold or None


def write_xlsx(path: Path, workbook: dict[str, Any], author: str) -> None:
    """Write the sheets of a workbook description (see demo_sources/workbook-2026.toml)."""
    written = io.BytesIO()
    book = xlsxwriter.Workbook(written, {"in_memory": True})
    book.set_properties({"title": path.stem, "author": author, "created": WRITTEN_AT})
    looks = _cell_formats(book)
    for sheet in workbook["sheets"]:
        _add_sheet(book, sheet, looks)
    book.close()
    _rewrite_zip(written, path)


def _cell_formats(book: xlsxwriter.Workbook) -> dict[str, Any]:
    looks = {
        "title": {"bold": True, "font_size": 14, "font_color": RED},
        "note": {"italic": True, "font_color": SEA},
        "header": {"bold": True, "font_color": "#FFFFFF", "bg_color": SEA},
        "int": {"num_format": "#,##0"},
        "plain": {"num_format": "0"},
        "date": {"num_format": "yyyy-mm-dd"},
        "time": {"num_format": "hh:mm"},
        "str": {},
    }
    formats = {name: book.add_format(look) for name, look in looks.items()}
    total = {"bold": True, "bg_color": PALE, "top": 1, "num_format": "#,##0"}
    return formats | {"total": book.add_format(total)}


def _add_sheet(book: xlsxwriter.Workbook, sheet: dict[str, Any], looks: dict[str, Any]) -> None:
    page = book.add_worksheet(sheet["name"])
    page.write_string(0, 0, sheet["title"], looks["title"])
    page.write_string(1, 0, sheet["note"], looks["note"])
    columns: list[str] = sheet["columns"]
    for column, (name, width) in enumerate(zip(columns, sheet["widths"], strict=True)):
        page.set_column(column, column, width)
        page.write_string(HEADER_ROW, column, name, looks["header"])
    for index, row in enumerate(sheet["rows"]):
        is_total = row[0] in sheet.get("totals", [])
        for column, (name, value) in enumerate(zip(columns, row, strict=True)):
            is_plain = isinstance(value, int) and name in sheet.get("plain", [])
            look = looks["total" if is_total else "plain" if is_plain else type(value).__name__]
            place = (HEADER_ROW + 1 + index, column)
            if isinstance(value, dict):
                page.write_formula(*place, value["formula"], look, value["value"])
            else:
                page.write(*place, value, look)
    page.freeze_panes(HEADER_ROW + 1, 1)
    page.autofilter(HEADER_ROW, 0, HEADER_ROW + len(sheet["rows"]), len(columns) - 1)
    page.set_landscape()
    page.fit_to_pages(1, 0)


def _rewrite_zip(written: io.BytesIO, path: Path) -> None:
    """Copy a zip file member by member, without the current date."""
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, ZIP_DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 0  # otherwise the file would reveal the operating system
            new.writestr(member, old.read(name))
