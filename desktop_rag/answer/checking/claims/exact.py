"""What needs no model, in any language: quotes, calculations, figures of a claim. Pure.

A claim that a source has word for word is supported, and so is a calculation that is right and
whose inputs are in the sources. A figure or date that no source has is named.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations

from desktop_rag.answer.checking.claims.calculations import Calculation, computed
from desktop_rag.answer.checking.claims.cells import RowsTold, is_limiting, taken_from
from desktop_rag.answer.checking.claims.quantities import Quantity, missing, quantities
from desktop_rag.answer.checking.claims.rows import told_of_rows
from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole
from desktop_rag.answer.checking.claims.words import word_lists
from desktop_rag.core.claims import (
    Basis,
    CheckedClaim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)

# The support of what is certain, and of what is certainly wrong.
_CERTAIN, _WRONG = 0.99, 0.01
QUOTED = "The source says this, word for word."
COMPUTED = "Computed from figures of the source."
MISCOMPUTED = "The figures give {value}, the answer says {said}."
IN_TABLE = "The table of the source has this there."
OTHER_CELL = "The table has {written} there, the answer says {said}."
# Up to here a number may be a count of things that a source lists.
_LARGEST_COUNT = 12
_MOST_FIGURES = 16
_LEAST_DERIVED = 13
_MONTHS, _HUNDRED = 12, 100


def said_exactly(
    claim: str, tokens: Sequence[ClaimToken], sources: Mapping[int, SourceIndex]
) -> CheckedClaim | None:
    """The claim as a quote, a calculation done again, or from a table; None for any other."""
    for number, index in sources.items():
        place = index.quotable.place_of(claim) or index.quotable.place_of_quoted(claim)
        if place:
            evidence = Evidence(number, *place)
            return _certain(claim, evidence, QUOTED, Basis.QUOTE)
    return (
        _recomputed(claim, sources)
        or _from_table(claim, tokens, sources)
        or _of_column(claim, tokens, sources)
    )


def _from_table(
    claim: str, tokens: Sequence[ClaimToken], sources: Mapping[int, SourceIndex]
) -> CheckedClaim | None:
    """The claim with the cells that it names, or with one other cell."""
    is_plain = not any(
        t.role is TokenRole.NEGATION or t.word in word_lists().conditions or is_limiting(t)
        for t in tokens
    )
    for number, index in sources.items():
        for table, columns in zip(index.tables, index.columns, strict=True):
            told = taken_from(claim, tokens, table, index.scale) if is_plain else None
            told = told or told_of_rows(claim, tokens, columns)
            if told and told.rows:
                return _of_rows(claim, number, told)
    return None


def _of_column(
    claim: str, tokens: Sequence[ClaimToken], sources: Mapping[int, SourceIndex]
) -> CheckedClaim | None:
    """The claim with the sum or the mean of a column as the only figure that no source has.

    Of the result of a query only: another source may be a piece of a table, with another sum.
    """
    lists = word_lists()
    words = {token.word for token in tokens}
    unknown = unknown_figures(claim, sources)
    is_total = bool(words & (lists.summing | lists.averaging))
    is_negated = any(token.role is TokenRole.NEGATION for token in tokens)
    if len(unknown) != 1 or unknown[0].date or is_negated or not is_total:
        return None
    for number, index in sources.items():
        for columns in (each for each in index.columns if each.is_whole):
            for values in columns.numbers():
                total = sum(values, Decimal(0))
                made = total / len(values) if words & lists.averaging else total
                if unknown[0].is_written_for(made):
                    rows = columns.rows
                    evidence = Evidence(number, rows[0].start, rows[-1].end)
                    return _certain(claim, evidence, COMPUTED, Basis.COMPUTED)
    return None


def _of_rows(claim: str, source: int, told: RowsTold) -> CheckedClaim:
    rows = sorted(told.rows, key=lambda row: row.start)
    evidence = Evidence(source, rows[0].start, rows[-1].end)
    if told.wrong:
        span, written = told.wrong
        why = OTHER_CELL.format(written=written, said=claim[slice(*span)].strip())
        other = (Difference(DifferenceKind.NUMBER, span, None),)
        return CheckedClaim(claim, Verdict.CONTRADICTED, _WRONG, evidence, other, why, Basis.TABLE)
    return _certain(claim, evidence, IN_TABLE, Basis.TABLE)


def _recomputed(claim: str, sources: Mapping[int, SourceIndex]) -> CheckedClaim | None:
    known = [index.figures for index in sources.values()]
    found = computed(claim, known)
    if found is None:
        return None
    calculation, result = found.calculation, found.calculation.result
    evidence = _place_of_inputs(calculation, sources)
    if found.is_right:
        used = (result, *calculation.inputs)
        if not all(any(map(one.equals, used)) for one in unknown_figures(claim, sources)):
            return None
        return _certain(claim, evidence, COMPUTED, Basis.COMPUTED)
    span = result.start, result.end
    wrong = (Difference(DifferenceKind.NUMBER, span, None),)
    said = MISCOMPUTED.format(value=found.value, said=claim[slice(*span)].strip())
    return CheckedClaim(claim, Verdict.CONTRADICTED, _WRONG, evidence, wrong, said, Basis.COMPUTED)


def _certain(claim: str, evidence: Evidence | None, why: str, basis: Basis) -> CheckedClaim:
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
    found = missing(quantities(claim), [index.figures for index in sources.values()])
    return [one for one in found if one.unit or one.date or abs(one.values[0]) > _LARGEST_COUNT]


def is_derived(said: Quantity, around: Sequence[Quantity]) -> bool:
    """True when figures that stand together give this one: a sum, a difference, a percentage.

    Only of those near the evidence: among many figures, some two always give it.
    """
    if said.date or abs(said.values[0]) < _LEAST_DERIVED:
        return False
    return any(said.is_written_for(value) for value in _given_by(around[:_MOST_FIGURES]))


def _given_by(around: Sequence[Quantity]) -> Iterator[Decimal]:
    figures = [one for one in around if not one.date and not one.is_year]
    for one in figures:
        if one.is_percent:
            yield _HUNDRED - one.values[0]
        else:
            yield one.values[0] * _MONTHS
            yield one.values[0] / _MONTHS
    for one, other in combinations(figures, 2):
        a, b = one.values[0], other.values[0]
        if one.is_percent != other.is_percent:
            share, whole = (a, b) if one.is_percent else (b, a)
            yield from (whole * part / _HUNDRED for part in (share, 100 - share, 100 + share))
        elif one.unit == other.unit or "" in (one.unit, other.unit):
            yield from (a + b, abs(a - b))
