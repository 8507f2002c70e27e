"""Fits the numbers in resources/retrieval/fusion.toml on retrieval sets.

python training/fit_fusion.py SETS --scratch FOLDER [--questions N] [--documents N]
    [--only SET …] [--without-relevance | --write]

SETS contains folders in BEIR format. The app searches each set once (retrieval_pools.py). For each
set it prints nDCG@10 by words alone, by meaning alone and with fixed weights, then of three models,
each once fitted on all sets and once without the set and all others of its group:

one weight: words weigh A times as much as meaning
agreement: … times exp(B · the agreement of both rankings, in deviations)
open questions: … times exp(D) for an open question, where company weighs C

A model is chosen from a small grid by the mean over the groups of sets, less what it lacks, in any
set, to the best of words, meaning and the fixed weight .3. The relevance of a passage is a logistic
regression of a set's own questions against questions of other sets.
"""

import argparse
import itertools
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from retrieval_pools import RATIOS, Floats, Pool, Pools, pools_of

from desktop_rag.answer.search.fusion import FURTHEST, standardised
from desktop_rag.core.paths import resources_dir
from desktop_rag.features.evaluation.measures.metrics import ndcg
from desktop_rag.features.evaluation.measures.query_sets import load_set

# Sets of one group have the same questions or documents. They are left out together, and are not
# off topic for each other: XQuAD is a part of SQuAD in several languages.
GROUPS = {
    "squad": "SQuAD", "xquad/de": "SQuAD", "xquad/en": "SQuAD", "xquad/ru": "SQuAD",
    "xquad/zh": "SQuAD", "xquad/en asked by xquad/de": "SQuAD",
    "xquad/en asked by xquad/ru": "SQuAD", "xquad/en asked by xquad/zh": "SQuAD",
}  # fmt: skip
SETS = (*GROUPS, "chunk_eval", "pubmedqa", "lfqa_docs", "wice_retrieval", "cacm", "med", "lisa",
        "time")  # fmt: skip
FEATURES = ("agreement", "open")
_OFF_TOPIC = 25
# The lexical lead makes up for missing similarity only when it is clear.
_STRICT = 15.0
# The grid of each number.
_RATIO = (0.5, 0.75, 1.0, 1.2, 1.4, 1.7, 2.0)
_AGREEMENT = (0.0, 0.15, 0.3, 0.5, 0.7)
_OPEN = (0.0, -1.4, -2.0, -3.0)
_COMPANY = (0.0, 0.15, 0.35)
# The usual agreement, and its deviation.
_USUAL, _DEVIATION = 0.2, 0.28
Scale = dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A point of the grid; see the module's description."""

    ratio: float
    agreement: float = 0.0
    open: float = 0.0
    company: float = 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """The results of a set: baselines by name, and nDCG@10 of each number of the grid."""

    baselines: dict[str, float]
    gains: dict[Numbers, float]

    @property
    def wanted(self) -> float:
        """The best of words, meaning and the fixed weight .3."""
        return max(self.baselines[name] for name in ("words", "meaning", "z .3"))


MODELS: dict[str, list[Numbers]] = {
    "one weight": [Numbers(r) for r in _RATIO],
    "agreement": [Numbers(r, a) for r in _RATIO for a in _AGREEMENT],
    "open questions": [
        Numbers(*point) for point in itertools.product(_RATIO, _AGREEMENT, _OPEN, _COMPANY)
    ],
}


