"""The tables of a source: of cells, and of the figures on a page. Pure, any thread."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby

import regex

from desktop_rag.answer.checking.claims.quantities import scale_of
from desktop_rag.answer.checking.claims.tokens import TokenRole, tokenize
from desktop_rag.answer.checking.claims.words import first_of
from desktop_rag.answer.tables.cell_values import exact_cell
from desktop_rag.answer.writing.excerpt_units import Unit, units_of
from desktop_rag.core.language.languages import function_words
from desktop_rag.core.text import ends_sentence

_BETWEEN_CELLS = regex.compile(r"\t+| {2,}")
_RULE = regex.compile(r"[\s|:+=–—-]*")
# Two lines with wide gaps may be anything; with bars or tabs they are a head and a row.
_DRAWN = regex.compile(r"[|\t]")
_LEAST_DRAWN, _LEAST_ROWS, _LINES_ABOVE = 2, 3, 3
# Two figures at the end of a line.
_FIGURES = regex.compile(r"\d[\d.,%)]*[ \t]+\S?\s?\(?\d[\d.,%)]*[ \t]*$", regex.MULTILINE)
_DIGIT = regex.compile(r"\d")
# "Current Assets" is a title of rows.
_LONGEST_TITLE = 2


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table at [start, end): its cells as written, rounded ones as their exact value.

    The first one names it, below the line of words `group`: "Casino" below "Revenues".
    """

    start: int
    end: int
    cells: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, its head, and what says what it is about: the lines above it, and the
    first one of all.
    """

    head: Row
    rows: tuple[Row, ...]
    above: str
    # Rows of a page, whose text has no borders: others beside it have the same names.
    is_figures: bool = False
    scale: Decimal | None = None
    # The part of a whole that it is about, as "the Domestic segment".
    part: frozenset[str] = frozenset()

    def rows_named(self, stems: frozenset[str]) -> list[Row]:
        """The rows whose names are among the words: the longest ones, and their groups if alike."""
        if self.part.isdisjoint(stems) and self.part:
            return []
        names = {row: own for row in self.rows if (own := stems_of(row.cells[0])) <= stems and own}
        longest = max(map(len, names.values()), default=0)
        named = [row for row, own in names.items() if len(own) == longest]
        if len(named) > 1:
            named = [row for row in named if row.group and stems_of(row.group) <= stems]
        return [row for row in named if not (own := _name_of(row.group)) or own & stems]


def tables_of(text: str) -> list[Table]:
    """The tables of a text: lines with cells that follow each other, the head first."""
    found: list[Table] = []
    rows: list[Row] = []
    start = 0
    for line in [*text.split("\n"), ""]:
        cells = _cells(line)
        if len(cells) > 1:
            rows.append(Row(start, start + len(line), cells))
        elif not (line.strip() and _RULE.fullmatch(line)):
            is_drawn = bool(rows) and _DRAWN.search(text, rows[0].start, rows[0].end)
            least = _LEAST_DRAWN if is_drawn else _LEAST_ROWS
            found += [_table(rows, text)] if len(rows) >= least else []
            rows = []
        start += len(line) + 1
    return [*found, *_tables_of_figures(text, found)]


def _tables_of_figures(text: str, others: Sequence[Table]) -> Iterator[Table]:
    """The lines of a label and figures below the same periods, as the text of a page has them."""
    if not _FIGURES.search(text):
        return
    read = [range(table.head.start, table.rows[-1].end) for table in others]
    units = (unit for unit in units_of(text) if unit.is_figures and unit.header)
    rows = [unit for unit in units if not any(unit.start in place for place in read)]

    def head_of(unit: Unit) -> tuple[tuple[str, ...], str]:
        return unit.header, unit.caption

    for (header, caption), below in groupby(rows, key=head_of):
        found: list[Row] = []
        for unit in below:
            group = _group_above(text, unit.start, found[-1] if found else None)
            found.append(Row(unit.start, _end_of_line(text, unit.start), unit.cells, group))
        head = Row(found[0].start, found[0].start, header)
        table = _table([head, *found], text)
        above, scale = f"{caption}\n{table.above}", scale_of(header[0])
        part = _named_in(caption)
        yield replace(table, above=above, is_figures=True, scale=scale, part=part)


def _group_above(text: str, start: int, last: Row | None) -> str:
    """The line of words right above a row, else that of the row before."""
    between = text[last.end if last else 0 : start].strip()
    line = between.rpartition("\n")[2].strip()
    is_group = bool(line) and not _DIGIT.search(line) and not ends_sentence(line)
    return line.rstrip(":") if is_group else last.group if last else ""


def _named_in(line: str) -> frozenset[str]:
    """The names in a line that is no title: "Selected data for the Domestic segment".

    Whose the figures are is no part: "the Company's".
    """
    said = [t for t in tokenize(line) if t.is_content and t.role is not TokenRole.NUMBER]
    names = [t for t in said[1:] if t.role is TokenRole.NAME]
    if 2 * (1 + len(names)) > len(said):  # most words of a title are capitalised
        return frozenset()
    return frozenset(
        t.stem
        for t in names
        if not t.word.endswith(("'s", "’s")) and t.word not in first_of("months")
    )


def _name_of(group: str) -> frozenset[str]:
    """The words of a group that is a name of several: "Las Vegas Strip Resorts"."""
    said = group.split()
    is_name = len(said) > _LONGEST_TITLE and all(word[0].isupper() for word in said)
    return stems_of(group) if is_name else frozenset()


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def _cells(line: str) -> tuple[str, ...]:
    if _RULE.fullmatch(line):
        return ()
    if "|" in line:
        inner = line.strip()
        inner = inner[1:] if inner.startswith("|") else inner
        inner = inner[:-1] if inner.endswith("|") else inner
        return tuple(exact_cell(cell.strip()) for cell in inner.split("|"))
    return tuple(cell.strip() for cell in _BETWEEN_CELLS.split(line.strip()))


def _table(rows: Sequence[Row], text: str) -> Table:
    """The table; its head has an empty first cell where its own is left out."""
    head, *others = rows
    if all(len(row.cells) == len(head.cells) + 1 for row in others):
        head = Row(head.start, head.end, ("", *head.cells))
    lines = [line for line in text[: head.start].splitlines() if line.strip()]
    above = dict.fromkeys([*lines[:1], *lines[-_LINES_ABOVE:]])
    return Table(head, tuple(others), "\n".join(above))


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words, and the numbers, of a cell."""
    found = tokenize(text)
    functions = function_words([token.word for token in found])
    return frozenset(
        token.stem for token in found if token.is_content and token.word not in functions
    )
