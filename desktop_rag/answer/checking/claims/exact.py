"""What needs no model, in any language: quotes, calculations, figures of a claim. Pure.

A claim that a source has word for word is supported, and so is a calculation that is right and
whose inputs are in the sources. It is written out, as in 618 / 4,120 = 15.0%, or told: a change
from one figure to another, a sum, a difference, an average, a share, a ratio. The result must be
what the inputs give, rounded as it is written. A figure or date that no source has is named.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from itertools import islice, pairwise, product

import regex

from desktop_rag.answer.checking.claims.quantities import KnownQuantities, Quantity, quantities
from desktop_rag.answer.checking.claims.source_index import SourceIndex, UnitKind
from desktop_rag.answer.checking.claims.source_tables import stems_of
from desktop_rag.answer.checking.claims.table_claims import (
    RowsTold,
    Span,
    is_joining,
    is_limiting,
    taken_from,
    told_of_rows,
)
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole
from desktop_rag.answer.checking.claims.words import first_of, listed
from desktop_rag.answer.tools.calculator import CalculationError, calculated
from desktop_rag.core.claims import (
    Basis,
    CheckedClaim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)
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
_BEHIND = regex.compile(r"(?<=\p{N})[^\p{N}]*[^\p{N}.](?=\.?$)")
# "A third of the fee", not "the third of May" or "second quarter of fiscal 2024".
_PART = regex.compile(
    r"(?<!\bthe\s)\b([\p{L}-]+)\s+(?:of|von|des|der|de|del|van)\b"
    r"(?!\s+(?:\p{L}+\s+)?(?:19|20)\p{N}{2}\b)",
    regex.IGNORECASE,
)
_ROUGH_PART = Decimal(6)
_LARGEST_CONSTANT, _LARGEST_LABEL = 100, 12
_MOST_READINGS, _MOST_INPUTS, _HUNDRED = 64, 12, 100

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


def computed(
    claim: str, known: Sequence[KnownQuantities], labels: Collection[str]
) -> Computed | None:
    """The calculation that a claim states, done again; None when it states none for sure.

    All of its inputs must be in the sources. A result is wrong only where it is clear how it was
    meant to be calculated. `labels` are words that tell of none, as in "total assets".
    """
    said = [one for one in quantities(claim) if not one.date]
    written = list(_written_out(claim, said))
    told = [] if written else list(_told(claim, said, known, labels))
    found = [one for one in written or told if _are_known(one, known)]
    for calculation in found:
        if _fitting(claim, calculation, known):
            return Computed(calculation, True, "")
    # Of a calculation that is written out, the nearest figure is meant to be the result.
    sure = {(one.result.start, one.compute): one for one in (found[:1] if written else found)}
    if len(sure) != 1:
        return None
    [calculation] = sure.values()
    is_known = any(source.has(calculation.result) for source in known)
    if is_known and not written and not list(_changes(claim, said)):
        return None
    if not written and any(calculation.result in other.inputs for other in found):
        return None
    factors = {one.factor for one in calculation.inputs}
    values = [one.values[0] if len(factors) == 1 else one.plain[0] for one in calculation.inputs]
    value = _value(calculation, values)
    return (
        Computed(calculation, False, _as_said(claim, calculation.result, value)) if value else None
    )


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
    factor = result.factor
    least = Decimal(0)
    before = words(claim[: result.start])[-1:]
    if before and before[0].casefold() in listed("roughly"):
        least = Decimal(10) ** int(result.values[0].normalize().as_tuple().exponent)
    values = (value, value * _HUNDRED) if result.is_percent else (value, value * factor)
    return any(
        abs(abs(one) - abs(written)) * 2 <= max(step, least)
        for one in values
        for written, step in zip(result.values, result.steps, strict=True)
    )


def _as_said(claim: str, result: Quantity, value: Decimal) -> str:
    """A value as the claim writes its result, with the same word or sign behind it."""
    factor = result.factor
    behind = _BEHIND.search(claim, result.start, result.end)
    # In "400 - 250 = 160 million" the word counts for all.
    readings = (value * _HUNDRED,) if result.is_percent else (value / factor, value)
    value = min(map(abs, readings), key=lambda one: abs(one - abs(result.plain[0])))
    shown = value.quantize(min(result.steps[0] / factor, Decimal(1)))
    return f"{shown:,f}" + (behind[0] if behind else "%" * result.is_percent)


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
    claim: str, said: Sequence[Quantity], known: Sequence[KnownQuantities], labels: Collection[str]
) -> Iterator[Calculation]:
    """The calculations that words tell of."""
    figures = [one for one in said if not (one.is_year or _is_name(claim, one))][:_MOST_INPUTS]
    changes = list(_changes(claim, figures))
    if changes:
        yield from changes
        return
    written = {word.casefold() for word in words(claim)}.difference(labels)
    parts = list(_parts_of(claim, written))
    figures += parts
    absent = [one for one in figures if not any(source.has(one) for source in known)]
    results = absent if len(absent) == 1 else figures if not absent else []
    for result in results:
        rest = [one for one in figures if one is not result]
        alike = [one for one in rest if one.is_percent == result.is_percent]
        if result in parts:
            ordered = sorted(rest, key=lambda one: one.values[0])
            if len(rest) == len(("A", "B")) and ordered[1].start > result.start:
                yield Calculation(result, tuple(ordered), _quotient)
        elif written & listed("averaging") and len(alike) > 1:
            yield Calculation(result, tuple(alike), _mean)
        elif written & (listed("summing") | listed("differing")) and len(alike) > 1:
            if written & listed("summing"):
                yield Calculation(result, tuple(alike), sum_of)
            if written & listed("differing") and len(alike) == len(("A", "B")):
                yield Calculation(result, tuple(alike), _difference)
        elif len(rest) == len(("A", "B")) and not any(one.is_percent for one in rest):
            yield from _quotients(result, rest, written)


def _parts_of(claim: str, written: Collection[str]) -> Iterator[Quantity]:
    """The shares that are told as a part of a whole: a third of."""
    step = Decimal(1) if listed("roughly").isdisjoint(written) else _ROUGH_PART
    for match in _PART.finditer(claim):
        if part := first_of("parts").get(match[1].casefold()):
            value = Decimal(part)
            yield Quantity(*match.span(1), (value,), (value,), (step,), "%")


def _is_name(claim: str, said: Quantity) -> bool:
    """True for a number in words, and one that belongs to a name: Tier 1, Figure 2."""
    before = words(claim[: said.start])[-1:]
    is_small = not said.unit and abs(said.values[0]) <= _LARGEST_LABEL
    return claim[said.start].isalpha() or bool(is_small and before and before[0][0].isupper())


def _quotients(
    result: Quantity, rest: Sequence[Quantity], written: set[str]
) -> Iterator[Calculation]:
    one, other = rest
    # In "309 versus 250 million" the word counts for both.
    is_mixed = one.factor != other.factor and 1 in (one.factor, other.factor)
    smaller, larger = sorted(rest, key=lambda r: abs((r.plain if is_mixed else r.values)[0]))
    is_growth = result.is_percent and written & listed("comparing") and smaller.unit == larger.unit
    if is_growth and written & listed("rising"):
        yield Calculation(result, (smaller, larger), _growth)
    elif is_growth and written & listed("falling"):
        yield Calculation(result, (larger, smaller), _growth)
    elif result.is_percent and written & (listed("sharing") | listed("dividing")):
        yield Calculation(result, (smaller, larger), _quotient)
    elif written & listed("dividing") and not result.is_percent:
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


def _mean(values: Inputs) -> Decimal:
    return sum_of(values) / len(values)


def _difference(values: Inputs) -> Decimal:
    return values[1] - values[0]


def _points(values: Inputs) -> Decimal:
    """The difference of two shares in percentage points, which are written with a percent sign."""
    return (values[1] - values[0]) / _HUNDRED


def sum_of(values: Iterable[Decimal]) -> Decimal:
    """The sum, exact."""
    return sum(values, Decimal(0))


# The support of what is certain, and of what is certainly wrong.
_CERTAIN, _WRONG = 0.99, 0.01
QUOTED = "The source says this, word for word."
COMPUTED = "Computed from figures of the source."
MISCOMPUTED = "The figures give {value}, the answer says {said}."
IN_TABLE = "The table of the source has this there."
OTHER_CELL = "The table has {written} there, the answer says {said}."
# Up to here a number may be a count of things that a source lists.
_LARGEST_COUNT = 12


def said_exactly(
    claim: str, tokens: Sequence[ClaimToken], sources: Mapping[int, SourceIndex]
) -> CheckedClaim | None:
    """The claim as a quote, a calculation done again, or from a table; None for any other."""
    for number, index in sources.items():
        place = index.quotable.place_of(claim) or index.quotable.place_of_quoted(claim)
        if place:
            evidence = Evidence(number, *place)
            return certain(claim, evidence, QUOTED, Basis.QUOTE)
    return (
        _recomputed(claim, sources)
        or _of_change(claim, tokens, sources)
        or _from_table(claim, tokens, sources)
        or _of_column(claim, tokens, sources)
    )


def _from_table(
    claim: str, tokens: Sequence[ClaimToken], sources: Mapping[int, SourceIndex]
) -> CheckedClaim | None:
    """The claim with the cells that it names, or with one other cell."""
    is_plain = not any(
        t.role is TokenRole.NEGATION or t.word in listed("conditions") or is_limiting(t)
        for t in tokens
    )
    found: list[tuple[int, RowsTold]] = []
    for number, index in sources.items():
        for table, columns in zip(index.tables, index.columns, strict=True):
            told = taken_from(claim, tokens, table, index.scale) if is_plain else None
            if not table.is_figures:
                told = told or told_of_rows(claim, tokens, columns)
            found += [(number, told)] if told and told.rows else []
    # What one table has otherwise, another one may say.
    best = min(found, key=lambda one: one[1].wrong is not None, default=None)
    return _of_rows(claim, *best) if best else None


def _of_column(
    claim: str, tokens: Sequence[ClaimToken], sources: Mapping[int, SourceIndex]
) -> CheckedClaim | None:
    """The claim with the sum or the mean of a column as the only figure that no source has.

    Of the result of a query only: another source may be a piece of a table, with another sum.
    """
    words = {token.word for token in tokens}
    unknown = unknown_figures(claim, sources)
    is_total = bool(words & (listed("summing") | listed("averaging")))
    is_negated = any(token.role is TokenRole.NEGATION for token in tokens)
    if len(unknown) != 1 or unknown[0].date or is_negated or not is_total:
        return None
    for number, index in sources.items():
        for columns in (each for each in index.columns if each.is_whole):
            for values in columns.numbers():
                total = sum(values, Decimal(0))
                made = total / len(values) if words & listed("averaging") else total
                if unknown[0].is_written_for(made):
                    rows = columns.rows
                    evidence = Evidence(number, rows[0].start, rows[-1].end)
                    return certain(claim, evidence, COMPUTED, Basis.COMPUTED)
    return None


# A change, from the first figure to the second, and where both stand.
_Change = tuple[Decimal, Decimal, Span]


def _of_change(
    claim: str, tokens: Sequence[ClaimToken], sources: Mapping[int, SourceIndex]
) -> CheckedClaim | None:
    """The claim that something rose or fell by so much, held against both figures of a source."""
    said = [one for one in quantities(claim) if not one.is_year]
    up, down = (any(t.word in listed(kind) for t in tokens) for kind in ("rising", "falling"))
    turning = listed("conditions") | listed("negation") | listed("roughly")
    if len(said) != 1 or said[0].date or up is down or any(t.word in turning for t in tokens):
        return None
    free = frozenset(
        token
        for token in tokens
        if token.role in (TokenRole.NUMBER, TokenRole.FUNCTION)
        or is_joining(token)
        or any(token.word in listed(k) for k in ("rising", "falling", "comparing", "periods"))
    )
    rest = [token for token in tokens if token not in free]
    for number, index in sources.items():
        found = [*_changed_rows(tokens, rest, index), *_changed_units(rest, index, said[0])]
        if len({change[:2] for change in found}) == 1:
            before, now, span = found[0]
            made = _growth((before, now)) if said[0].is_percent else now - before
            evidence = Evidence(number, *span)
            if (made > 0) is up and _is_result(claim, said[0], made):
                return certain(claim, evidence, COMPUTED, Basis.COMPUTED)
            if index.figures.has(said[0]):
                return None
            sign = "" if (made > 0) is up else "+" if made > 0 else "−"
            return _miscomputed(claim, said[0], sign + _as_said(claim, said[0], made), evidence)
    return None


def _changed_rows(
    tokens: Sequence[ClaimToken], rest: Sequence[ClaimToken], index: SourceIndex
) -> Iterator[_Change]:
    """The figures of the row that the rest of a claim names, in the columns of two years."""
    wanted, stems = (frozenset(token.stem for token in some) for some in (rest, tokens))
    for table, columns in zip(index.tables, index.columns, strict=True):
        years = {year: n for n, cell in enumerate(table.head.cells) if (year := _year(cell))}
        named = [year for year in years if str(year) in stems]
        last = max(named or years, default=0)
        first = max((y for y in (named if len(named) > 1 else years) if y < last), default=0)
        heads = sum(map(bool, map(_year, table.head.cells)))
        for row in table.rows_named(stems) if first and heads == len(years) else ():
            held = [columns.figures[row].get(years[year]) for year in (first, last)]
            name = stems_of(row.cells[0])
            if wanted <= name | columns.about:
                found = [one.values[0] for one in held if one]
                if len(found) == len(held) and found[0]:
                    yield found[0], found[1], (row.start, row.end)


def _year(cell: str) -> int:
    """The year in a head, 0 where it has none or more to tell apart."""
    found = [one for one in quantities(cell) if one.is_year]
    return int(found[0].values[0]) if len(found) == 1 else 0


def _changed_units(
    rest: Sequence[ClaimToken], index: SourceIndex, said: Quantity
) -> Iterator[_Change]:
    """The two figures of a sentence with the rest of a claim: from one to the other."""
    for unit in index.units:
        if (
            unit.kind is UnitKind.ROW
            or not {token.stem for token in rest} <= unit.stems
            or not rest
        ):
            continue
        figures = [
            one
            for one in quantities(index.text[unit.start : unit.end])
            if not (one.is_percent or one.is_year or one.date)
        ]
        turning = listed("conditions") | listed("negation")
        if len(figures) != len(("from", "to")) or any(t.word in turning for t in unit.tokens):
            continue
        pair = _in_time(index.text[unit.start : unit.end], *figures)
        if pair and pair[0].unit == pair[1].unit and said.unit in ("", "%", pair[0].unit):
            yield pair[0].values[0], pair[1].values[0], (unit.start, unit.end)


def _in_time(text: str, one: Quantity, other: Quantity) -> tuple[Quantity, Quantity] | None:
    """Two figures of a sentence, the earlier one first; None when it does not tell."""
    if _FROM.search(text[: one.start]) and _TO.fullmatch(text, one.end, other.start):
        return one, other
    between = {word.casefold() for word in words(text[one.end : other.start])}
    return (other, one) if between & listed("comparing") else None


def _of_rows(claim: str, source: int, told: RowsTold) -> CheckedClaim:
    rows = sorted(told.rows, key=lambda row: row.start)
    evidence = Evidence(source, rows[0].start, rows[-1].end)
    if told.wrong:
        span, written = told.wrong
        why = OTHER_CELL.format(written=written, said=claim[slice(*span)].strip(" ."))
        other = (Difference(DifferenceKind.NUMBER, span, None),)
        return CheckedClaim(claim, Verdict.CONTRADICTED, _WRONG, evidence, other, why, Basis.TABLE)
    return certain(claim, evidence, IN_TABLE, Basis.TABLE)


def _recomputed(claim: str, sources: Mapping[int, SourceIndex]) -> CheckedClaim | None:
    known = [index.figures for index in sources.values()]
    found = computed(claim, known, _labels_in(claim, sources))
    if found is None:
        return None
    calculation, result = found.calculation, found.calculation.result
    evidence = _place_of_inputs(calculation, sources)
    if found.is_right:
        used = (result, *calculation.inputs)
        if not all(any(map(one.equals, used)) for one in unknown_figures(claim, sources)):
            return None
        return certain(claim, evidence, COMPUTED, Basis.COMPUTED)
    return _miscomputed(claim, result, found.value, evidence)


def _labels_in(claim: str, sources: Mapping[int, SourceIndex]) -> set[str]:
    """The words that tell of a sum, but stand before the same word in a source as in the claim."""
    said, texts = words(claim.casefold()), [index.text.casefold() for index in sources.values()]
    pairs = (pair for pair in pairwise(said) if pair[0] in listed("summing"))
    return {one for one, other in pairs if any(f"{one} {other}" in text for text in texts)}


def _miscomputed(
    claim: str, result: Quantity, value: str, evidence: Evidence | None
) -> CheckedClaim:
    span = result.start, result.end
    wrong = (Difference(DifferenceKind.NUMBER, span, None),)
    said = MISCOMPUTED.format(value=value, said=claim[slice(*span)].strip(" ."))
    return CheckedClaim(claim, Verdict.CONTRADICTED, _WRONG, evidence, wrong, said, Basis.COMPUTED)


def certain(claim: str, evidence: Evidence | None, why: str, basis: Basis) -> CheckedClaim:
    """The claim, supported beyond doubt."""
    return CheckedClaim(claim, Verdict.SUPPORTED, _CERTAIN, evidence, (), why, basis)


def _place_of_inputs(
    calculation: Calculation, sources: Mapping[int, SourceIndex]
) -> Evidence | None:
    """The nearest places of the inputs in the source that has most of them."""
    best: tuple[int, int, Evidence] | None = None
    for number, index in sources.items():
        places = [
            (one.start, one.end)
            for said in calculation.inputs
            for one in index.figures.all
            if set(said.values) & set(one.values) or set(said.plain) & set(one.plain)
        ][: len(calculation.inputs)]
        if places:
            start, end = min(places)[0], max(end for _, end in places)
            rank = (-len(places), end - start)
            if best is None or rank < best[:2]:
                best = *rank, Evidence(number, start, end)
    return best[2] if best else None


def unknown_figures(claim: str, sources: Mapping[int, SourceIndex]) -> list[Quantity]:
    """The figures and dates of a claim that no source has; small counts are left out."""
    return [
        one
        for one in quantities(claim)
        if (one.unit or one.date or abs(one.values[0]) > _LARGEST_COUNT)
        and not any(index.figures.has(one) for index in sources.values())
    ]
