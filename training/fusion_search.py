"""Optimises the numbers of fusion with an evolution strategy. See fit_fusion.py.

The result of a question is known at every point of a grid of weights (lexical, cluster) and
interpolated in between. Both weights are logistic functions of the question's signals. The mean
over the sets is maximised by CMA-ES (Hansen, 2016, "The CMA Evolution Strategy: A Tutorial"),
because it has many local optima where gradients end. Seeded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The grid. Cluster weights cover all useful values, lexical weights go up to nearly all.
WEIGHTS = np.array([0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.92])
COMPANIES = np.array([0.0, 0.1, 0.25, 0.5, 1.0, 1.5])
# The penalty factor for a set below its limit.
_LACK = 100.0
_SHRINKAGE = 1e-4
_STARTS = 2
_GENERATIONS, _OFFSPRING, _PARENTS = 300, 24, 8
_LEAST_STEP = 1e-3
_FIRST_COMPANY = -1.0


@dataclass(frozen=True, slots=True)
class FusionSet:
    """A set of questions: gains (questions, lexical, cluster weights) and standardised signals.

    `limit` is the target of the set, `share` its weight among all sets.
    """

    gains: Floats
    weight_signals: Floats
    company_signals: Floats
    limit: float
    share: float


@dataclass(frozen=True, slots=True)
class Numbers:
    """Intercept and coefficients of both functions."""

    weight: Floats
    company: Floats


def weights_of(questions: FusionSet, numbers: Numbers) -> tuple[Floats, Floats]:
    """(lexical weight, cluster weight) of each question."""
    words = _logistic(questions.weight_signals, numbers.weight)
    company = _logistic(questions.company_signals, numbers.company)
    return WEIGHTS[0] + (WEIGHTS[-1] - WEIGHTS[0]) * words, COMPANIES[-1] * company


def gain_of(questions: FusionSet, numbers: Numbers) -> float:
    """The mean over the questions with these numbers."""
    return float(_read(questions.gains, *weights_of(questions, numbers)).mean())


def search(sets: Sequence[FusionSet]) -> Numbers:
    """The numbers with the highest mean over the sets, minus the penalties."""
    split = sets[0].weight_signals.shape[1] + 1
    start = np.zeros(split + sets[0].company_signals.shape[1] + 1)
    start[split] = _FIRST_COMPANY

    def value(point: Floats) -> float:
        return _objective(sets, Numbers(point[:split], point[split:]))

    best = max((_climb(value, start, seed) for seed in range(_STARTS)), key=value)
    return Numbers(best[:split], best[split:])


def _objective(sets: Sequence[FusionSet], numbers: Numbers) -> float:
    total = sum(questions.share for questions in sets)
    value = -_SHRINKAGE * float((numbers.weight[1:] ** 2).sum() + (numbers.company[1:] ** 2).sum())
    for questions in sets:
        gain = gain_of(questions, numbers)
        lack = max(0.0, questions.limit - gain)
        value += questions.share / total * (gain - _LACK * lack)
    return value


def _climb(value: Callable[[Floats], float], start: Floats, seed: int) -> Floats:
    """The best point seen; names and defaults as in the tutorial's figure 6 and table 1."""
    random = np.random.default_rng(seed)
    size = len(start)
    ranks = np.log(_PARENTS + 0.5) - np.log(np.arange(1, _PARENTS + 1))
    ranks /= ranks.sum()
    mass = 1 / float((ranks**2).sum())
    step_rate, path_rate = (mass + 2) / (size + mass + 5), 4 / (size + 4)
    rank_one, rank_mu = 2 / (size + 1.3) ** 2, 0.3
    expected = size**0.5 * (1 - 1 / (4 * size) + 1 / (21 * size**2))
    mean, covariance, step = start, np.eye(size), 1.0
    step_path, path = np.zeros(size), np.zeros(size)
    best, best_value = start, value(start)
    for _ in range(_GENERATIONS):
        lengths, axes = np.linalg.eigh(covariance)
        lengths = np.sqrt(np.maximum(lengths, 1e-12))
        moves = (random.standard_normal((_OFFSPRING, size)) * lengths) @ axes.T
        values = np.array([value(mean + step * move) for move in moves])
        order = np.argsort(-values)[:_PARENTS]
        if values[order[0]] > best_value:
            best, best_value = mean + step * moves[order[0]], float(values[order[0]])
        move = ranks @ moves[order]
        mean = mean + step * move
        even = axes @ ((axes.T @ move) / lengths)
        step_path = (1 - step_rate) * step_path + (step_rate * (2 - step_rate) * mass) ** 0.5 * even
        path = (1 - path_rate) * path + (path_rate * (2 - path_rate) * mass) ** 0.5 * move
        spread = np.einsum("i,ij,ik->jk", ranks, moves[order], moves[order])
        kept = (1 - rank_one - rank_mu) * covariance
        covariance = kept + rank_one * np.outer(path, path) + rank_mu * spread
        longer = float(np.linalg.norm(step_path)) / expected - 1
        step *= float(np.exp(step_rate / (1 + step_rate) * longer))
        if step < _LEAST_STEP:
            break
    return best


def _logistic(signals: Floats, numbers: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(numbers[0] + signals @ numbers[1:], -30, 30)))


def _read(gains: Floats, words: Floats, company: Floats) -> Floats:
    """Gains interpolated between the grid points."""
    i, part = _between(WEIGHTS, words)
    j, other = _between(COMPANIES, company)
    rows = np.arange(len(words))
    below = (1 - part) * gains[rows, i, j] + part * gains[rows, i + 1, j]
    above = (1 - part) * gains[rows, i, j + 1] + part * gains[rows, i + 1, j + 1]
    return (1 - other) * below + other * above


def _between(grid: Floats, values: Floats) -> tuple[NDArray[np.intp], Floats]:
    """(lower grid point, fraction of the way to the next)."""
    place = np.clip(np.searchsorted(grid, values) - 1, 0, len(grid) - 2)
    return place, (values - grid[place]) / (grid[place + 1] - grid[place])
