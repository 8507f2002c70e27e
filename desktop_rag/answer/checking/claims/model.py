"""Estimates from features how likely a source supports a claim. Pure, any thread.

Boosted trees, fitted by `training/fit_checker.py`.
"""

import functools
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_FURTHEST = 30.0


@dataclass(frozen=True, slots=True)
class Tree:
    """A complete binary tree: node n continues at 2n + 1 when its feature is at most its cut, else
    at 2n + 2; `values` are those of the leaves from left to right.
    """

    features: Sequence[int]
    cuts: Sequence[float]
    values: Sequence[float]

    def __call__(self, row: Sequence[float]) -> float:
        """The contribution to the log odds."""
        node = 0
        while node < len(self.cuts):
            node = 2 * node + 1 + (row[self.features[node]] > self.cuts[node])
        return self.values[node - len(self.cuts)]


@dataclass(frozen=True, slots=True)
class CheckerModel:
    """The fitted model. A claim counts as supported from `supported_from` on, and as absent from
    the sources below `unsupported_below`; `threshold` separates two classes.
    """

    features: Sequence[str]
    trees: Sequence[Tree]
    threshold: float
    supported_from: float
    unsupported_below: float

    @classmethod
    @functools.cache
    def load(cls, path: Path) -> "CheckerModel":
        """Read the file with the fitted numbers, once per process."""
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        trees = [Tree(t["features"], t["cuts"], t["values"]) for t in tables["trees"]]
        bounds = tables["threshold"], tables["supported_from"], tables["unsupported_below"]
        return cls(tables["features"], trees, *bounds)

    def support(self, values: Mapping[str, float]) -> float:
        """The probability that the claim is supported, 0 to 1, from the features by name."""
        row = [values[name] for name in self.features]
        odds = sum(tree(row) for tree in self.trees)
        return 1 / (1 + math.exp(-max(-_FURTHEST, min(_FURTHEST, odds))))
