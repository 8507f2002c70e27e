"""What a claim takes from a table of a source: the cell in the row and the column that it names.

Pure, any thread. The figures of a claim belong to the named columns whose names stand near them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, permutations

import regex

from desktop_rag.answer.checking.claims.quantities import Quantity, quantities
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole, tokenize
from desktop_rag.answer.checking.claims.words import LEAST_EQUAL, unit_named, word_lists
from desktop_rag.core.language.languages import function_words

_GAP = regex.compile(r"\t+| {2,}")
_RULE = regex.compile(r"[\s|:+=–—-]*")
# Two lines with wide gaps may be anything.
_LEAST_ROWS, _LEAST_WITH_BARS, _LINES_ABOVE = 3, 2, 3
_MOST_WAYS = 120
_LIMITS = frozenset(("before", "after", "until", "bis", "under", "without", "against"))

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table at [start, end): its cells as written, the first one names it."""

    start: int
    end: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, its head, and the lines above it, which say what it is about."""

    head: Row
    rows: tuple[Row, ...]
    above: str


@dataclass(frozen=True, slots=True)
class RowsTold:
    """The rows that a claim says, and the columns; or where it differs, and the cell as written.

    Without a row, it differs in several cells.
    """

    rows: tuple[Row, ...]
    columns: frozenset[int] = frozenset()
    wrong: tuple[Span, str] | None = None


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
            has_bars = any("|" in text[row.start : row.end] for row in rows)
            if len(rows) >= (_LEAST_WITH_BARS if has_bars else _LEAST_ROWS):
                found.append(_table(rows, text))
            rows = []
        start += len(line) + 1
    return found


def _cells(line: str) -> tuple[str, ...]:
    if _RULE.fullmatch(line):
        return ()
    if "|" in line:
        inner = line.strip()
        inner = inner[1:] if inner.startswith("|") else inner
        inner = inner[:-1] if inner.endswith("|") else inner
        return tuple(cell.strip() for cell in inner.split("|"))
    return tuple(cell.strip() for cell in _GAP.split(line.strip()))


def _table(rows: Sequence[Row], text: str) -> Table:
    """The table; its head has an empty first cell where its own is left out."""
    head, *others = rows
    if all(len(row.cells) == len(head.cells) + 1 for row in others):
        head = Row(head.start, head.end, ("", *head.cells))
    lines = [line for line in text[: head.start].splitlines() if line.strip()]
    return Table(head, tuple(others), "\n".join(lines[-_LINES_ABOVE:]))


def taken_from(
    claim: str, tokens: Sequence[ClaimToken], table: Table, scale: Decimal | None
) -> RowsTold | None:
    """What a claim says of the one row that it names, cell by cell, and nothing else.

    None where row or column are not sure.
    """
    stems = {token.stem for token in tokens}
    named = [row for row in table.rows if (own := stems_of(row.cells[0])) and own <= stems]
    longest = max((len(stems_of(row.cells[0])) for row in named), default=0)
    named = [row for row in named if len(stems_of(row.cells[0])) == longest]
    columns = {n: own for n, cell in enumerate(table.head.cells) if n and (own := stems_of(cell))}
    columns = {n: own for n, own in columns.items() if own <= stems}
    if len(named) != 1 or not columns:
        return None
    [row] = named
    names = stems_of(row.cells[0]).union(*columns.values())
    days = {n: own for n, own in columns.items() if _is_day(row, n)}
    # A date may also say when a figure was so: it counts only where a column of dates is named.
    said = [
        one
        for one in quantities(claim)
        if (days or not one.date)
        and (one.date or one.unit or names.isdisjoint(f"{value:f}" for value in one.plain))
    ]
    wrong: list[tuple[Span, str]] = []
    for kind in (days, {n: own for n, own in columns.items() if n not in days}):
        own = [one for one in said if bool(one.date) is (kind is days)]
        if len(own) != len(kind):
            return None
        for one, column in zip(own, _nearest(own, tokens, kind) if own else (), strict=True):
            written = row.cells[column] if column < len(row.cells) else ""
            is_same = _is_same(one, written, scale)
            if is_same is None:
                return None
            wrong += [] if is_same else [((one.start, one.end), written)]
    if wrong:
        return RowsTold((row,), wrong=wrong[0]) if len(wrong) == 1 else RowsTold(())
    about = {token.word[:LEAST_EQUAL] for token in tokenize(table.above)}
    others = [
        t
        for t in tokens
        if t.word[:LEAST_EQUAL] not in about
        and not any(one.date and one.start <= t.start < one.end for one in said)
    ]
    return RowsTold((row,)) if _is_whole(others, names, said) else None


def _is_day(row: Row, column: int) -> bool:
    held = quantities(row.cells[column]) if column < len(row.cells) else []
    return len(held) == 1 and held[0].date is not None


def _nearest(
    said: Sequence[Quantity], tokens: Sequence[ClaimToken], columns: Mapping[int, frozenset[str]]
) -> tuple[int, ...]:
    """The column of each figure, so that their own words stand near to them in all."""
    shared = frozenset[str].intersection(*columns.values()) if len(columns) > 1 else frozenset()
    places = {n: [t for t in tokens if t.stem in own - shared] for n, own in columns.items()}

    def distance(one: Quantity, column: int) -> int:
        gaps = (max(t.start - one.end, one.start - t.end) for t in places[column])
        return min(gaps, default=0)

    ways = islice(permutations(columns), _MOST_WAYS)
    return min(ways, key=lambda way: sum(map(distance, said, way)))


def _is_same(said: Quantity, written: str, scale: Decimal | None) -> bool | None:
    """True when a figure is that of a cell, rounded or not; None when the cell has none like it."""
    held = quantities(written)
    if len(held) != 1 or held[0].is_percent != said.is_percent:
        return None
    exact = {held[0].values[0], held[0].values[0] * (scale or 1)}
    return said.equals(held[0]) or (not said.date and any(map(said.is_written_for, exact)))


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words, and the numbers, of a cell."""
    found = tokenize(text)
    functions = function_words([token.word for token in found])
    return frozenset(
        token.stem for token in found if token.is_content and token.word not in functions
    )


