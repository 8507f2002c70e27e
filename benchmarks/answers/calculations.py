"""Calculations of reports: how many right ones are ✓, how many wrong ones are ✗.

They are made from the figures of tables that are made up for a seed: changes, shares, sums,
differences, averages and ratios, told in two languages or written out, rounded as people do. A
wrong one has another result. Every figure but the result is in the source.
Run: python benchmarks/answers/calculations.py
"""

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import Verdict

_ROWS = ("Revenue", "Cost of sales", "Operating expenses", "Net income", "Total assets")
_YEARS = (2022, 2023, 2024)
_EACH = 60
_LEAST_OFF, _MOST_OFF = 0.08, 0.6


@dataclass(frozen=True, slots=True)
class Case:
    """A report, and a sentence about it with a calculation."""

    source: str
    claim: str
    is_right: bool


def cases(seed: int = 11) -> Iterator[Case]:
    """So many right and as many wrong calculations, the same for a seed."""
    draw = random.Random(seed)
    for number in range(2 * _EACH):
        is_right = number % 2 == 0
        values = {row: [draw.randint(120, 9_800) for _ in _YEARS] for row in _ROWS}
        source = _report(values, draw)
        yield Case(source, _sentence(values, number // 2, is_right, draw), is_right)


def _report(values: dict[str, list[int]], draw: random.Random) -> str:
    head = " | ".join(["", *map(str, _YEARS)])
    rows = [" | ".join([row, *(f"{v:,}" for v in found)]) for row, found in values.items()]
    staff = draw.randint(200, 900)
    table = "\n".join([head, *rows])
    return f"Key figures, in millions of euros\n\n{table}\n\nThe group has {staff} employees."


def _sentence(
    values: dict[str, list[int]], number: int, is_right: bool, draw: random.Random
) -> str:
    row = draw.choice(_ROWS)
    _, before, now = values[row]
    its = values[other := draw.choice([name for name in _ROWS if name != row])][2]

    def off(value: float) -> float:
        if is_right:
            return value
        share = draw.uniform(_LEAST_OFF, _MOST_OFF)
        return value * (1 + share if draw.random() < 0.5 else 1 - share)

    growth = 100 * (now / before - 1)
    direction, steigt = ("rose", "stieg") if now > before else ("fell", "sank")
    low, high = sorted((now, its))
    forms = [
        lambda: (
            f"{row} {direction} by {abs(off(growth)):.1f}%, from {before:,} million euros in"
            f" 2023 to {now:,} million euros in 2024."
        ),
        lambda: (
            f"{row} {direction} from €{before:,} million to €{now:,} million, a change of"
            f" €{abs(off(now - before)):,.0f} million."
        ),
        lambda: f"The ratio is {off(100 * low / high):.1f}% ({low:,} / {high:,}).",
        lambda: (
            f"Together, {row.lower()} of {now:,} million and {other.lower()} of {its:,} million"
            f" amount to a total of {off(now + its):,.0f} million."
        ),
        lambda: (
            f"On average, {row.lower()} was {off(sum(values[row]) / 3):,.1f} million a year"
            f" ({values[row][0]:,}, {before:,} and {now:,} million)."
        ),
        lambda: (
            f"The difference between {now:,} and {its:,} million is"
            f" {abs(off(now - its)):,.0f} million."
        ),
        lambda: (
            f"{row} {steigt} um {abs(off(growth)):.1f} Prozent, von {_de(before)} auf"
            f" {_de(now)} Millionen Euro."
        ),
        lambda: (
            f"Das sind zusammen {_de(round(off(now + its)))} Millionen Euro ({_de(now)} +"
            f" {_de(its)})."
        ),
        lambda: f"That is about {off(high / low):.2f} times as much ({high:,} ÷ {low:,}).",
        lambda: f"{low:,} of {high:,} million euros is a share of {off(100 * low / high):.0f}%.",
    ]
    return forms[number % len(forms)]()


def _de(value: int) -> str:
    return f"{value:,}".replace(",", ".")


def main() -> None:
    """Print the shares, and what was missed."""
    checker = ClaimChecker()
    right = wrong = 0
    for case in cases():
        found = checker.check(case.claim, [case.source])
        wanted = Verdict.SUPPORTED if case.is_right else Verdict.CONTRADICTED
        right += case.is_right and found.verdict is wanted
        wrong += not case.is_right and found.verdict is wanted
        if found.verdict is not wanted:
            sys.stdout.write(
                f"{found.verdict}, not {wanted}: {case.claim}\n    {found.explanation}\n"
            )
    sys.stdout.write(f"right ✓ {right} of {_EACH}, wrong ✗ {wrong} of {_EACH}\n")


if __name__ == "__main__":
    main()