def main() -> None:
    """Collect, fit and print; with --write replace the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=150, help="of each set, at most")
    parser.add_argument("--documents", type=int, help="of each set, at most; by default all")
    parser.add_argument("--only", nargs="+", default=SETS, help="these sets")
    parser.add_argument("--without-relevance", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    pools: dict[str, Pools] = {}
    for name in asked.only:
        strangers = [] if asked.without_relevance else off_topic(asked.sets, name, asked.only)
        pools[name] = pools_of(
            asked.sets, asked.scratch, name, strangers, asked.questions, asked.documents
        )
    judged = {name: judge(found.own) for name, found in pools.items()}
    report(judged)
    chosen = choose(MODELS["open questions"], judged, list(judged))
    print(f"chosen: {chosen}")
    if asked.without_relevance:
        return
    own = {name: [pool.best for pool in found.own] for name, found in pools.items()}
    foreign = {name: [pool.best for pool in found.foreign] for name, found in pools.items()}
    scale: Scale = {"agreement": (_USUAL, _DEVIATION), "open": (0.0, 1.0)}
    weight = np.array([math.log(chosen.ratio), chosen.agreement, chosen.open])
    tables: dict[str, dict[str, object]] = {
        "weight": table(weight, FEATURES, scale),
        "company": {"open": chosen.company},
        "relevance": regression(own, foreign, ("nearness", "standout")),
        "relevance_among_few": regression(own, foreign, ("nearness", "share")),
        "relevance_by_words": regression(own, foreign, ("share",)),
        "relevance_by_lead": regression(own, foreign, ("lead",), _STRICT),
    }
    path = resources_dir() / "retrieval" / "fusion.toml"
    # Those of fit_across_languages.py stay.
    tables = tomllib.loads(path.read_text(encoding="utf-8")) | tables
    text = as_toml(tables)
    print(text)
    if asked.write:
        path.write_text(text, encoding="utf-8")
        assert tomllib.loads(text) == tables


def group_of(name: str) -> str:
    """Sets of one group are left out together."""
    return GROUPS.get(name, name)


def off_topic(sets: Path, name: str, names: Sequence[str]) -> list[str]:
    """Questions of other groups that a set's corpus does not answer."""
    others = [n for n in names if group_of(n) != group_of(name) and " asked by " not in n]
    if "xquad" in name:
        others = [n for n in others if group_of(n) != "SQuAD"]
    return [text for n in others for _, text in load_set(sets / n, _OFF_TOPIC).queries]


# --- models --------------------------------------------------------------------------------------


def judge(pools: Sequence[Pool]) -> Judged:
    """The baselines and every number of the grid, on the questions of a set."""
    baselines = {
        "words": _mean([ndcg(list(dict.fromkeys(p.by_words)), p.grades) for p in pools]),
        "meaning": _mean([_ndcg(p, p.near) for p in pools]),
        "z .3": _mean([_ndcg(p, _mixed(p, 0.3, standardised)) for p in pools]),
        "z .5": _mean([_ndcg(p, _mixed(p, 0.5, standardised)) for p in pools]),
        "min-max .3": _mean([_ndcg(p, _mixed(p, 0.3, _between)) for p in pools]),
        "min-max .5": _mean([_ndcg(p, _mixed(p, 0.5, _between)) for p in pools]),
    }
    grids = [_grid(pool) for pool in pools]
    distance = np.array([(p.agreement - _USUAL) / _DEVIATION for p in pools])
    distance = distance.clip(-FURTHEST, FURTHEST)
    is_open = np.array([p.open for p in pools])
    gains: dict[Numbers, float] = {}
    for numbers in MODELS["open questions"]:
        power = numbers.agreement * distance + numbers.open * is_open
        found = math.log(numbers.ratio) + power
        kept = [_COMPANY.index(numbers.company) if each else 0 for each in is_open]
        gains[numbers] = _mean([
            float(np.interp(at, np.log(RATIOS), grid[company]))
            for at, grid, company in zip(found, grids, kept, strict=True)
        ])  # fmt: skip
    return Judged(baselines, gains)


def _grid(pool: Pool) -> Floats:
    """nDCG@10 by company and ratio."""
    grid = np.empty((len(_COMPANY), len(RATIOS)))
    for j, ratio in enumerate(RATIOS):
        fused = standardised(ratio * pool.shares + pool.near)
        for i, weight in enumerate(_COMPANY):
            grid[i, j] = _ndcg(pool, fused + weight * pool.companies[j])
    return grid


def _mixed(pool: Pool, weight: float, scaled: Callable[[Floats], Floats]) -> Floats:
    return weight * scaled(pool.shares) + (1 - weight) * scaled(pool.near)


def _between(values: Floats) -> Floats:
    return (values - values.min()) / max(float(np.ptp(values)), 1e-6)


def _ndcg(pool: Pool, scores: Floats) -> float:
    ranked = [pool.documents[int(i)] for i in np.argsort(-scores, kind="stable")]
    return ndcg(list(dict.fromkeys(ranked)), pool.grades)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def choose(model: Sequence[Numbers], judged: Mapping[str, Judged], names: Sequence[str]) -> Numbers:
    """The best numbers of a model on some sets. Each group weighs as the root of its size."""
    share = {n: 1 / math.sqrt(sum(group_of(o) == group_of(n) for o in names)) for n in names}

    def value(numbers: Numbers) -> float:
        return sum(
            share[n] * (gain - max(0.0, judged[n].wanted - gain))
            for n in names
            for gain in (judged[n].gains[numbers],)
        )

    return max(model, key=value)


