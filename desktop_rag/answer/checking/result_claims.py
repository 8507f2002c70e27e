"""Checks claims about the result of a query against its rows. Pure, any thread.

The claim checker compares sentences, and a result has none. Here a claim is supported when each of
its numbers occurs in the result, in a row that the claim names. Negations, comparisons and anything
uncertain are left to the checker.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from desktop_rag.answer.checking.claims.words import word_lists
from desktop_rag.answer.tables.table_words import table_words
from desktop_rag.core.claims import CheckedClaim, Evidence, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.text import words

_NUMBER = re.compile(
    r"(?<![\w.,])[-−]?\d(?:[\d.,'’\u00a0\u202f]*\d)?(?![\w])|(?<![\w.,])[-−]?\d+(?=%)"
)
_GROUPS = re.compile(r"[.,'’\u00a0\u202f](?=\d{3}(?:\D|$))")
_SEPARATORS = re.compile(r"['’\u00a0\u202f]")
_BORDER = " | "
# The description of the query and the column names precede the rows.
_LINES_ABOVE = 2
# The fewest digits of a rounded number: 7 could be anything from 6.5 to 7.5.
_LEAST_DIGITS = 3
_LEAST_NAME_CHARS = 2
_SUPPORTED = "The result of the query says this."


@dataclass(frozen=True, slots=True)
class _Row:
    start: int
    end: int
    names: frozenset[str]
    numbers: frozenset[float]


def checked_by_result(claim: str, source: SourceRef) -> CheckedClaim | None:
    """The claim, supported by the rows of a result; None when that is not certain."""
    known, written = table_words(), {word.casefold() for word in words(claim)}
    if written & (known.compares | word_lists().negation):
        return None
    rows = list(_rows(source.text))
    numbers = [(_values(found[0]), _decimals(found[0])) for found in _NUMBER.finditer(claim)]
    said = f" {' '.join(words(claim)).casefold()} "
    named = [row for row in rows if any(f" {name} " in said for name in row.names)]
    # A number that limits the query, such as a year, is no result.
    asked = {
        value
        for found in _NUMBER.finditer(_dates_apart(source.query))
        for value in _values(found[0])
    }
    left = [number for number in numbers if not number[0] & asked]
    fitting = [row for row in named or rows if any(_holds(row, number) for number in left)]
    if not left or not all(any(_holds(row, number) for row in fitting) for number in left):
        return None
    if written & known.superlatives and fitting[0] not in (rows[0], rows[-1]):
        # A query for an extreme sorts it to the top or the bottom.
        return None
    evidence = Evidence(0, fitting[0].start, fitting[0].end)
    return CheckedClaim(claim, Verdict.SUPPORTED, 1.0, evidence, (), _SUPPORTED)


def _rows(text: str) -> Iterator[_Row]:
    start = 0
    for n, line in enumerate(text.split("\n")):
        if n >= _LINES_ABOVE and line:
            cells = line.split(_BORDER)
            numbers = {value for cell in cells for value in _values(cell)}
            names = {" ".join(words(c)).casefold() for c in cells if not _values(c)}
            long_names = frozenset(name for name in names if len(name) >= _LEAST_NAME_CHARS)
            yield _Row(start, start + len(line), long_names, frozenset(numbers))
        start += len(line) + 1


def _holds(row: _Row, number: tuple[frozenset[float], int]) -> bool:
    """True when the row has a number of a claim, rounded or not."""
    values, decimals = number
    for value in values:
        digits = sum(map(str.isdecimal, f"{abs(value):.{decimals}f}"))
        for held in row.numbers:
            if value == held or (digits >= _LEAST_DIGITS and value == round(held, decimals)):
                return True
    return False


def _values(written: str) -> frozenset[float]:
    """The possible values of a number: 1,197 is above a thousand, or just above one."""
    plain = _SEPARATORS.sub("", written.strip()).replace("−", "-")
    readings = {_GROUPS.sub("", plain).replace(",", "."), plain.replace(",", ".")}
    values: set[float] = set()
    for reading in readings:
        try:
            values.add(float(reading))
        except ValueError:
            continue
    return frozenset(values)


def _decimals(written: str) -> int:
    mark = max(written.rfind("."), written.rfind(","))
    after = len(written) - mark - 1 if mark >= 0 else 0
    return 0 if _GROUPS.search(written[mark:]) else after


def _dates_apart(sql: str) -> str:
    return re.sub(r"(\d{4})-(\d{2})-(\d{2})", r"\1 \2 \3", sql)
