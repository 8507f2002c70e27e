"""Workbooks (XLSX, XLSM, XLSB, XLS, ODS): a line for each row, with its cells as the anchor.

Runs in the parser process; calamine aborts it when a sheet is too large for the memory.
"""

import datetime
import io
from itertools import islice
from typing import TYPE_CHECKING

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.archive import open_archive
from desktop_rag.ingest.read.draft import Draft, one_line
from desktop_rag.ingest.read.merged_cells import MergedCells
from desktop_rag.ingest.read.sheet_extras import SheetExtras, sheet_extras
from desktop_rag.ingest.read.source import SourceFile, Unreadable
from desktop_rag.ingest.read.table import RowWriter

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

# Above this a float no longer holds every whole number.
_MAX_WHOLE = 1e15
# Spreadsheets show no more digits either, so 0.1 + 0.2 is 0.3.
_DIGITS = 15


def read(source: SourceFile, draft: Draft) -> str:
    """Fill the draft; a workbook has no title."""
    from python_calamine import CalamineError

    extras: dict[str, SheetExtras] = {}
    if source.data.startswith(b"PK"):
        with open_archive(source) as archive:
            extras = sheet_extras(archive)
    workbook = _open(source)
    failed = 0
    names = _names_of_sheets(workbook)
    for name in names:
        try:
            sheet = workbook.get_sheet_by_name(name)
        except CalamineError:
            failed += 1
            draft.warn(f"The sheet {name} can't be read.")
            continue
        _write_sheet(draft, one_line(name), sheet, extras.get(name, SheetExtras()))
    if failed and failed == len(names):
        raise Unreadable("damaged", "The file is damaged", "None of its sheets can be read.")
    return ""


def _open(source: SourceFile) -> "CalamineWorkbook":
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(source.data))
    except PasswordError as exc:
        raise Unreadable("encrypted", "Encrypted: a password is needed") from exc
    except CalamineError as exc:
        raise Unreadable("damaged", "The file is damaged", str(exc)) from exc


def _names_of_sheets(workbook: "CalamineWorkbook") -> list[str]:
    """The sheets with cells: those with nothing but a chart or with macros have none."""
    from python_calamine import SheetTypeEnum

    without_cells = [SheetTypeEnum.ChartSheet, SheetTypeEnum.Vba]
    return [sheet.name for sheet in workbook.sheets_metadata if sheet.typ not in without_cells]


def _write_sheet(draft: Draft, name: str, sheet: "CalamineSheet", extras: SheetExtras) -> None:
    if sheet.start is None and not extras.comments and not extras.drawn:
        return
    if draft.length:
        draft.add("\n\n")
    draft.add_heading(1, name)
    draft.mark(Anchor(sheet=name))
    draft.add(name)
    if sheet.start is not None:
        _write_rows(draft, name, sheet, *sheet.start)
    if extras.drawn:
        draft.add("\n")
        draft.mark(Anchor(sheet=name))
        draft.add("\n".join(extras.drawn))
    for cell, text in extras.comments:
        draft.add("\n")
        if draft.is_mark_due(draft.length):
            draft.mark(Anchor(sheet=name, cells=cell or None))
        draft.add(f"Comment on {cell}{text}")


def _write_rows(
    draft: Draft, name: str, sheet: "CalamineSheet", first_row: int, first_column: int
) -> None:
    rows = RowWriter(draft, name)
    merged = MergedCells(sheet.merged_cell_ranges or [], first_column)
    # Rows come from the sheet's top, cells from its first used column.
    filled = islice(sheet.iter_rows(), first_row, None)
    for row, cells in enumerate(filled, start=first_row):
        rows.add(row + 1, first_column, merged.filled(row, [_shown(cell) for cell in cells]))
    rows.close()


def _shown(value: object) -> str:
    """A cell's value as text: whole numbers without `.0`, dates in ISO form."""
    match value:
        case str():
            return value
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            is_whole = value.is_integer() and abs(value) < _MAX_WHOLE
            return str(int(value)) if is_whole else f"{value:.{_DIGITS}g}"
        case datetime.datetime():
            return value.isoformat(sep=" ", timespec="seconds").removesuffix(" 00:00:00")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return str(value)
