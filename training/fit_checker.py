"""Fits the numbers in resources/claims/checker.toml to claims labelled by people.

python training/fit_checker.py GROUNDING CACHE [--most N] [--write]

GROUNDING contains the sets that claim_sets.py lists; features are computed once and kept in the
folder CACHE. Prints for each set AUC and balanced accuracy of word overlap, of the similarity in
meaning alone, and of the model: in-sample, and left out, that is fitted without the whole set. No
threshold has seen the set that it is measured on, and none a benchmark: it is the best for all
others.
"""

import argparse
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from claim_sets import (
    BENCHMARKS,
    FOREIGN,
    LEARNED,
    MEASURED,
    Flags,
    Floats,
    Measured,
    measured_sets,
)
from monotone_regression import Regression, fit

from desktop_rag.answer.checking.claims.support import FEATURES, SIMILARITY
from desktop_rag.core.paths import resources_dir
from desktop_rag.features.evaluation.measures.metrics import area_under_curve, balanced_accuracy

_MOST = 400
# Of the claims of all sets from the upper bound on, at least this share is supported: half of the
# claims of each set are, by weight.
_LEAST_RIGHT = 0.75
# Of the true claims of a set left out, no more than this share may be called absent, on average:
# a sign that most sentences carry says nothing.
_MOST_WARNED = 0.3
_DIGITS = 4
_CANDIDATES = np.linspace(0.02, 0.98, 97)

Scores = Mapping[str, Floats]


