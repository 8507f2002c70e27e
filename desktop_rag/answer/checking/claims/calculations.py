"""Calculations that a claim states, done again from its figures. Pure.

A calculation is written out, as in 618 / 4,120 = 15.0%, or told: a change from one figure to
another, a sum, a difference, an average, a share, a ratio. Its inputs are looked up in the sources;
the result must be what they give, rounded as it is written.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from itertools import islice, pairwise, product

import regex

from desktop_rag.answer.checking.claims.quantities import KnownQuantities, Quantity, quantities
from desktop_rag.answer.checking.claims.words import word_lists
from desktop_rag.answer.tools.calculator import CalculationError, calculated
from desktop_rag.core.text import words

# What stands between two figures of a calculation that is written out.
_OPERATOR = regex.compile(
    r"(?P<closing>[\s\p{L}€$£¥%°]{0,24}?\)*)\s*(?:(?P<op>[×*·/÷+−])|\s(?P<spaced>[x–-])\s"
    r"|\b(?P<word>times|mal|plus|minus|divided by|geteilt durch)\b)\s*(?P<opening>[(€$£¥\s]*)",
    regex.IGNORECASE,
)
_OUT_OF = regex.compile(
    r"[\s\p{L}€$£¥]{0,16}\b(?:out of|of|von|sur|de|di|su|van)\b[\s\p{L}€$£¥]{0,12}"
)
_SIGNS = {
    "×": "*", "x": "*", "·": "*", "*": "*", "times": "*", "mal": "*", "/": "/", "÷": "/",
    "divided by": "/", "geteilt durch": "/", "+": "+", "plus": "+", "−": "-", "–": "-", "-": "-",
    "minus": "-",
}  # fmt: skip
_FROM = regex.compile(r"\b(?:from|von|de|du|da|dal|van)\b[^\p{N};.]{0,24}$", regex.IGNORECASE)
_TO = regex.compile(
    r"[^.;]{0,60}\b(?:to|auf|à|al?|naar|op|zu|bis)\b[^\p{N}.;]{0,24}", regex.IGNORECASE
)
_EQUALS = regex.compile(r"[=≈]|^[\s)]*(?:is|are|ist|sind|ergibt|gives|makes)\b")
_HUNDRED = Decimal(100)
_LARGEST_CONSTANT, _LARGEST_LABEL = 100, 12
_MOST_READINGS, _MOST_INPUTS = 64, 12
_LEAST_TOLD = 3

Inputs = Sequence[Decimal]
Compute = Callable[[Inputs], Decimal]


@dataclass(frozen=True, slots=True)
class Calculation:
    """A stated calculation: its result, its inputs, and what is done with their values.

    `constants` may be inputs that no source has, such as twelve months.
    """

    result: Quantity
    inputs: tuple[Quantity, ...]
    compute: Compute
    allows_constants: bool = False


@dataclass(frozen=True, slots=True)
class Computed:
    """A calculation done again: whether its result is right, and the right one in figures."""

    calculation: Calculation
    is_right: bool
    value: str


def computed(claim: str, known: Sequence[KnownQuantities]) -> Computed | None:
    """The calculation that a claim states, done again; None when it states none for sure.

    All of its inputs must be in the sources. A result is wrong only where it is clear how it was
    meant to be calculated.
    """
    said = [one for one in quantities(claim) if not one.date]
    written = list(_written_out(claim, said))
    told = [] if written else list(_told(claim, said, known))
    found = [one for one in written or told if _are_known(one, known)]
    for calculation in found:
        if _fitting(claim, calculation, known):
            return Computed(calculation, True, "")
    # Of a calculation that is written out, the nearest figure is meant to be the result.
    sure = {one.result.start: one for one in (found[:1] if written else found)}
    if len(sure) != 1:
        return None
    [calculation] = sure.values()
    is_known = any(source.has(calculation.result) for source in known)
    if is_known and not written and not list(_changes(claim, said)):
        return None
    if not written and any(calculation.result in other.inputs for other in found):
        return None
    factors = set(map(_factor, calculation.inputs))
    values = [one.values[0] if len(factors) == 1 else one.plain[0] for one in calculation.inputs]
    value = _value(calculation, values)
    return Computed(calculation, False, _in_figures(calculation.result, value)) if value else None


def _are_known(calculation: Calculation, known: Sequence[KnownQuantities]) -> bool:
    found = [any(source.has(one) for source in known) for one in calculation.inputs]
    if not calculation.allows_constants:
        return all(found)
    return any(found) and all(
        is_found or (not one.unit and one.values[0] <= _LARGEST_CONSTANT)
        for one, is_found in zip(calculation.inputs, found, strict=True)
    )


def _fitting(claim: str, calculation: Calculation, known: Sequence[KnownQuantities]) -> bool:
    """True when the inputs as written, or as exact as the sources have them, give the result."""
    readings = [_readings(one, known) for one in calculation.inputs]
    return any(
        value is not None and _is_result(claim, calculation.result, value)
        for values in islice(product(*readings), _MOST_READINGS)
        for value in [_value(calculation, values)]
    )


def _readings(said: Quantity, known: Sequence[KnownQuantities]) -> list[Decimal]:
    exact = (v for source in known for v in source.exact(said) if said.is_written_for(v))
    # In "from 91 to 104 million" the word counts for both.
    return list(dict.fromkeys([*said.values, *said.plain, *islice(exact, 3)]))


def _value(calculation: Calculation, values: Inputs) -> Decimal | None:
    try:
        return calculation.compute(values)
    except (DecimalException, CalculationError):
        return None


def _is_result(claim: str, result: Quantity, value: Decimal) -> bool:
    factor = _factor(result)
    least = Decimal(0)
    before = words(claim[: result.start])[-1:]
    if before and before[0].casefold() in word_lists().roughly:
        least = Decimal(10) ** int(result.values[0].normalize().as_tuple().exponent)
    values = (value, value * _HUNDRED) if result.is_percent else (value, value * factor)
    return any(
        abs(abs(one) - abs(written)) * 2 <= max(step, least)
        for one in values
        for written, step in zip(result.values, result.steps, strict=True)
    )


def _factor(said: Quantity) -> Decimal:
    """What its word for thousands or millions stands for, 1 without one."""
    return said.values[0] / said.plain[0] if said.plain[0] else Decimal(1)


def _in_figures(result: Quantity, value: Decimal) -> str:
    """A value as the claim writes its result."""
    factor = _factor(result)
    value = abs(value * _HUNDRED if result.is_percent else value / factor)
    shown = value.quantize(min(result.steps[0] / factor, Decimal(1)))
    return f"{shown:,f}" + ("%" if result.is_percent else "")


def _written_out(claim: str, said: Sequence[Quantity]) -> Iterator[Calculation]:
    """The calculations with operators between their figures."""
    run: list[Quantity] = []
    for one, other in pairwise([*said, None]):
        run = [*run, one] if one else run
        if other and one and _OPERATOR.fullmatch(claim, one.end, other.start):
            continue
        if len(run) > 1:
            yield from _of_run(claim, said, run)
        run = []
    for one, other in pairwise(said):
        if other.is_percent or not _OUT_OF.fullmatch(claim, one.end, other.start):
            continue
        if not one.is_percent:
            results = [result for result in said if result.is_percent]
            yield from (Calculation(result, (one, other), _quotient) for result in results)
        elif parts := [p for p in said if p.end <= one.start and not (p.is_year or p.is_percent)]:
            yield Calculation(one, (parts[-1], other), _quotient)


def _of_run(claim: str, said: Sequence[Quantity], run: Sequence[Quantity]) -> Iterator[Calculation]:
    opening = claim[: run[0].start].rstrip(" €$£¥")
    parts = ["(" * (len(opening) - len(opening.rstrip("(")))]
    for one, other in pairwise(run):
        found = _OPERATOR.fullmatch(claim, one.end, other.start)
        assert found, "the figures of a run have operators between them"
        sign = _SIGNS[(found["op"] or found["spaced"] or found["word"]).casefold()]
        parts += ["{}", ")" * found["closing"].count(")"), sign, "(" * found["opening"].count("(")]
    behind = claim[run[-1].end :].lstrip(" €$£¥%")
    parts += ["{}", ")" * (len(behind) - len(behind.lstrip(")")))]
    form = _balanced("".join(parts))
    for result in _results_of(claim, said, run) if form else ():
        yield Calculation(result, tuple(run), lambda values: _evaluated(form, values), True)


def _balanced(form: str) -> str:
    """The form without brackets around the whole, "" when they don't match."""
    while form.count("(") > form.count(")") and form.startswith("("):
        form = form[1:]
    while form.count(")") > form.count("(") and form.endswith(")"):
        form = form[:-1]
    return form if form.count("(") == form.count(")") else ""


