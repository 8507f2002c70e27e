"""Figures of a benchmark with their limits, and their display. Not a script."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure and its limit.

    `limit` is its text (`≥ .912`), "" for a figure without one; `figure` is None when it was not
    measured; `is_met` None when there is no limit.
    """

    name: str
    limit: str
    figure: float | None
    is_met: bool | None

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON."""
        return asdict(self)


def at_least(name: str, limit: float, figure: float | None) -> Bar:
    """A bar met from `limit` up; a missing figure misses it."""
    return Bar(name, f"≥ {limit:g}", figure, figure is not None and figure >= limit)


def at_most(name: str, limit: float, figure: float | None) -> Bar:
    """A bar met up to `limit`; a missing figure misses it."""
    return Bar(name, f"≤ {limit:g}", figure, figure is not None and figure <= limit)


def reported(name: str, figure: float | None) -> Bar:
    """A figure without a limit."""
    return Bar(name, "", figure, None)


def table(bars: Sequence[Bar]) -> list[str]:
    """The bars as lines: name, limit, figure, and result."""
    width = max((len(bar.name) for bar in bars), default=0)
    words = {True: "met", False: "MISSED", None: ""}
    lines = [f"{'bar':<{width}}  {'limit':>10}  {'figure':>10}"]
    for bar in bars:
        figure = "not measured" if bar.figure is None else f"{bar.figure:.4g}"
        lines.append(f"{bar.name:<{width}}  {bar.limit:>10}  {figure:>10}  {words[bar.is_met]}")
    return [line.rstrip() for line in lines]
