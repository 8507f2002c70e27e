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

    if source.data.startswith(b"PK"):
        open_archive(source).close()
    workbook = _open(source)
    failed = 0
    for name in workbook.sheet_names:
        try:
            sheet = workbook.get_sheet_by_name(name)
        except CalamineError:
            failed += 1
            draft.warn(f"The sheet {name} can't be read.")
            continue
        _write_sheet(draft, one_line(name), sheet)
    if failed and failed == len(workbook.sheet_names):
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


def _write_sheet(draft: Draft, name: str, sheet: "CalamineSheet") -> None:
    if sheet.start is None:
        return
    if draft.length:
        draft.add("\n\n")
    draft.add_heading(1, name)
    draft.mark(Anchor(sheet=name))
    draft.add(name)
    rows = RowWriter(draft, name)
    # Rows come from the sheet's top, cells from its first used column.
    first_row, first_column = sheet.start
    filled = islice(sheet.iter_rows(), first_row, None)
    for row, cells in enumerate(filled, start=first_row + 1):
        rows.add(row, first_column, [_shown(cell) for cell in cells])
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
