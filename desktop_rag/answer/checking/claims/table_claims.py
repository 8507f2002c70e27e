"""What a claim says of the rows of a table of a source. Pure, any thread.

A row is named by its first cell, and the figures of a claim belong to the named columns whose names
stand near them. Or it is named by cells that no other row has together: a claim says it when all
its other words join cells, or are of the heads of columns. A column of yes and no is said by its
head: "paid" and "unpaid".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import islice, pairwise, permutations

import regex

from desktop_rag.answer.checking.claims.quantities import Quantity, quantities
from desktop_rag.answer.checking.claims.source_tables import Row, Table, stems_of
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole, tokenize
from desktop_rag.answer.checking.claims.words import (
    LEAST_EQUAL,
    first_of,
    has_opposite,
    listed,
    scales,
    unit_named,
)
from desktop_rag.answer.tables.cell_values import RESULT, table_words, truth_of

_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MOST_WAYS = 120
_LIMITS = frozenset(("before", "after", "until", "bis", "under", "without", "against"))

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RowsTold:
    """The rows that a claim says, and the columns; or where it differs, and the cell as written.

    Without a row, it differs in several cells.
    """

    rows: tuple[Row, ...]
    columns: frozenset[int] = frozenset()
    wrong: tuple[Span, str] | None = None


def taken_from(
    claim: str, tokens: Sequence[ClaimToken], table: Table, scale: Decimal | None
) -> RowsTold | None:
    """What a claim says of the one row that it names, cell by cell, and nothing else.

    None where row or column are not sure.
    """
    stems = frozenset(token.stem for token in tokens)
    named = table.rows_named(stems)
    columns = {n: own for n, own in _heads_of(table).items() if own <= stems}
    if len(named) != 1 or not columns:
        return None
    [row] = named
    names = stems_of(f"{row.cells[0]} {row.group}").union(*columns.values(), table.part)
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
            is_same = _is_same(one, written, table.scale or scale)
            if is_same is None:
                return None
            wrong += [] if is_same else [((one.start, one.end), written)]
    if wrong and not table.is_figures:
        return RowsTold((row,), wrong=wrong[0]) if len(wrong) == 1 else RowsTold(())
    dates = [range(one.start, one.end) for one in said if one.date]
    others = [t for t in _not_about(tokens, table) if not any(t.start in at for at in dates)]
    if not _only_joins(others, names) or len(wrong) > 1:
        return None
    verbs = [token for token in others if token.word in _changing()]
    if verbs and not wrong:
        return _told_change(claim, row, others, said, verbs)
    return RowsTold((row,), wrong=wrong[0] if wrong else None)


def _not_about(tokens: Sequence[ClaimToken], table: Table) -> list[ClaimToken]:
    above = tokenize(table.above)
    about = {*(token.word[:LEAST_EQUAL] for token in above), *(token.stem for token in above)}
    return [t for t in tokens if about.isdisjoint((t.word[:LEAST_EQUAL], t.stem))]


def _told_change(
    claim: str,
    row: Row,
    tokens: Sequence[ClaimToken],
    said: Sequence[Quantity],
    verbs: Sequence[ClaimToken],
) -> RowsTold | None:
    """A row whose figures changed the way that is told, or the other one."""
    ways = {token.word in listed("rising") for token in verbs}
    change = _change(tokens, said)
    if change is None or len(ways) > 1:
        return None
    if (change[1].values[0] > change[0].values[0]) in ways:
        return RowsTold((row,))
    told = " → ".join(claim[one.start : one.end] for one in change)
    return RowsTold((row,), wrong=((verbs[0].start, verbs[0].end), told))


def _heads_of(table: Table) -> dict[int, frozenset[str]]:
    """The stems that name each column: of periods the year, where no other column has it."""
    cells = {n: cell for n, cell in enumerate(table.head.cells) if n}
    years = {n: _YEAR.findall(cell) for n, cell in cells.items() if table.is_figures}
    told = [year for found in years.values() for year in found]
    heads = {n: stems_of(cell) for n, cell in cells.items()}
    heads |= {n: frozenset(own) for n, own in years.items() if own and told.count(own[0]) == 1}
    return {n: own for n, own in heads.items() if own}


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
    value = held[0].values[0]
    if scale and said.values != said.plain:  # "44,538 million", where the table says what it is in
        if said.plain == held[0].values:  # written alike, it is read alike
            return said.values == tuple(one * scale for one in held[0].values)
        return said.is_written_for(value * scale)
    exact = {value, value * (scale or 1)}
    return said.equals(held[0]) or (not said.date and any(map(said.is_written_for, exact)))


def _only_joins(tokens: Sequence[ClaimToken], names: frozenset[str]) -> bool:
    """True when the other words of a claim only join the cells, or say how the figures changed."""
    return not any(
        token.is_content
        and token.stem not in names
        and token.role is not TokenRole.NUMBER
        and token.word not in _changing()
        and not is_joining(token)
        for token in tokens
    )


def _changing() -> frozenset[str]:
    return listed("rising") | listed("falling")


def is_joining(token: ClaimToken) -> bool:
    """True for a word that only joins cells, introduces them, or is a unit."""
    return (
        token.word
        in listed("linking") | listed("attributing") | listed("roughly") | listed("circumstances")
        or token.word in scales()
        or bool(unit_named(token.word))
        or token.role is TokenRole.FRAMING
    )


def is_limiting(token: ClaimToken) -> bool:
    """True for a word after which a figure is no longer that of the cell: before, without."""
    return first_of("relations").get(token.word) in _LIMITS


def _change(
    tokens: Sequence[ClaimToken], said: Sequence[Quantity]
) -> tuple[Quantity, Quantity] | None:
    """The figures before and after a change, which are told in either order; None for others."""
    if len(said) != len(("from", "to")) or said[0].values[0] == said[1].values[0]:
        return None
    first, second = said
    between = [t.word for t in tokens if first.end <= t.start < second.start]
    is_first_old = any(word in ("to", "auf", "à", "a", "naar") for word in between)
    return (first, second) if is_first_old else (second, first)


_LEAST_CELLS = 2
_LEAST_NAME = 2
# Words of one family share so many letters: own and owner, livré and livraison.
_LEAST_SHARED = 3
_LETTERS = regex.compile(r"\p{L}+")
_GAP = regex.compile(r"[\s,;&/]*(?P<word>\p{L}+)?[\s,;&/]*")

Place = tuple[int, int, Row]


def told_of_rows(claim: str, tokens: Sequence[ClaimToken], table: "Columns") -> RowsTold | None:
    """The rows that the claim is about; None unless it says cells of them, and nothing else."""
    limits = listed("conditions") | listed("rising") | listed("falling")
    if any(token.word in limits or is_limiting(token) for token in tokens):
        return None
    told: list[RowsTold] = []
    for row, text in _parts(claim, table):
        kept = [token for token in tokens if text[token.start : token.end].strip()]
        reading = _best(text, kept, [row] if row else table.rows, table)
        found = reading.told(text) if reading else None
        if found is None:
            return None
        told.append(found)
    rows = tuple(row for one in told for row in one.rows)
    if wrong := next((one.wrong for one in told if one.wrong), None):
        return RowsTold(rows, wrong=wrong)
    # What is said of the last row alone may be meant for all.
    columns = {one.columns for one in told}
    return RowsTold(rows, columns.pop()) if len(columns) == 1 else None


class Columns:
    """The columns of a table by what they hold: yes and no, figures and dates, or words."""

    def __init__(self, table: Table) -> None:
        self.rows = table.rows
        self.heads = [stems_of(cell) for cell in table.head.cells]
        # Of another table, a source may be a piece.
        self.is_whole = table.above.startswith(RESULT)
        self.about = frozenset(token.stem for token in tokenize(table.above))

    def cell(self, row: Row, column: int) -> str:
        """The cell as written; empty where the row is shorter."""
        return row.cells[column] if column < len(row.cells) else ""

    @cached_property
    def flags(self) -> frozenset[int]:
        """The columns of yes and no; nothing is no."""
        return frozenset(
            n
            for n in range(len(self.heads))
            if (held := [cell for row in self.rows if (cell := self.cell(row, n))])
            and all(truth_of(cell) is not None for cell in held)
        )

    @cached_property
    def figures(self) -> Mapping[Row, Mapping[int, Quantity]]:
        """The figures and dates that are a whole cell, by row and column."""
        return {
            row: {
                n: figure
                for n, cell in enumerate(row.cells[: len(self.heads)])
                if n not in self.flags and (figure := _figure(cell))
            }
            for row in self.rows
        }

    def numbers(self) -> Iterator[list[Decimal]]:
        """The values of each column that has a figure in every row."""
        for n in range(len(self.heads)):
            held = [self.figures[row].get(n) for row in self.rows]
            found = [one.values[0] for one in held if one and not one.date]
            if len(found) == len(held) > 1:
                yield found

    def names(self, row: Row) -> Iterator[tuple[int, str]]:
        """The columns of a row with words or codes."""
        for n, cell in enumerate(row.cells[: len(self.heads)]):
            if len(cell) >= _LEAST_NAME and n not in self.flags and n not in self.figures[row]:
                yield n, cell

    def is_key(self, row: Row, column: int) -> bool:
        """True when no other row has this cell."""
        cell = self.cell(row, column).casefold()
        return sum(self.cell(other, column).casefold() == cell for other in self.rows) == 1

    def head(self, column: int) -> frozenset[str]:
        """The words of a head that no other head has; all of them where others have each."""
        others = (own for n, own in enumerate(self.heads) if n != column)
        return self.heads[column].difference(*others) or self.heads[column]

    def named(self, stems: frozenset[str], among: Iterable[int]) -> frozenset[int]:
        """Those of the columns whose heads are among the words."""
        return frozenset(n for n in among if (own := self.head(n)) and own <= stems)


def _figure(cell: str) -> Quantity | None:
    held = quantities(cell)
    if len(held) != 1:
        return None
    rest = cell[: held[0].start] + " " + cell[held[0].end :]
    units = first_of("units")
    return held[0] if all(word.casefold() in units for word in _LETTERS.findall(rest)) else None


def _place(cell: str, claim: str) -> Span | None:
    """Where a claim has a cell as it is written."""
    pattern = rf"(?<![\p{{L}}\p{{N}}]){regex.escape(cell)}(?![\p{{L}}\p{{N}}])"
    found = regex.search(pattern, claim, regex.IGNORECASE)
    return found.span() if found else None


# --- one row --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reading:
    """A claim read as a row: the columns that it says, and the words and figures that are left.

    With others that the claim lists, none is the first of all.
    """

    row: Row
    table: Columns
    tokens: Sequence[ClaimToken]
    left: list[ClaimToken]
    is_listed: bool
    unread: list[Quantity] = field(default_factory=list[Quantity])
    names: set[int] = field(default_factory=set[int])
    figures: set[int] = field(default_factory=set[int])
    flags: set[int] = field(default_factory=set[int])
    wrong: list[tuple[Span, str]] = field(default_factory=list[tuple[Span, str]])

    @property
    def rank(self) -> tuple[int, bool]:
        """More cells are better; between as many the first one, which names the row."""
        return len(self.names) + len(self.figures), 0 in self.names

    def read_names(self, claim: str) -> None:
        """Words and codes, as they are written or in any order."""
        for n, cell in self.table.names(self.row):
            if said := self._said(cell, claim):
                self.left = [token for token in self.left if token not in said]
                self.names.add(n)

    def read_figures(self, claim: str) -> None:
        """Figures and dates outside of the names."""
        starts = {token.start for token in self.left}
        stems = frozenset(token.stem for token in self.tokens)
        own = self.table.figures[self.row]
        named = self.table.named(stems, own)
        for said in quantities(claim):
            inside = {start for start in starts if said.start <= start < said.end}
            if not inside:
                continue
            self.left = [t for t in self.left if t.start not in inside]
            fitting = [
                n for n, held in own.items() if n not in self.figures and _is_said(said, held)
            ]
            # The column that is named first.
            best = min(fitting, key=lambda n: n not in named, default=None)
            if best is None:
                self.unread.append(said)
            else:
                self.figures.add(best)

    def told(self, claim: str) -> RowsTold | None:
        """The row, or where the claim differs from it; None when the claim says anything else."""
        if not self._read_flags() or any(t.role is TokenRole.NEGATION for t in self.left):
            return None
        self._read_exchanged(claim)
        is_first = self._read_extreme()
        if not self._read_other_figures() or not self._is_all_read():
            return None
        if len(self.wrong) == 1 and any(self.table.is_key(self.row, n) for n in self.names):
            return RowsTold((self.row,), wrong=self.wrong[0])
        said = frozenset(self.names | self.figures | self.flags)
        is_said = (len(said) >= _LEAST_CELLS or is_first) and not self.wrong
        return RowsTold((self.row,), said) if is_said else None

    def _read_flags(self) -> bool:
        """The cell of yes or no that is said; False where it isn't clear which, or how."""
        said: list[tuple[int, ClaimToken, bool]] = []
        for n in self.table.flags:
            for token in self.left:
                if token.stem in self.table.head(n):
                    said.append((n, token, True))
                elif has_opposite(token.stem, self.table.head(n)):
                    said.append((n, token, False))
        negations = [t for t in self.left if t.role is TokenRole.NEGATION]
        if len(said) > 1 or len(negations) > 1:
            return False
        for n, token, is_yes in said:
            self.left = [t for t in self.left if t not in (token, *negations)]
            written = self.table.cell(self.row, n)
            if bool(truth_of(written)) is not (is_yes is not bool(negations)):
                self.wrong.append(((token.start, token.end), written or "–"))
            self.flags.add(n)
        return True

    def _read_extreme(self) -> bool:
        """True when the row is told to be the first by a column, and is; of all rows only."""
        kinds = table_words().kinds
        if self.is_listed:
            return False
        for kind, is_day in (("high", False), ("low", False), ("late", True), ("early", True)):
            said = [token for token in self.left if token.word in kinds[kind]]
            is_alone = len(said) == 1 and not self._is_one_of(said[0])
            column = self._ranked(is_day=is_day) if is_alone else None
            if column is None:
                continue
            ranks = {row: _rank(self.table.figures[row][column]) for row in self.table.rows}
            best = (max if kind in ("high", "late") else min)(ranks, key=ranks.__getitem__)
            if ranks[best] != ranks[self.row]:
                shown = f"{best.cells[0]} ({best.cells[column]})"
                self.wrong.append(((said[0].start, said[0].end), shown))
            elif not self.table.is_whole:
                return False
            self.left = [token for token in self.left if token not in said]
            return True
        return False

    def _is_one_of(self, token: ClaimToken) -> bool:
        """True for "one of the largest", which several rows can be."""
        before = [t.word for t in self.tokens if t.start < token.start][-2:-1]
        parts = listed("circumstances") | first_of("relations").keys() | listed("determiners")
        return any(word in parts for word in before)

    def _ranked(self, *, is_day: bool) -> int | None:
        """The column by which rows are compared: one that is said, else the only one."""
        held = [
            n
            for n in range(len(self.table.heads))
            if all(
                (one := self.table.figures[row].get(n)) and bool(one.date) is is_day
                for row in self.table.rows
            )
        ]
        said = [n for n in held if n in self.figures] or held
        return said[0] if len(said) == 1 else None

    def _read_exchanged(self, claim: str) -> None:
        """A name of another row in a column where the claim doesn't have the row's own one."""
        for n, own in self.table.names(self.row):
            others = {
                cell
                for row in self.table.rows
                for m, cell in self.table.names(row)
                if m == n and cell != own and self._said(cell, claim)
            }
            if n not in self.names and len(others) == 1:
                said = self._said(others.pop(), claim)
                self.wrong.append(((said[0].start, said[-1].end), own))
                self.left = [token for token in self.left if token not in said]

    def _said(self, cell: str, claim: str) -> list[ClaimToken]:
        """The words left that say a cell: as it is written, else all of them in any order."""
        if place := _place(cell, claim):
            return [t for t in self.left if place[0] <= t.start < place[1]]
        stems = stems_of(cell)
        is_said = (
            bool(stems) and not any(map(str.isdigit, cell)) and stems <= {t.stem for t in self.left}
        )
        return [t for t in self.left if t.stem in stems] if is_said else []

    def _read_other_figures(self) -> bool:
        """The figures that the row doesn't have, each of one column; False where none is sure."""
        own = self.table.figures[self.row]
        stems = frozenset(token.stem for token in self.tokens)
        unsaid = [n for n in own if n not in self.figures]
        named = self.table.named(stems, unsaid)
        for said in self.unread:
            alike = [
                n for n in unsaid
                if (said.date is None) == (own[n].date is None)
                and said.is_percent == own[n].is_percent
            ]  # fmt: skip
            chosen = [n for n in alike if n in named] or alike
            if len(chosen) != 1:
                return False
            self.wrong.append(((said.start, said.end), self.table.cell(self.row, chosen[0])))
            unsaid.remove(chosen[0])
        return not named & set(unsaid)

    def _is_all_read(self) -> bool:
        heads = frozenset[str]().union(*self.table.heads)
        return all(
            is_joining(token)
            or token.stem in self.table.about
            or any(_is_family(token.stem, head) for head in heads)
            for token in self.left
        )


