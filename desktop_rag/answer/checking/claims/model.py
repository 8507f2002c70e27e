"""Estimates from features how likely a source supports a claim. Pure, any thread.

A logistic regression whose weights keep the directions of the features, fitted by
`training/fit_checker.py`.
"""

import functools
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_FURTHEST = 30.0


@dataclass(frozen=True, slots=True)
class CheckerModel:
    """The fitted model. A claim counts as supported from `supported_from` on, and as absent from
    the sources below `unsupported_below`; `threshold` separates two classes.
    """

    weights: Mapping[str, float]
    intercept: float
    threshold: float
    supported_from: float
    unsupported_below: float

    @classmethod
    @functools.cache
    def load(cls, path: Path) -> "CheckerModel":
        """Read the file with the fitted numbers, once per process."""
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        bounds = table["threshold"], table["supported_from"], table["unsupported_below"]
        return cls(table["weights"], table["intercept"], *bounds)

    def support(self, values: Mapping[str, float]) -> float:
        """The probability that the claim is supported, 0 to 1, from the features by name."""
        odds = self.intercept + sum(weight * values[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-_FURTHEST, min(_FURTHEST, odds))))
