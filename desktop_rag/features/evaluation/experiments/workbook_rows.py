"""The rows of the first sheet of a workbook, as the parser process has read it. Pure.

A sheet that fills all memory ends that process, and not the app.
"""

import re
from collections.abc import Mapping

from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ParsedDocument

WORKBOOKS = frozenset({".xlsx", ".xlsm", ".xls", ".ods"})
_BORDER = " | "
_CELLS = re.compile(r"([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?")
_LETTERS = 26


def workbook_rows(document: ParsedDocument | None) -> list[Mapping[str, str]]:
    """Each row below the first, by the names in the first one. AppError for an unclear row."""
    if document is None or not document.marks:
        return []
    sheet = document.marks[0].anchor.sheet
    ends = [*(mark.offset for mark in document.marks[1:]), len(document.text)]
    rows: list[list[str]] = []
    last_row = first_column = 0
    for mark, end in zip(document.marks, ends, strict=True):
        place = _CELLS.fullmatch(mark.anchor.cells or "")
        # Comments on cells follow the rows.
        if mark.anchor.sheet != sheet or not place or int(place[2]) <= last_row:
            continue
        lines = document.text[mark.offset : end].strip("\n").split("\n")
        last_row = int(place[4] or place[2])
        split = [line.split(_BORDER) for line in lines]
        if not rows:
            first_column = _column(place[1]) - sum(not cell.strip() for cell in split[0])
        elif len(lines) == 1 and len(split[0]) > _column(place[3] or place[1]) - first_column + 1:
            hint = "Write several answers of a cell with | and no spaces around it."
            raise AppError(f"Row {last_row} can't be told apart.", hint)
        rows += split
    return [dict(zip(rows[0], cells, strict=False)) for cells in rows[1:]]


def _column(letters: str) -> int:
    """The number of a column, from 1."""
    number = 0
    for letter in letters:
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number