def _evaluated(form: str, values: Inputs) -> Decimal:
    return Decimal(calculated(form.format(*(f"{v:f}" for v in values))))


def _results_of(claim: str, said: Sequence[Quantity], run: Sequence[Quantity]) -> list[Quantity]:
    """The figure behind the sign of equality, else those before the calculation, the nearest first.

    Figures in words come last: "two months' rent of 2,900 (2 × 1,450)".
    """
    behind = [one for one in said if one.start >= run[-1].end]
    if behind and _EQUALS.search(claim[run[-1].end : behind[0].start]):
        return behind[:1]
    before = [one for one in reversed(said) if one.end <= run[0].start and not one.is_year]
    return sorted(before, key=lambda one: claim[one.start].isalpha())


def _told(
    claim: str, said: Sequence[Quantity], known: Sequence[KnownQuantities]
) -> Iterator[Calculation]:
    """The calculations that words tell of."""
    figures = [one for one in said if not (one.is_year or _is_name(claim, one))][:_MOST_INPUTS]
    changes = list(_changes(claim, figures))
    if changes or len(figures) < _LEAST_TOLD:
        yield from changes
        return
    lists, written = word_lists(), {word.casefold() for word in words(claim)}
    absent = [one for one in figures if not any(source.has(one) for source in known)]
    results = absent if len(absent) == 1 else figures if not absent else []
    for result in results:
        rest = [one for one in figures if one is not result]
        alike = [one for one in rest if one.is_percent == result.is_percent]
        if written & lists.averaging and len(alike) > 1:
            yield Calculation(result, tuple(alike), lambda values: sum_of(values) / len(values))
        elif written & lists.summing and len(alike) > 1:
            yield Calculation(result, tuple(alike), sum_of)
        elif written & lists.differing and len(alike) == len(("A", "B")):
            yield Calculation(result, tuple(alike), _difference)
        elif len(rest) == len(("A", "B")) and not any(one.is_percent for one in rest):
            yield from _quotients(result, rest, written)


