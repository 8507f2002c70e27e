"""One figure of a benchmark beside the limit it is held to, and how a run shows them. No script."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure and the limit it was held to.

    `limit` is its text (`≥ .912`), "" for a figure that is only reported; `figure` is None when
    it was not measured; `is_met` None when there is nothing to meet.
    """

    name: str
    limit: str
    figure: float | None
    is_met: bool | None

    def to_json(self) -> dict[str, Any]:
        """The fields as they are."""
        return asdict(self)


def at_least(name: str, limit: float, figure: float | None) -> Bar:
    """A bar that is met from `limit` up; a figure that is missing misses it."""
    return Bar(name, f"≥ {limit:g}", figure, figure is not None and figure >= limit)


def at_most(name: str, limit: float, figure: float | None) -> Bar:
    """A bar that is met up to `limit`; a figure that is missing misses it."""
    return Bar(name, f"≤ {limit:g}", figure, figure is not None and figure <= limit)


def reported(name: str, figure: float | None) -> Bar:
    """A figure that nothing is asked of."""
    return Bar(name, "", figure, None)


def table(bars: Sequence[Bar]) -> list[str]:
    """The bars as lines: name, limit, figure, and whether it is met."""
    width = max((len(bar.name) for bar in bars), default=0)
    words = {True: "met", False: "MISSED", None: ""}
    lines = [f"{'bar':<{width}}  {'limit':>10}  {'figure':>10}"]
    for bar in bars:
        figure = "not measured" if bar.figure is None else f"{bar.figure:.4g}"
        lines.append(f"{bar.name:<{width}}  {bar.limit:>10}  {figure:>10}  {words[bar.is_met]}")
    return [line.rstrip() for line in lines]
