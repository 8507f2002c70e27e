"""Workbooks (XLSX, XLSM, XLSB, XLS, ODS) and CSV: a line for each row, its cells as the anchor.

Runs in the parser process; calamine aborts it when a sheet is too large for the memory.
"""

import csv
import datetime
import io
import struct
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from desktop_rag.core.parsed import Anchor
from desktop_rag.core.places import column_letters
from desktop_rag.ingest.read.foundation.addresses import behind
from desktop_rag.ingest.read.foundation.blocks import SAMPLE_ROWS, header_row
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.encryption import (
    encrypted,
    encrypted_for_good,
    open_archive,
)
from desktop_rag.ingest.read.foundation.looks import crossed_out
from desktop_rag.ingest.read.foundation.ole import MAGIC, Container
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.office.binary_looks import xls_looks
from desktop_rag.ingest.read.office.sheet_extras import SheetExtras, only_looks, sheet_extras
from desktop_rag.ingest.read.office.sheet_looks import SheetLooks, Show

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

_BORDER = " | "
# A longer stretch of empty cells is written as one: nobody reads sixteen thousand bars.
_MAX_EMPTY = 8
_MAX_HEADER_CELLS = 200


class RowWriter:
    """Writes the rows of one sheet; call `close` after the last.

    Each row has its own mark; in huge sheets a mark stands for a few rows. Empty rows part a sheet
    into tables, each with its own header row or that of the table above it.
    """

    def __init__(self, draft: DocumentDraft, sheet: str | None = None) -> None:
        self._draft = draft
        self._sheet = sheet
        self._offset: int | None = None
        self._rows = (0, 0)
        self._columns = (0, 0)
        self._last_row = 0
        self._table_offset = 0
        # The first rows of the table that is being written, and where each of them ends.
        self._sample: list[list[str]] = []
        self._ends: list[int] = []
        self._header: tuple[str, ...] = ()

    def add(self, row: int, column: int, cells: Sequence[str]) -> None:
        """Write a row (from 1) whose first cell is in `column` (from 0), unless it is empty."""
        texts = [" ".join(cell.split()) for cell in cells]
        filled = [index for index, text in enumerate(texts) if text]
        if not filled:
            return
        if row > self._last_row + 1:
            self._end_table()
        self._last_row = row
        if self._draft.length:
            self._draft.add("\n")
        if self._draft.is_mark_due(self._draft.length):
            self._end_mark()
        first, last = column + filled[0], column + filled[-1]
        if self._offset is None:
            self._offset, self._rows, self._columns = self._draft.length, (row, row), (first, last)
        else:
            self._rows = (self._rows[0], row)
            self._columns = (min(self._columns[0], first), max(self._columns[1], last))
        if not self._sample:
            self._table_offset = self._draft.length
        self._draft.add(_BORDER.join(_without_gaps(texts[: filled[-1] + 1])))
        if len(self._sample) < SAMPLE_ROWS:
            self._sample.append(texts[: filled[-1] + 1][:_MAX_HEADER_CELLS])
            self._ends.append(self._draft.length)

    def skip(self, row: int) -> None:
        """Leave out a row inside a table."""
        self._last_row = max(self._last_row, row)

    def close(self) -> None:
        """Set the mark of the last rows, and their table header."""
        self._end_mark()
        self._end_table()

    def _end_mark(self) -> None:
        if self._offset is None:
            return
        start = f"{column_letters(self._columns[0])}{self._rows[0]}"
        end = f"{column_letters(self._columns[1])}{self._rows[1]}"
        cells = start if start == end else f"{start}:{end}"
        self._draft.mark(Anchor(sheet=self._sheet, cells=cells), self._offset)
        self._offset = None

    def _end_table(self) -> None:
        sample, self._sample = self._sample, []
        ends, self._ends = self._ends, []
        if not sample:
            return
        found = header_row(sample)
        if found is not None:
            self._header = tuple(found[1])
            start = ends[found[0]]
        elif self._header and all(_is_below(self._header, row) for row in sample):
            start = self._table_offset
        else:
            self._header = ()
            return
        header = _BORDER.join(_without_gaps(list(self._header)))
        self._draft.add_table_header(start, header.strip(_BORDER))


def _is_below(header: Sequence[str], row: Sequence[str]) -> bool:
    """True when a row fits under this header: as wide, with most of its cells under a name."""
    filled = [index for index, cell in enumerate(row) if cell]
    named = sum(1 for index in filled if index < len(header) and header[index])
    return len(filled) > 1 and named == len(filled)


def _without_gaps(texts: list[str]) -> list[str]:
    if len(texts) <= _MAX_EMPTY or all(texts):
        return texts
    kept: list[str] = []
    empty = 0
    for text in texts:
        empty = 0 if text else empty + 1
        if empty <= _MAX_EMPTY:
            kept.append(text)
    return kept


_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 50
_SAMPLE_CHARS = 100_000
_MAX_CELL_CHARS = 10_000_000
_MAX_CELL_LINES = 200


