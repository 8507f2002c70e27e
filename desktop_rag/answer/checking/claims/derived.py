"""Figures and days that no source has, but that those of a source give. Pure, any thread.

An answer tells the sum, the rest, the sum of a year or the day that a period gives, without its
calculation. What words name is right where the figure is; all else is only no invention.
"""

from calendar import monthrange
from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations, islice, product

import regex

from desktop_rag.answer.checking.claims.quantities import Quantity, quantities
from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.words import listed, sizes
from desktop_rag.core.text import words

_MOST_FIGURES, _MOST_RESULTS, _MOST_TIMES_OF_DAY = 16, 64, 12
_LARGEST_COUNT = 12
# A figure of four digits, and the number of times that a rate applies.
_LEAST_EXACT, _MOST_TIMES = 1_000, 11
_MOST_COMPARED = 4
_MONTHS, _HUNDRED = 12, 100
# The lists of words by which a calculation is told.
_TOLD_BY = {
    "sum": ("summing", "included"),
    "difference": ("differing", "rising", "falling", "remaining"),
    "rest": ("remaining",),
    "month": ("each_month",),
    "year": ("each_year",),
    "whole": ("included",),
    "share": ("rising", "falling", "sharing"),
}
_GIVEN_FOR = {"month": "each_year", "year": "each_month"}
_TIME = regex.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
_FIRST_YEAR, _LAST_YEAR = 1500, 2100
# The months and days of a period.
_PERIODS = {"day": (0, 1), "week": (0, 7), "month": (1, 0), "year": (12, 0)}


def is_derived(said: Quantity, around: Sequence[Quantity], claim: str) -> bool:
    """True when figures that stand together give this one: a sum, a difference, a percentage.

    Only of those near the evidence: among many figures, some two always give it.
    """
    if said.date or is_count(said):
        return False
    return any(said.is_written_for(value) for _, value, _ in _results(said, around, claim))


def is_count(said: Quantity) -> bool:
    """True for a number so small that it is everywhere."""
    return not said.date and abs(said.values[0]) <= _LARGEST_COUNT


def is_told_result(
    said: Quantity, around: Sequence[Quantity], claim: str, beside: Collection[str]
) -> bool:
    """True when a claim names the calculation that gives a figure from those of the source.

    It is so precise that hardly any of the results gives it by chance. `beside` are the words
    around those figures: what is told of a month is given for a year.
    """
    told = {word.casefold() for word in words(claim)}
    results = [
        value
        for kind, value, unit in _results(said, around, claim)
        if (kind == "times" or any(told & listed(name) for name in _TOLD_BY.get(kind, ())))
        and not listed(_GIVEN_FOR.get(kind, "function")).isdisjoint(beside)
        and (unit == said.unit or not (unit and said.unit))
    ]
    digits = len((said.values[0] / said.steps[0]).normalize().as_tuple().digits)
    is_precise = len(set(results)) * _HUNDRED <= 10 ** (digits + 1)
    return is_precise and any(map(said.is_written_for, results))


def are_told_in_turn(
    absent: Sequence[Quantity], around: Sequence[Quantity], claim: str, beside: Collection[str]
) -> bool:
    """True when figures give all the `absent` ones, each with those that came before.

    Gross profit less expenses is so much, a margin of so much.
    """
    left, known = list(absent), list(around)
    while left:
        given = next((one for one in left if is_told_result(one, known, claim, beside)), None)
        if given is None:
            return False
        left.remove(given)
        known.insert(0, given)
    return True


def _results(
    said: Quantity, around: Sequence[Quantity], claim: str
) -> Iterator[tuple[str, Decimal, str]]:
    """What the figures give: the kind of calculation, its value and unit."""
    figures = [one for one in around[:_MOST_FIGURES] if not one.date and not one.is_year]
    yield from _given_by(figures)
    counts = [n.values[0] for n in quantities(claim) if 1 < n.values[0] <= _LARGEST_COUNT]
    yield from (("times", n * one.values[0], one.unit) for n, one in product(counts, figures))
    if said.is_percent:
        yield from (("share", value, "%") for value in _shares_of(figures, claim))


