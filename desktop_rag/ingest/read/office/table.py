"""Rows of cells as lines of text whose anchor is the range of cells.

Runs in the parser process.
"""

import csv
import io
from collections.abc import Sequence
from functools import cache
from itertools import islice

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.blocks import SAMPLE_ROWS, header_row
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.encoding import decode
from desktop_rag.ingest.read.foundation.source_file import SourceFile

_BORDER = " | "
# A longer stretch of empty cells is written as one: nobody reads sixteen thousand bars.
_MAX_EMPTY = 8
_LETTERS = 26
_MAX_HEADER_CELLS = 200


@cache
def column_name(column: int) -> str:
    """The letters of a column counted from 0: A … Z, AA …"""
    name = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, _LETTERS)
        name = chr(ord("A") + letter) + name
    return name


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

    def close(self) -> None:
        """Set the mark of the last rows, and say what they stand under."""
        self._end_mark()
        self._end_table()

    def _end_mark(self) -> None:
        if self._offset is None:
            return
        start = f"{column_name(self._columns[0])}{self._rows[0]}"
        end = f"{column_name(self._columns[1])}{self._rows[1]}"
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
            self._header = tuple(sample[found])
            start = ends[found]
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


# CSV and TSV: a line for each row, with its cells as the anchor.
#
# Runs in the parser process.

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 50
_SAMPLE_CHARS = 100_000
_MAX_CELL_CHARS = 10_000_000
_MAX_CELL_LINES = 200


def read_delimited(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; there is no title."""
    text, warning = decode(source.data)
    if warning:
        draft.warn(warning)
    text = draft.fitting(text)
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
    """The one that makes the most columns of which most rows have the same number."""
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