def read_delimited(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft from CSV or TSV; there is no title."""
    text = draft.fitting(draft.decoded(source.data))
    csv.field_size_limit(_MAX_CELL_CHARS)
    # Excel writes the delimiter in a first line of its own.
    hint, _, rest = text.partition("\n")
    if hint.lower().startswith("sep=") and len(hint.strip()) == len("sep=,"):
        delimiter, first_row, text = hint[4], 2, rest
    else:
        delimiter, first_row = _delimiter(text[:_SAMPLE_CHARS]), 1
    quoting = csv.QUOTE_NONE if _has_runaway_quote(text, delimiter) else csv.QUOTE_MINIMAL
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, quoting=quoting)
    rows = RowWriter(draft)
    for row, cells in enumerate(reader, first_row):
        rows.add(row, 0, cells)
    rows.close()
    return ""


def _has_runaway_quote(text: str, delimiter: str) -> bool:
    """True when a quote that is never closed turns everything after it into a single cell."""
    if text.count('"') % 2 == 0:
        return False
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    return any(cell.count("\n") > _MAX_CELL_LINES for row in rows for cell in row)


def _delimiter(sample: str) -> str:
    """The delimiter with the most columns whose number is the same in most rows."""
    return max(_DELIMITERS, key=lambda delimiter: _regularity(sample, delimiter))


def _regularity(sample: str, delimiter: str) -> float:
    try:
        rows = csv.reader(io.StringIO(sample), delimiter=delimiter)
        widths = [len(row) for row in islice(rows, _SAMPLE_ROWS) if row]
    except csv.Error:
        return 0.0
    if not widths:
        return 0.0
    usual = max(set(widths), key=widths.count)
    return (usual - 1) * (widths.count(usual) / len(widths)) ** 2


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
    """Repeats the text of merged cells in each row, so that it makes sense without those above.

    The rows of the sheet must come from top to bottom, counted from 0.
    """

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
    if source.data.startswith(b"PK"):
        with open_archive(source) as archive:
            return _read(source, draft, sheet_extras(archive))
    if source.data.startswith(MAGIC):
        container = Container(source)
        stream = container.stream("Workbook") or container.stream("Book") or b""
        if _has_password(stream):
            raise encrypted()
        return _read(source, draft, only_looks(xls_looks(stream)))
    return _read(source, draft, {})


def _read(source: SourceFile, draft: DocumentDraft, extras: dict[str, SheetExtras]) -> str:
    with _refusing():
        workbook = _open(source)
        names = _names_of_sheets(workbook)
        hidden = _hidden_sheets(workbook)
    failed = 0
    for name in names:
        if name in hidden:
            draft.warn(f"The hidden sheet {name} is not read.")
            continue
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


def _has_password(stream: bytes) -> bool:
    """True when an old workbook has, among its first records, the one of a password."""
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


def _hidden_sheets(workbook: "CalamineWorkbook") -> set[str]:
    """The sheets that nobody sees; none if that is all of them."""
    from python_calamine import SheetVisibleEnum

    sheets = workbook.sheets_metadata
    hidden = {sheet.name for sheet in sheets if sheet.visible != SheetVisibleEnum.Visible}
    return hidden if len(hidden) < len(sheets) else set()


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
        _write_rows(draft, name, sheet, extras.looks())
    if extras.drawn:
        draft.add("\n")
        draft.mark(Anchor(sheet=name))
        draft.add("\n".join(extras.drawn))
    for cell, text in extras.comments:
        draft.add("\n")
        if draft.is_mark_due(draft.length):
            draft.mark(Anchor(sheet=name, cells=cell or None))
        draft.add(f"Comment on {cell}{text}")


def _write_rows(draft: DocumentDraft, name: str, sheet: "CalamineSheet", looks: SheetLooks) -> None:
    assert sheet.start is not None
    first_row, first_column = sheet.start
    rows = RowWriter(draft, name)
    merged = MergedCells(sheet.merged_cell_ranges or [], first_column)
    left_out = {n - first_column for n in looks.hidden_columns}
    hidden = 0
    # Rows come from the sheet's top, cells from its first used column.
    filled = islice(sheet.iter_rows(), first_row, None)
    for row, cells in enumerate(filled, start=first_row):
        look = looks.of_row(row)
        texts = [
            "" if n in left_out else _shown(cell, look.shows.get(n + first_column))
            for n, cell in enumerate(cells)
        ]
        if looks.texts:
            texts = ["\n".join(looks.texts.get(t, t) for t in text.split("\n")) for text in texts]
        for n in look.crossed_out:
            if 0 <= n - first_column < len(texts):
                texts[n - first_column] = crossed_out(texts[n - first_column])
        for n, text in enumerate(texts if looks.addresses else ()):
            cell = f"{column_letters(first_column + n)}{row + 1}"
            texts[n] += behind(text, looks.addresses.get(cell, ""))
        texts = merged.filled(row, texts)
        if look.is_hidden:
            hidden += any(texts)
            rows.skip(row + 1)
        else:
            rows.add(row + 1, first_column, texts)
    rows.close()
    if columns := left_out.intersection(range(sheet.width)):
        draft.warn(f"Hidden columns of the sheet {name} are not read: {len(columns)}.")
    if hidden:
        draft.warn(f"Hidden rows of the sheet {name} are not read: {hidden}.")
    if looks.unstored:
        draft.warn(f"Formulas of the sheet {name} have no stored values: {looks.unstored}.")


def _shown(value: object, show: Show | None = None) -> str:
    """A cell's value as text: whole numbers without `.0`, hours above 24, dates in ISO form, with
    what the sheet shows where that is another.
    """
    match value:
        case str():
            return value
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float() if show and (shown := show(value)):
            return shown
        case float():
            is_whole = value.is_integer() and abs(value) < _MAX_WHOLE
            return str(int(value)) if is_whole else f"{value:.{_DIGITS}g}"
        case datetime.date() | datetime.time():
            is_moment = isinstance(value, datetime.datetime)
            iso = value.isoformat(sep=" ", timespec="seconds") if is_moment else value.isoformat()
            iso, shown = iso.removesuffix(" 00:00:00"), show(value) if show else ""
            return f"{iso} ({shown})" if shown and shown != iso else iso
        case datetime.timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
        case _:
            return str(value)