def is_reckoned(said: Quantity, index: SourceIndex) -> bool:
    """True for a day or year that a period of the source gives from one of its days, the time
    between two of its times of day, and a figure that one of its rates gives.
    """
    if said.date or said.is_year:
        return any(
            said.values[0] == day.year
            if said.is_year
            else said.date == (day.day, str(day.month), day.year)
            for day in _days_from(index.figures.all)
        )
    unit = sizes().get(said.unit)
    if unit and unit[0] == "time":
        lasting = said.values[0] * unit[1]
        times = [60 * (60 * int(m[1]) + int(m[2])) for m in _TIME.finditer(index.text)]
        return any(abs(a - b) == lasting for a, b in combinations(times[:_MOST_TIMES_OF_DAY], 2))
    return _is_grown(said, index.figures.all)


def _days_from(figures: Sequence[Quantity]) -> Iterator[date]:
    """The days that the periods give, before and after each day, and the ones before these."""
    days = [one.date for one in figures if one.date and _FIRST_YEAR < one.date[2] < _LAST_YEAR]
    periods = [one for one in figures if one.unit in _PERIODS and one.values[0] <= _HUNDRED]
    for (day, month, year), one, way in islice(product(days, periods, (1, -1)), _MOST_RESULTS):
        count, (months, length) = way * int(one.values[0]), _PERIODS[one.unit]
        in_year, of_month = divmod(year * _MONTHS + int(month) - 1 + months * count, _MONTHS)
        first = date(in_year, of_month + 1, 1)
        found = first + timedelta(min(day, monthrange(in_year, of_month + 1)[1]) - 1)
        found += timedelta(length * count)
        yield from (found, found - timedelta(1))


def _is_grown(said: Quantity, figures: Sequence[Quantity]) -> bool:
    """True when a figure of the source, risen or fallen some times by one of its rates, gives it.

    It is written with so many digits that no other figure gives it by chance.
    """
    digits = said.plain[0] / min(said.steps[0] / said.factor, Decimal(1))
    if said.is_percent or abs(digits) < _LEAST_EXACT:
        return False
    rates = {one.values[0] / _HUNDRED for one in figures if one.is_percent and one.values[0]}
    bases = {one.values[0] for one in figures if not (one.is_percent or one.date or one.is_year)}
    return any(
        said.is_written_for(base * (1 + way * rate) ** times)
        for base, rate in islice(product(bases, rates), _MOST_RESULTS)
        for way in (1, -1)
        for times in range(1, _MOST_TIMES)
    )


def _shares_of(figures: Sequence[Quantity], claim: str) -> Iterator[Decimal]:
    """The growth, the decline or the share that a claim tells of, of each two of few figures."""
    told = {word.casefold() for word in words(claim)}
    plain = {(one.values[0], one.unit) for one in figures if one.values[0] > 0}
    for (less, unit), (more, other) in combinations(sorted(plain), 2):
        if unit != other or unit == "%" or len(plain) > _MOST_COMPARED:
            continue
        if told & listed("rising"):
            yield (more / less - 1) * _HUNDRED
        if told & listed("falling"):
            yield (1 - less / more) * _HUNDRED
        if told & listed("sharing"):
            yield less / more * _HUNDRED


def _given_by(figures: Sequence[Quantity]) -> Iterator[tuple[str, Decimal, str]]:
    for one in figures:
        if one.is_percent:
            yield "rest", _HUNDRED - one.values[0], one.unit
        else:
            yield "year", one.values[0] * _MONTHS, one.unit
            yield "month", one.values[0] / _MONTHS, one.unit
    for one, other in combinations(figures, 2):
        a, b = one.values[0], other.values[0]
        if one.is_percent != other.is_percent:
            (share, whole), unit = ((a, b), other.unit) if one.is_percent else ((b, a), one.unit)
            parts = (("part", share), ("less", 100 - share), ("whole", 100 + share))
            yield from ((kind, whole * part / _HUNDRED, unit) for kind, part in parts)
        elif one.unit == other.unit or "" in (one.unit, other.unit):
            unit = one.unit or other.unit
            yield from (("sum", a + b, unit), ("difference", abs(a - b), unit))
