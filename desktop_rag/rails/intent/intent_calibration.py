"""The probability that a recognised intent is right, from its evidence.

The shipped coefficients come from other people's sets (`training/fit_intents.py`); the examples of
a configuration, each taken as if it were unknown, correct them. Pure; any worker thread.
"""

import tomllib
from functools import cache

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.paths import resources_dir
from desktop_rag.rails.intent.intent_scores import Evidence

Numbers = NDArray[np.float64]
# The correction: a shift, a factor of the log-odds, and the weight of how often an intent is named
# wrongly. What it is before any example speaks, and how many examples it takes to change it.
_PRIOR = np.array([0.0, 1.0, 0.5])
_PRIOR_WEIGHTS = np.array([5.0, 50.0, 20.0])
# The share of right answers of an intent starts from that of all, as if seen so often.
_SMOOTHING = 5.0
# Fewer examples can't correct anything.
_FEWEST = 50
_FEWEST_PER_INTENT = 2.0
_LEAST = 1e-4
# With few examples an intent may be the nearest by chance. At a smaller distance to the next one,
# about 92 of 100 are right, whatever else speaks for it (decision 084). It is less with more
# examples than `_FEW` an intent, in proportion.
_CLEAR_MARGIN, _FEW = 0.4, 4
_MOST_UNCLEAR = 0.94
_STEPS = 30


class IntentCalibration:
    """Tells probabilities; until `correct` was called, by the shipped coefficients alone."""

    def __init__(self, class_count: int) -> None:
        """Load the shipped coefficients."""
        self._coefficients = _shipped()
        self._correction = _PRIOR * (1, 1, 0)
        self._precisions = np.zeros(class_count)

    def correct(self, evidence: Evidence, right: NDArray[np.bool_]) -> None:
        """Learn from examples whose evidence was taken as if they were unknown."""
        classes = len(self._precisions)
        if len(right) < max(_FEWEST, _FEWEST_PER_INTENT * classes) or right.all():
            return
        hits = right.astype(np.float64)
        named = np.bincount(evidence.best, minlength=classes)
        found = np.bincount(evidence.best, hits, minlength=classes) + _SMOOTHING * hits.mean()
        usual = _log_odds(hits.mean())
        self._precisions = _log_odds(found / (named + _SMOOTHING)) - usual
        # Without the example itself, or it would vouch for its own answer.
        others = (found[evidence.best] - hits) / (named[evidence.best] - 1 + _SMOOTHING)
        self._correction = _fitted(self._columns(evidence, _log_odds(others) - usual), hits)

    def probabilities(self, evidence: Evidence) -> Numbers:
        """The probability of each best class to be right, from 0 to 1."""
        columns = self._columns(evidence, self._precisions[evidence.best])
        chances = _chance(columns @ self._correction)
        is_clear = evidence.margins >= _CLEAR_MARGIN * np.minimum(1, _FEW / evidence.sizes)
        return np.where(is_clear, chances, np.minimum(chances, _MOST_UNCLEAR))

    def _columns(self, evidence: Evidence, precisions: Numbers) -> Numbers:
        chances = _chance(terms(evidence) @ self._coefficients)
        return np.stack([np.ones(len(chances)), _log_odds(chances), precisions], axis=1)


def terms(evidence: Evidence) -> Numbers:
    """What the shipped coefficients multiply, shape (vectors, coefficients)."""
    score, margin, own, gap, share, size, classes = evidence.features.T.astype(np.float64)
    columns = [np.ones(len(score)), score, margin, own, gap, share, size, classes]
    columns += [margin * size, own * size, score * size, gap * size, share * size]
    columns += [margin * margin, own * own, margin * own, gap * own]
    columns += [margin * classes, own * classes]
    return np.stack(columns, axis=1)


@cache
def _shipped() -> Numbers:
    text = (resources_dir() / "rails" / "intents.toml").read_text(encoding="utf-8")
    return np.array(tomllib.loads(text)["coefficients"])


def _fitted(columns: Numbers, hits: Numbers) -> Numbers:
    """Logistic regression that starts from, and is held by, the prior."""
    found: Numbers = _PRIOR
    for _ in range(_STEPS):
        chances = _chance(columns @ found)
        slope = columns.T @ (chances - hits) + _PRIOR_WEIGHTS * (found - _PRIOR)
        spread = (columns * (chances * (1 - chances))[:, None]).T @ columns
        step = np.linalg.solve(spread + np.diag(_PRIOR_WEIGHTS), slope)
        found = (found - step).astype(np.float64)
    return found


def _chance(log_odds: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))


def _log_odds(chances: Numbers) -> Numbers:
    kept = np.clip(chances, _LEAST, 1 - _LEAST)
    return np.log(kept / (1 - kept))
