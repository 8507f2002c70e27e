"""Locations of spans in a document's text, and their stored form. Pure, any thread."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

from desktop_rag.core.parsed import (
    HEADING_SEPARATOR,
    Anchor,
    Heading,
    Mark,
    ParsedDocument,
    TableHeader,
)

_RANGE = re.compile(r"^([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?$")
# Longer heading paths are of no use, and a hostile file could nest them without end.
_MAX_DEPTH = 16


class Places:
    """Maps offsets of a document's text to anchors."""

    def __init__(self, marks: Sequence[Mark], headings: Sequence[Heading]) -> None:
        """Marks and headings are sorted by offset."""
        self._marks = marks
        self._offsets = [mark.offset for mark in marks]
        self._headings = headings
        self._heading_offsets = [heading.offset for heading in headings]
        self._parents = _parents(headings)

    def anchor(self, start: int, end: int) -> Anchor:
        """The location of the text [start, end): where it begins, and all of its cells."""
        index = bisect_right(self._offsets, start) - 1
        first = self._marks[index].anchor if index >= 0 else Anchor()
        if first.cells:
            return replace(first, cells=self._cells(index, end))
        if first.page is None and first.slide is None and first.sheet is None:
            path = self.path(start)
            return replace(first, heading=HEADING_SEPARATOR.join(path)) if path else first
        return first

    def path(self, offset: int) -> tuple[str, ...]:
        """The titles of the headings above `offset`, outermost first."""
        path: list[str] = []
        index = bisect_right(self._heading_offsets, offset) - 1
        while index >= 0 and len(path) < _MAX_DEPTH:
            path.append(self._headings[index].title)
            index = self._parents[index]
        return tuple(reversed(path))

    def boundaries(self) -> Iterator[int]:
        """The offsets at which a new page, slide or sheet begins, or the app's own words end."""
        for (_, before), (offset, here) in pairwise(zip(self._offsets, self._marks, strict=True)):
            if _leaf(before.anchor) != _leaf(here.anchor):
                yield offset

    def _cells(self, index: int, end: int) -> str:
        first = self._marks[index].anchor
        last = bisect_right(self._offsets, max(self._offsets[index], end - 1))
        marks = (self._marks[i].anchor for i in range(index, last))
        return join_cells([a.cells for a in marks if a.cells and a.sheet == first.sheet])


def _leaf(anchor: Anchor) -> tuple[int | None, int | None, str | None, bool | None]:
    return anchor.page, anchor.slide, anchor.sheet, anchor.by_app


def _parents(headings: Iterable[Heading]) -> list[int]:
    """The index of the enclosing heading for each heading, -1 for none."""
    parents: list[int] = []
    ancestors: list[tuple[int, int]] = []
    for index, heading in enumerate(headings):
        while ancestors and ancestors[-1][0] >= heading.level:
            ancestors.pop()
        parents.append(ancestors[-1][1] if ancestors else -1)
        ancestors.append((heading.level, index))
    return parents


def join_cells(ranges: Sequence[str]) -> str:
    """The smallest range that covers all: `A5:D5` and `A9:E9` → `A5:E9`."""
    if len(ranges) == 1:
        return ranges[0]
    columns: list[str] = []
    rows: list[int] = []
    for cells in ranges:
        match = _RANGE.match(cells)
        if not match:
            return ranges[0]
        columns += (match[1], match[3] or match[1])
        rows += (int(match[2]), int(match[4] or match[2]))
    # Shorter column names sort first: Z precedes AA.
    ordered = sorted(columns, key=lambda column: (len(column), column))
    return f"{ordered[0]}{min(rows)}:{ordered[-1]}{max(rows)}"


# The stored form has one column per field: {"marks": {"offset": […], "page": […]}, …}. Offsets are
# delta-encoded; repetitive values, such as sheet names, are dictionary-encoded as [values, index of
# each].
_KINDS = {"marks": "offset", "headings": "offset", "table_headers": "start"}


def places_to_json(document: ParsedDocument) -> str:
    """Marks, headings and table headers as one JSON text; "" when there are none."""
    rows: dict[str, list[dict[str, Any]]] = {
        "marks": [{"offset": m.offset, **m.anchor.to_json()} for m in document.marks],
        "headings": [
            {"offset": h.offset, "level": h.level, "title": h.title} for h in document.headings
        ],
        "table_headers": [
            {"start": t.start, "length": t.end - t.start, "text": t.text}
            for t in document.table_headers
        ],
    }
    columns = {kind: _columns(rows[kind], order) for kind, order in _KINDS.items() if rows[kind]}
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":")) if columns else ""


def places_from_json(
    text: str,
) -> tuple[tuple[Mark, ...], tuple[Heading, ...], tuple[TableHeader, ...]]:
    """The inverse of `places_to_json`; an empty text gives empty tuples."""
    columns: dict[str, dict[str, list[Any]]] = json.loads(text) if text else {}
    rows = {kind: list(_rows(columns.get(kind, {}), order)) for kind, order in _KINDS.items()}
    marks = (Mark(row.pop("offset"), Anchor.from_json(row)) for row in rows["marks"])
    headings = (Heading(**row) for row in rows["headings"])
    table_headers = (
        TableHeader(row["start"], row["start"] + row["length"], row["text"])
        for row in rows["table_headers"]
    )
    return tuple(marks), tuple(headings), tuple(table_headers)


def mark_columns(text: str) -> dict[str, list[Any]]:
    """The marks of stored places as lists by field, `offset` among them.

    Much faster than `places_from_json` for sheets of a hundred thousand rows.
    """
    columns = (json.loads(text) if text else {}).get("marks", {})
    found = {name: _unpacked(column) for name, column in columns.items() if name != "offset"}
    return {"offset": list(accumulate(columns.get("offset", ()))), **found}


def _columns(rows: list[dict[str, Any]], order: str) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row if name != order)
    columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in names}
    offsets: list[int] = [row[order] for row in rows]
    packed = {name: _packed(values) for name, values in columns.items()}
    return {order: [offsets[0], *(b - a for a, b in pairwise(offsets))], **packed}


def _rows(columns: dict[str, list[Any]], order: str) -> Iterator[dict[str, Any]]:
    if not columns:
        return
    unpacked = {name: _unpacked(column) for name, column in columns.items() if name != order}
    for index, offset in enumerate(accumulate(columns[order])):
        values = {name: column[index] for name, column in unpacked.items()}
        yield {order: offset, **{n: value for n, value in values.items() if value is not None}}


def _packed(values: list[Any]) -> list[Any]:
    distinct = {value: index for index, value in enumerate(dict.fromkeys(values))}
    if len(distinct) * 2 > len(values):
        return values
    return [list(distinct), [distinct[value] for value in values]]


def _unpacked(column: list[Any]) -> list[Any]:
    if column and isinstance(column[0], list):
        values, indices = column
        return [values[index] for index in indices]
    return column


_LETTERS = 26


@cache
def column_letters(column: int) -> str:
    """The letters of a column of a sheet, counted from 0: A … Z, AA …"""
    name, column = "", column + 1
    while column:
        column, letter = divmod(column - 1, _LETTERS)
        name = chr(ord("A") + letter) + name
    return name


@cache
def column_number(letters: str) -> int:
    """The inverse of `column_letters`, for capitals."""
    number = 0
    for letter in letters:
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number - 1