def report(judged: Mapping[str, Judged]) -> None:
    """Print the baselines, and each model in the sample and left out."""
    names = list(judged)
    rows = {
        title: [judged[n].baselines[title] for n in names] for title in judged[names[0]].baselines
    }
    for title, model in MODELS.items():
        fitted = choose(model, judged, names)
        rows[title] = [judged[n].gains[fitted] for n in names]
        left: list[float] = []
        for name in names:
            others = [n for n in names if group_of(n) != group_of(name)]
            left.append(judged[name].gains[choose(model, judged, others or names)])
        rows["… left out"] = left
        print_rows(names, rows)
        rows = {}


def print_rows(names: Sequence[str], rows: Mapping[str, Sequence[float]]) -> None:
    """One line for each row, one column for each set, then the mean."""
    short = [name.replace("xquad/", "").replace(" asked by ", "<")[:8] for name in names]
    print(" " * 16 + " ".join(f"{name:>8}" for name in (*short, "mean")))
    for title, values in rows.items():
        print(f"{title:<16}" + " ".join(f"{v:8.4f}" for v in (*values, _mean(values))), flush=True)


# --- relevance -----------------------------------------------------------------------------------


def regression(
    own: Mapping[str, Sequence[Mapping[str, float]]],
    foreign: Mapping[str, Sequence[Mapping[str, float]]],
    names: Sequence[str],
    strict: float = 1.0,
) -> dict[str, object]:
    """A logistic regression: own questions of a set against foreign ones, by the values of their
    best passages.

    Every set has the same weight, and so have both classes, or foreign questions `strict` times as
    much. Newton's method.
    """
    rows, labels, weights = [], [], []
    for label, share, groups in ((1.0, 1.0, own), (0.0, strict, foreign)):
        for questions in groups.values():
            rows += [[values[name] for name in names] for values in questions]
            labels += [label] * len(questions)
            weights += [share / max(1, len(questions))] * len(questions)
    values, question, weight = np.array(rows), np.array(labels), np.array(weights)
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    standardised_values = np.clip((values - mean) / deviation, -FURTHEST, FURTHEST)
    features = np.hstack([np.ones((len(values), 1)), standardised_values])
    numbers = np.zeros(features.shape[1])
    for _ in range(50):
        guess = 1 / (1 + np.exp(-np.clip(features @ numbers, -30, 30)))
        slope = features.T @ (weight * (question - guess)) - 0.01 * numbers
        curve = (features * (weight * guess * (1 - guess))[:, None]).T @ features
        numbers = numbers + np.linalg.solve(curve + 0.01 * np.eye(len(numbers)), slope)
    guess = 1 / (1 + np.exp(-(features @ numbers)))
    for limit in (0.1, 0.2, 0.3, 0.4, 0.5):
        refused = [float((guess[question == kind] < limit).mean()) for kind in (1.0, 0.0)]
        print(f"  below {limit}: {refused[0]:.4f} of own, {refused[1]:.4f} of off-topic questions")
    scale = {n: (float(m), float(d)) for n, m, d in zip(names, mean, deviation, strict=True)}
    return table(numbers, names, scale)


def table(numbers: Floats, names: Sequence[str], scale: Scale) -> dict[str, object]:
    """A logistic function in the format of the file."""
    return {
        "intercept": round(float(numbers[0]), 3),
        "coefficients": {n: round(float(v), 3) for n, v in zip(names, numbers[1:], strict=True)},
        "means": {name: round(scale[name][0], 3) for name in names},
        "deviations": {name: round(scale[name][1], 3) for name in names},
    }


def as_toml(tables: dict[str, dict[str, object]]) -> str:
    """The file contents, one inline table per line."""
    lines = [
        "# The weights of words and meaning in retrieval, and the relevance model: see",
        "# desktop_rag/answer/search/fusion.py. Written by training/fit_fusion.py and reviewed;",
        "# those of other languages by training/fit_across_languages.py.",
    ]
    for name, values in tables.items():
        lines += ["", f"[{name}]"]
        lines += [f"{key} = {v}" for key, v in values.items() if not isinstance(v, dict)]
        for key in ("coefficients", "means", "deviations"):
            inner = values.get(key)
            if isinstance(inner, dict):
                lines.append(f"{key} = {{ {', '.join(f'{k} = {v}' for k, v in inner.items())} }}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