def main() -> None:
    """Measure, fit and print; with --write replace the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grounding", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--most", type=int, default=_MOST)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    every = measured_sets(arguments.grounding, arguments.cache, arguments.most)
    sets = {name: every[name] for name in (*LEARNED, *MEASURED, *BENCHMARKS)}
    model = fitted(every, LEARNED)
    left_out = {
        name: fitted(every, [other for other in LEARNED if other != name]).support(of.rows)
        for name, of in sets.items()
    }
    similarity = list(FEATURES).index(SIMILARITY)
    report(
        sets,
        {
            "word overlap": {name: of.overlap for name, of in sets.items()},
            "meaning": {name: of.rows[:, similarity] for name, of in sets.items()},
            "in-sample": {name: model.support(of.rows) for name, of in sets.items()},
            "left out": left_out,
        },
    )
    seen = {name: of for name, of in sets.items() if name not in BENCHMARKS}
    bounds = verdict_bounds(seen, left_out)
    for name in FOREIGN:
        report_foreign(name, every[name], model, bounds[2])
    text = as_toml(model, bounds)
    print(text)
    assert tomllib.loads(text)
    if arguments.write:
        path = resources_dir() / "claims" / "checker.toml"
        path.write_text(text, encoding="utf-8")


def fitted(sets: Mapping[str, Measured], names: Iterable[str]) -> Regression:
    """The model of some sets; each set, and each label in it, weighs the same."""
    chosen = [sets[name] for name in names]
    weights = [_balanced(of.labels) for of in chosen]
    return fit(
        np.vstack([of.rows for of in chosen]),
        np.concatenate([of.labels for of in chosen]),
        np.concatenate(weights) / len(chosen),
        list(FEATURES.values()),
    )


def report(sets: Mapping[str, Measured], methods: Mapping[str, Scores]) -> None:
    """AUC and balanced accuracy of each set by each method, and the means."""
    print(f"{'':<20}" + "".join(f"{name:>16}" for name in methods))
    figures = {
        name: [
            (_auc(scores[name], of.labels), _held(name, scores, sets))
            for scores in methods.values()
        ]
        for name, of in sets.items()
    }
    figures["mean"] = np.mean(list(figures.values()), axis=0).tolist()
    for name, row in figures.items():
        print(f"{name:<20}" + "".join(f"{auc:>10.3f}{accuracy:>6.3f}" for auc, accuracy in row))


def report_foreign(name: str, of: Measured, model: Regression, supported_from: float) -> None:
    """What the checker says in another language: its AUC, and how often it says supported."""
    told = model.support(of.rows) >= supported_from
    right = of.labels[told].mean() if told.any() else 0.0
    print(
        f"{name:<20} AUC {_auc(model.support(of.rows), of.labels):.3f}, taken for English "
        f"{of.english.mean():.3f}, supported {told.mean():.3f}, of these right {right:.3f}, "
        f"of all {of.labels.mean():.3f}"
    )


def verdict_bounds(sets: Mapping[str, Measured], scores: Scores) -> tuple[float, float, float]:
    """The bounds of absent, two classes, and supported, from left-out scores."""
    threshold = _best_threshold(sets, scores)
    joined = np.concatenate([scores[name] for name in sets])
    labels = np.concatenate([of.labels for of in sets.values()])
    weights = np.concatenate([_balanced(of.labels) for of in sets.values()])
    high, candidates = threshold, _CANDIDATES.tolist()
    for bound in [bound for bound in candidates if bound > threshold]:
        if _share(labels, weights, joined >= bound) >= _LEAST_RIGHT:
            high = bound
            break
    low = max(bound for bound in candidates if _warned(sets, scores, bound) <= _MOST_WARNED)
    for name, found in (("supported", joined >= high), ("absent", joined < low)):
        is_so = labels if name == "supported" else ~labels
        told, right = weights[found].sum() / weights.sum(), _share(is_so, weights, found)
        print(f"{name}: said of {told:.3f} of the claims left out, right {right:.3f}")
    return low, threshold, high


def _warned(sets: Mapping[str, Measured], scores: Scores, bound: float) -> float:
    """The share of the true claims below a bound, the mean of the sets."""
    return float(np.mean([(scores[name][of.labels] < bound).mean() for name, of in sets.items()]))


def as_toml(model: Regression, bounds: Sequence[float]) -> str:
    """The contents of the file."""
    low, threshold, high = bounds
    lines = [
        "# The model of a source's support for a claim. Written by training/fit_checker.py, which",
        "# describes its training data. Read by desktop_rag/answer/checking/claims/checker.py. The",
        "# figures of sets left out are in docs/decisions/082-claims-by-one-encoder.md.",
        "",
        f"threshold = {threshold:.2f}",
        f"supported_from = {high:.2f}",
        f"unsupported_below = {low:.2f}",
        f"intercept = {model.intercept:.{_DIGITS}f}",
        "",
        "[weights]",
        *(
            f"{name} = {weight:.{_DIGITS}f}"
            for name, weight in zip(FEATURES, model.weights.tolist(), strict=True)
        ),
    ]
    return "\n".join(lines) + "\n"


def _held(name: str, scores: Scores, sets: Mapping[str, Measured]) -> float:
    """The balanced accuracy of a set at the threshold that is best for the others."""
    others = {n: of for n, of in sets.items() if n != name and n not in BENCHMARKS}
    threshold = _best_threshold(others, scores)
    return _accuracy(scores[name], sets[name].labels, threshold)


def _best_threshold(sets: Mapping[str, Measured], scores: Scores) -> float:
    def mean(threshold: float) -> float:
        accuracies = [_accuracy(scores[n], of.labels, threshold) for n, of in sets.items()]
        return float(np.mean(accuracies))

    return float(max(_CANDIDATES, key=mean))


def _accuracy(scores: Floats, labels: Flags, threshold: float) -> float:
    return balanced_accuracy((scores >= threshold).tolist(), labels.tolist())


def _auc(scores: Floats, labels: Flags) -> float:
    return area_under_curve(scores.tolist(), labels.tolist())


def _balanced(labels: Flags) -> Floats:
    """A weight for each claim, 1 in total, half of it for each label."""
    return np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())


def _share(right: Flags, weights: Floats, chosen: Flags) -> float:
    total = weights[chosen].sum()
    return float(weights[chosen & right].sum() / total) if total else 0.0


if __name__ == "__main__":
    main()