def _is_name(claim: str, said: Quantity) -> bool:
    """True for a number in words, and one that belongs to a name: Tier 1, Figure 2."""
    before = words(claim[: said.start])[-1:]
    is_small = not said.unit and abs(said.values[0]) <= _LARGEST_LABEL
    return claim[said.start].isalpha() or bool(is_small and before and before[0][0].isupper())


def _quotients(
    result: Quantity, rest: Sequence[Quantity], written: set[str]
) -> Iterator[Calculation]:
    lists = word_lists()
    one, other = rest
    # In "309 versus 250 million" the word counts for both.
    is_mixed = _factor(one) != _factor(other) and Decimal(1) in map(_factor, rest)
    smaller, larger = sorted(rest, key=lambda r: abs((r.plain if is_mixed else r.values)[0]))
    is_growth = result.is_percent and written & lists.comparing and smaller.unit == larger.unit
    if is_growth and written & lists.rising:
        yield Calculation(result, (smaller, larger), _growth)
    elif is_growth and written & lists.falling:
        yield Calculation(result, (larger, smaller), _growth)
    elif result.is_percent and written & (lists.sharing | lists.dividing):
        yield Calculation(result, (smaller, larger), _quotient)
    elif written & lists.dividing and not result.is_percent:
        yield Calculation(result, (larger, smaller), _quotient)


def _changes(claim: str, figures: Sequence[Quantity]) -> Iterator[Calculation]:
    """What is said of a change from one figure to another: by how much, or by what share."""
    for one, other in pairwise(figures):
        is_backwards = bool(_FROM.search(claim, 0, other.start)) and bool(
            regex.search(r"\b(?:to|auf)\b[^\p{N}.;]{0,24}$", claim[: one.start])
        )
        is_change = bool(_FROM.search(claim[: one.start])) and bool(
            _TO.fullmatch(claim, one.end, other.start)
        )
        if not (is_change or is_backwards) or one.is_percent != other.is_percent:
            continue
        pair = (other, one) if is_backwards and not is_change else (one, other)
        for result in figures:
            if result in pair:
                continue
            if result.is_percent and not one.is_percent:
                yield Calculation(result, pair, _growth)
            elif not result.is_percent and (not one.unit or result.unit in ("", one.unit)):
                yield Calculation(result, pair, _difference)
            elif result.is_percent and one.is_percent:
                yield Calculation(result, pair, _points)


def _quotient(values: Inputs) -> Decimal:
    return values[0] / values[1]


def _growth(values: Inputs) -> Decimal:
    return values[1] / values[0] - 1


def _difference(values: Inputs) -> Decimal:
    return values[1] - values[0]


def _points(values: Inputs) -> Decimal:
    """The difference of two shares in percentage points, which are written with a percent sign."""
    return (values[1] - values[0]) / _HUNDRED


def sum_of(values: Iterable[Decimal]) -> Decimal:
    """The sum, exact."""
    return sum(values, Decimal(0))