def _is_whole(
    tokens: Sequence[ClaimToken], names: frozenset[str], said: Sequence[Quantity]
) -> bool:
    """True when the other words of a claim only join the cells, or say how the figures changed."""
    lists = word_lists()
    up = any(token.word in lists.rising for token in tokens)
    down = any(token.word in lists.falling for token in tokens)
    changed = lists.rising | lists.falling
    rest = [
        token
        for token in tokens
        if token.is_content
        and token.stem not in names
        and token.role is not TokenRole.NUMBER
        and token.word not in changed
        and not is_joining(token)
    ]
    if not rest and not (up or down):
        return True
    return not rest and up != down and _goes_as_told(tokens, said, up=up)


def is_joining(token: ClaimToken) -> bool:
    """True for a word that only joins cells, introduces them, or is a unit."""
    lists = word_lists()
    return (
        token.word in lists.linking | lists.attributing | lists.roughly | lists.circumstances
        or token.word in lists.scales
        or bool(unit_named(token.word))
        or token.role is TokenRole.FRAMING
    )


def is_limiting(token: ClaimToken) -> bool:
    """True for a word after which a figure is no longer that of the cell: before, without."""
    return word_lists().relations.get(token.word) in _LIMITS


def _goes_as_told(tokens: Sequence[ClaimToken], said: Sequence[Quantity], *, up: bool) -> bool:
    """True when two figures change in the direction that is told, from one to the other."""
    values = [one.values[0] for one in said]
    if len(values) != len(("from", "to")) or values[0] == values[1]:
        return False
    between = [t.word for t in tokens if said[0].end <= t.start < said[1].start]
    is_first_old = any(word in ("to", "auf", "à", "a", "naar") for word in between)
    before, now = values if is_first_old else reversed(values)
    return (now > before) == up
