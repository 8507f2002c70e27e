"""Workbooks (XLSX, XLSM, XLSB, XLS, ODS): a line for each row, with its cells as the anchor.

Runs in the parser process; calamine aborts it when a sheet is too large for the memory.
"""

import datetime
import io
import struct
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.encryption import (
    encrypted,
    encrypted_for_good,
    open_archive,
)
from desktop_rag.ingest.read.foundation.ole import MAGIC, Container
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.office.sheet_extras import SheetExtras, sheet_extras
from desktop_rag.ingest.read.office.table import RowWriter

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

# Merged cells of a sheet: what they say is said for each row and column they cover.
#
# So a row makes sense without the rows above it. Runs in the parser process.

CellRange = tuple[tuple[int, int], tuple[int, int]]
# Larger ones are titles and frames, whose text need not be said again.
_MAX_ROWS = 200
_MAX_COLUMNS = 6
_MAX_CHARS = 80
_MAX_RANGES = 100_000


@dataclass(frozen=True, slots=True)
class _Open:
    last_row: int
    columns: range
    text: str


class MergedCells:
    """Fills the rows of one sheet; they must come from top to bottom, counted from 0."""

    def __init__(self, ranges: Sequence[CellRange], first_column: int) -> None:
        kept = [
            found
            for found in ranges[:_MAX_RANGES]
            if found[1][0] - found[0][0] < _MAX_ROWS and found[1][1] - found[0][1] < _MAX_COLUMNS
        ]
        self._waiting = sorted(kept, reverse=True)
        self._first_column = first_column
        self._open: list[_Open] = []

    def filled(self, row: int, texts: list[str]) -> list[str]:
        """The row with the merged cells that reach into it, unless nothing else stands there."""
        while self._waiting and self._waiting[-1][0][0] <= row:
            (top, left), (bottom, right) = self._waiting.pop()
            column = left - self._first_column
            is_here = top == row and 0 <= column < len(texts)
            if is_here and 0 < len(texts[column]) <= _MAX_CHARS:
                columns = range(column, min(right - self._first_column + 1, len(texts)))
                self._open.append(_Open(bottom, columns, texts[column]))
        self._open = [found for found in self._open if found.last_row >= row]
        own = {text for text in texts if text}
        if not self._open or not own:
            return texts
        filled = list(texts)
        for found in self._open:
            # A cell alone in its row is a title.
            if own != {found.text}:
                for column in found.columns:
                    filled[column] = filled[column] or found.text
        return filled


# Above this a float no longer holds every whole number.
_MAX_WHOLE = 1e15
# Spreadsheets show no more digits either, so 0.1 + 0.2 is 0.3.
_DIGITS = 15
# The records of an old workbook: kind and size, and the kind that comes with a password.
_RECORD = struct.Struct("<HH")
_PASSWORD, _PASSWORD_RECORDS = 0x2F, 10
# The reader gave up; that proves no damage.
_SAVE_AGAIN = "Save it as .xlsx in a spreadsheet program, and it is read."


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; a workbook has no title."""
    extras: dict[str, SheetExtras] = {}
    if source.data.startswith(b"PK"):
        with open_archive(source) as archive:
            extras = sheet_extras(archive)
    elif source.data.startswith(MAGIC) and _has_password(Container(source)):
        raise encrypted()
    with _refusing():
        workbook = _open(source)
        names = _names_of_sheets(workbook)
    failed = 0
    for name in names:
        try:
            with _refusing():
                sheet = workbook.get_sheet_by_name(name)
        except Unreadable:
            failed += 1
            draft.warn(f"The sheet {name} can't be read.")
            continue
        _write_sheet(draft, one_line(name), sheet, extras.get(name, SheetExtras()))
    if failed and failed == len(names):
        raise Unreadable("damaged", "The file is damaged", "None of its sheets can be read.")
    return ""


def _open(source: SourceFile) -> "CalamineWorkbook":
    from python_calamine import CalamineWorkbook

    return CalamineWorkbook.from_filelike(io.BytesIO(source.data))


@contextmanager
def _refusing() -> Generator[None]:
    """Turn the errors of calamine, and panics of its native code, into Unreadable."""
    from python_calamine import CalamineError, PasswordError

    try:
        yield
    except PasswordError as exc:
        raise encrypted_for_good() from exc  # of OpenDocument; others are found by their records
    except CalamineError as exc:
        raise Unreadable("damaged", "The file is damaged", "Its cells can't be read.") from exc
    except BaseException as exc:
        # Its class can't be imported.
        if type(exc).__name__ != "PanicException":
            raise
        raise Unreadable("unsupported", "This workbook can't be read", _SAVE_AGAIN) from exc


def _has_password(container: Container) -> bool:
    """True when an old workbook has, among its first records, the one of a password."""
    stream = container.stream("Workbook") or container.stream("Book") or b""
    position = 0
    for _ in range(_PASSWORD_RECORDS):
        if position + _RECORD.size > len(stream):
            return False
        kind, size = _RECORD.unpack_from(stream, position)
        if kind == _PASSWORD:
            return True
        position += _RECORD.size + size
    return False


def _names_of_sheets(workbook: "CalamineWorkbook") -> list[str]:
    """The sheets with cells: those with nothing but a chart or with macros have none."""
    from python_calamine import SheetTypeEnum

    without_cells = [SheetTypeEnum.ChartSheet, SheetTypeEnum.Vba]
    return [sheet.name for sheet in workbook.sheets_metadata if sheet.typ not in without_cells]


def _write_sheet(
    draft: DocumentDraft, name: str, sheet: "CalamineSheet", extras: SheetExtras
) -> None:
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
    draft: DocumentDraft, name: str, sheet: "CalamineSheet", first_row: int, first_column: int
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