def _rank(one: Quantity) -> tuple[Decimal, ...]:
    if not one.date:
        return (one.values[0],)
    day, month, year = one.date
    return (Decimal(year), Decimal(month or 0), Decimal(day))


def _is_family(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= _LEAST_SHARED and long.startswith(short))


def _is_said(said: Quantity, held: Quantity) -> bool:
    if said.is_percent != held.is_percent or (said.date is None) != (held.date is None):
        return False
    return said.equals(held) or (not said.date and said.is_written_for(held.values[0]))


def _best(
    claim: str, tokens: Sequence[ClaimToken], rows: Sequence[Row], table: Columns
) -> _Reading | None:
    """The row of which the claim says most; None where two say as much."""
    found: list[_Reading] = []
    for row in rows:
        left = [token for token in tokens if token.is_content]
        reading = _Reading(row, table, tokens, left, is_listed=len(rows) == 1)
        reading.read_names(claim)
        reading.read_figures(claim)
        found.append(reading)
    found.sort(key=lambda one: one.rank, reverse=True)
    is_clear = len(found) == 1 or found[0].rank > found[1].rank
    return found[0] if is_clear and found[0].names else None


# --- several rows ---------------------------------------------------------------------------------


def _parts(claim: str, table: Columns) -> Iterator[tuple[Row | None, str]]:
    """What a claim says of each row that it lists, all else blank; nothing where that is unclear.

    "A and B are paid" says the same of both, "A is from May, B from June" another thing of each.
    """
    keys = _keys(claim, table)
    if not keys:
        yield None, claim
        return
    gaps = [claim[end:start] for (_, end, _), (start, _, _) in pairwise(keys)]
    is_together = all(map(_is_gap, gaps))
    for n, (start, end, row) in enumerate(keys):
        if is_together:
            spans = [(0, keys[0][0]), (start, end), (keys[-1][1], len(claim))]
        elif all(map(_ends_clause, gaps)):
            spans = [(start if n else 0, keys[n + 1][0] if n + 1 < len(keys) else len(claim))]
        else:
            return
        kept = {place for first, last in spans for place in range(first, last)}
        yield row, "".join(sign if at in kept else " " for at, sign in enumerate(claim))


def _keys(claim: str, table: Columns) -> list[Place]:
    """The places of two or more names, of one column, that each name a row."""
    for n in range(len(table.heads)):
        found = [
            (*span, row)
            for row in table.rows
            if table.is_key(row, n)
            and n in dict(table.names(row))
            and (span := _place(table.cell(row, n), claim))
        ]
        if len(found) > 1:
            return sorted(found, key=lambda one: one[0])
    return []


def _is_gap(text: str) -> bool:
    found = _GAP.fullmatch(text)
    return bool(found) and (not found["word"] or found["word"].casefold() in listed("joining"))


def _ends_clause(gap: str) -> bool:
    """True when a mark or a joining word stands at the end."""
    last = gap.split()[-1:]
    return bool(last) and (last[0][-1] in ",;:" or last[0].casefold() in listed("joining"))
