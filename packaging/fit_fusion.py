"""Fits the numbers in resources/retrieval/fusion.toml on retrieval sets.

    python packaging/fit_fusion.py SETS --scratch FOLDER [--write]

SETS holds folders in BEIR's layout. Each set is indexed once by the app itself into SCRATCH, every
question's passages in the race are scored, and the logistic function that gives each question its
weight is searched for (an evolution strategy with adapted covariance; Hansen, 2016, "The CMA
Evolution Strategy: A Tutorial", reduced to the rank-mu update) so that the mean nDCG@10 over the
sets is highest, with less than the better single ranking punished. Then the same with each group of
sets left out in turn: what those would have got from numbers that never saw them. The relevance of
a passage is a logistic regression on questions of a set against questions of other sets.
"""

import argparse
import json
import math
import pickle
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from desktop_rag import app
from desktop_rag.answer.fusion import fuse, measure
from desktop_rag.answer.retrieval import Retriever
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.query import Query
from desktop_rag.evaluate.retrieval import write_corpus
from desktop_rag.evaluate.sets import RetrievalSet, load_set
from desktop_rag.store.scope import Scope

Floats = NDArray[np.float64]

# Sets whose documents overlap are left out together, and not asked about each other.
GROUPS = {
    "squad": "wikipedia", "squad2_unanswerable": "wikipedia", "xquad/en": "wikipedia",
    "xquad/de": "xquad", "xquad/ru": "xquad", "xquad/zh": "xquad",
}  # fmt: skip
SETS = (
    "squad", "chunk_eval", "pubmedqa", "lfqa_docs", "wice_retrieval",
    "xquad/de", "xquad/en", "xquad/ru", "xquad/zh",
)  # fmt: skip
SIGNALS = ("spread", "lead")
_WEIGHTS = np.concatenate([[0.02, 0.06], np.arange(0.1, 0.9, 0.05), [0.92]])
_DEPTH = 10
_BEHIND = 0.5
_SHRINKAGE = 1e-4
_GENERATIONS, _OFFSPRING, _PARENTS = 80, 20, 6
_OFF_TOPIC = 25


@dataclass(frozen=True, slots=True)
class Question:
    """A question's pool: both z-scored rankings, documents, grades, signals, values of its best."""

    lexical: Floats
    dense: Floats
    documents: list[str]
    grades: dict[str, int]
    signals: dict[str, float]
    best: dict[str, float]


Questions = dict[str, list[Question]]


def main() -> None:
    """Collect, fit, print, and with --write replace the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    own, foreign = collect_all(arguments.sets, arguments.scratch)
    gains = {name: gains_of(questions) for name, questions in own.items()}
    scale = scaled(own)
    fitted = search(own, gains, scale, SETS)
    report("fitted on all", own, gains, scale, fitted, SETS)
    for group in dict.fromkeys(map(group_of, SETS)):
        left_out = [name for name in SETS if group_of(name) == group]
        others = [name for name in SETS if name not in left_out]
        report(f"without {group}", own, gains, scale, search(own, gains, scale, others), left_out)
    tables = {
        "weight": table(fitted, SIGNALS, *scale),
        "relevance": regression(own, foreign, ("similarity", "spread", "share")),
        "relevance_by_words": regression(own, foreign, ("share",)),
    }
    text = as_toml(tables)
    print(text)
    if arguments.write:
        path = resources_dir() / "retrieval" / "fusion.toml"
        path.write_text(text, encoding="utf-8")
        assert tomllib.loads(text) == tables


def collect_all(sets: Path, scratch: Path) -> tuple[Questions, Questions]:
    """The sets' own questions and those of others, asked once and kept in `scratch`."""
    kept = scratch / "questions.pickle"
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    asked = {name: load_set(sets / name) for name in SETS}
    own: Questions = {}
    foreign: Questions = {}
    for name in SETS:
        own[name], foreign[name] = collect(name, asked, scratch)
        print(f"{name}: {len(own[name])} questions, {len(foreign[name])} off topic", flush=True)
    kept.write_bytes(pickle.dumps((own, foreign)))
    return own, foreign


def group_of(name: str) -> str:
    """Sets of one group are left out together."""
    return GROUPS.get(name, name)


def collect(
    name: str, asked: dict[str, RetrievalSet], scratch: Path
) -> tuple[list[Question], list[Question]]:
    """The set's own questions, and some of every other group, asked of its library."""
    folder = scratch / "corpus" / name.replace("/", "_")
    if folder.exists():
        ids = json.loads(folder.with_suffix(".json").read_text(encoding="utf-8"))
    else:
        folder.mkdir(parents=True)
        ids = write_corpus(asked[name].corpus, folder)
        folder.with_suffix(".json").write_text(json.dumps(ids), encoding="utf-8")
    services = app.build_services(Home(scratch / "homes" / name.replace("/", "_")))
    try:
        services.library.start(watch=False)
        if not services.library.sources():
            services.library.add_source(folder)
        while not services.library.wait_until_quiet(10.0):
            pass
        relevant = asked[name].relevant
        own = [
            pool_of(services.retriever, text, relevant[i], ids) for i, text in asked[name].queries
        ]
        strangers = [
            text
            for other in SETS
            if group_of(other) != group_of(name) and "xquad" not in (other[:5], name[:5])
            for _, text in asked[other].queries[:_OFF_TOPIC]
        ]
        foreign = [pool_of(services.retriever, text, {}, ids) for text in strangers]
    finally:
        services.close()
    return own, foreign


def pool_of(
    retriever: Retriever, text: str, grades: dict[str, int], ids: dict[str, str]
) -> Question:
    """What the app knows of the question before it fuses."""
    wanted = retriever.reader.read(Query(text))
    pool = retriever.pool(wanted, Scope())
    assert pool is not None, "the bundled model answers"
    signals = measure(pool.lexical, pool.similar)
    best = int(fuse(pool.lexical, pool.dense, 0.5).argmax())
    values = asdict(signals) | {
        "similarity": float(pool.similar[best]),
        "share": float(pool.lexical[best]) / (pool.greatest or 1.0),
    }
    paths = {
        p.chunk_id: ids[p.path] for p in retriever.lexical.passages(dict.fromkeys(pool.ids, 0.0))
    }
    documents = [paths[i] for i in pool.ids]
    return Question(
        fuse(pool.lexical, pool.lexical, 0.5), fuse(pool.dense, pool.dense, 0.5),
        documents, grades, asdict(signals), values,
    )  # fmt: skip


def gains_of(questions: Sequence[Question]) -> Floats:
    """nDCG@10 of each question (rows) at each of `_WEIGHTS`."""
    return np.array([[_ndcg(q, weight) for weight in _WEIGHTS] for q in questions])


def _ndcg(question: Question, weight: float) -> float:
    scores = weight * question.lexical + (1 - weight) * question.dense
    ranked = [question.documents[i] for i in np.argsort(-scores, kind="stable")]
    first = list(dict.fromkeys(ranked))[:_DEPTH]
    gained = sum(question.grades.get(d, 0) / math.log2(n + 2) for n, d in enumerate(first))
    best = sorted(question.grades.values(), reverse=True)[:_DEPTH]
    return gained / sum(grade / math.log2(n + 2) for n, grade in enumerate(best))


def scaled(own: dict[str, list[Question]]) -> tuple[Floats, Floats]:
    """Mean and deviation of each signal over all questions."""
    values = np.array([[q.signals[s] for s in SIGNALS] for qs in own.values() for q in qs])
    return values.mean(axis=0), values.std(axis=0)


def scores_of(
    numbers: Floats,
    own: dict[str, list[Question]],
    gains: dict[str, Floats],
    scale: tuple[Floats, Floats],
    names: Sequence[str],
) -> dict[str, float]:
    """Mean nDCG@10 of each set with these numbers, read off between the weights tried."""
    found: dict[str, float] = {}
    for name in names:
        values = np.array([[q.signals[s] for s in SIGNALS] for q in own[name]])
        total = numbers[0] + (values - scale[0]) / scale[1] @ numbers[1:]
        weight = np.clip(1 / (1 + np.exp(-np.clip(total, -30, 30))), _WEIGHTS[0], _WEIGHTS[-1])
        place = np.clip(np.searchsorted(_WEIGHTS, weight) - 1, 0, len(_WEIGHTS) - 2)
        part = (weight - _WEIGHTS[place]) / (_WEIGHTS[place + 1] - _WEIGHTS[place])
        rows = np.arange(len(weight))
        left, right = gains[name][rows, place], gains[name][rows, place + 1]
        found[name] = float(((1 - part) * left + part * right).mean())
    return found


def search(
    own: dict[str, list[Question]],
    gains: dict[str, Floats],
    scale: tuple[Floats, Floats],
    names: Sequence[str],
) -> Floats:
    """Intercept and coefficients with the highest objective over these sets. Seeded."""
    # A set can't be expected to beat what the best fixed weight gets on it.
    bars = {name: float(gains[name].mean(axis=0).max()) for name in names}
    share = {
        name: 1 / math.sqrt(sum(group_of(o) == group_of(name) for o in names)) for name in names
    }

    def objective(numbers: Floats) -> float:
        found = scores_of(numbers, own, gains, scale, names)
        total = sum(
            share[n] * (score - _BEHIND * max(0.0, bars[n] - 0.005 - score))
            for n, score in found.items()
        )
        return total / sum(share.values()) - _SHRINKAGE * float((numbers[1:] ** 2).sum())

    random = np.random.default_rng(7)
    size = len(SIGNALS) + 1
    mean, covariance, step = np.zeros(size), np.eye(size), 1.0
    best, best_value = mean, objective(mean)
    ranks = np.log(_PARENTS + 0.5) - np.log(np.arange(1, _PARENTS + 1))
    ranks /= ranks.sum()
    for _ in range(_GENERATIONS):
        factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(size))
        moves = random.standard_normal((_OFFSPRING, size)) @ factor.T
        values = [objective(mean + step * move) for move in moves]
        order = np.argsort(values)[::-1][:_PARENTS]
        if values[order[0]] > best_value:
            best, best_value = mean + step * moves[order[0]], values[order[0]]
        mean = mean + step * (ranks @ moves[order])
        spread = np.einsum("i,ij,ik->jk", ranks, moves[order], moves[order])
        covariance, step = 0.8 * covariance + 0.2 * spread, step * 0.985
    return best


def report(
    title: str,
    own: dict[str, list[Question]],
    gains: dict[str, Floats],
    scale: tuple[Floats, Floats],
    numbers: Floats,
    names: Sequence[str],
) -> None:
    """Print what the numbers get on these sets, beside each ranking's end and the best weight."""
    print(f"{title}: " + " ".join(f"{number:.2f}" for number in numbers))
    found = scores_of(numbers, own, gains, scale, names)
    for name in names:
        fixed = gains[name].mean(axis=0)
        print(
            f"  {name:<16} {found[name]:.4f}   weight .5 {np.interp(0.5, _WEIGHTS, fixed):.4f}"
            f"   best weight {_WEIGHTS[fixed.argmax()]:.2f} {fixed.max():.4f}",
            flush=True,
        )


def regression(
    own: dict[str, list[Question]], foreign: dict[str, list[Question]], names: Sequence[str]
) -> dict[str, object]:
    """A logistic regression: is the best passage of a set's own question, or of a stranger?

    Every set and both kinds weigh the same. Newton's method.
    """
    rows, labels, weights = [], [], []
    for label, groups in ((1.0, own), (0.0, foreign)):
        for questions in groups.values():
            rows += [[q.best[name] for name in names] for q in questions]
            labels += [label] * len(questions)
            weights += [1 / max(1, len(questions))] * len(questions)
    values, wanted, weight = np.array(rows), np.array(labels), np.array(weights)
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    features = np.hstack([np.ones((len(values), 1)), (values - mean) / deviation])
    numbers = np.zeros(features.shape[1])
    for _ in range(50):
        guess = 1 / (1 + np.exp(-np.clip(features @ numbers, -30, 30)))
        slope = features.T @ (weight * (wanted - guess)) - 0.01 * numbers
        curve = (features * (weight * guess * (1 - guess))[:, None]).T @ features
        numbers = numbers + np.linalg.solve(curve + 0.01 * np.eye(len(numbers)), slope)
    guess = 1 / (1 + np.exp(-(features @ numbers)))
    for limit in (0.02, 0.05, 0.1, 0.2, 0.5):
        refused = [float((guess[wanted == kind] < limit).mean()) for kind in (1.0, 0.0)]
        print(f"  below {limit}: {refused[0]:.4f} of own, {refused[1]:.4f} of off-topic questions")
    return table(numbers, names, mean, deviation)


def table(
    numbers: Floats, names: Sequence[str], means: Floats, deviations: Floats
) -> dict[str, object]:
    """A logistic function as it stands in the file."""

    def rounded(values: Floats) -> dict[str, float]:
        return {name: round(float(v), 3) for name, v in zip(names, values, strict=True)}

    return {
        "intercept": round(float(numbers[0]), 3),
        "coefficients": rounded(numbers[1:]),
        "means": rounded(means),
        "deviations": rounded(deviations),
    }


def as_toml(tables: dict[str, dict[str, object]]) -> str:
    """The file, one inline table a line."""
    lines = [
        "# How retrieval weighs words and meaning, and tells what is relevant: see",
        "# desktop_rag/answer/fusion.py. Written by packaging/fit_fusion.py and reviewed.",
    ]
    for name, values in tables.items():
        lines += ["", f"[{name}]", f"intercept = {values['intercept']}"]
        for key in ("coefficients", "means", "deviations"):
            inner = values[key]
            assert isinstance(inner, dict)
            lines.append(f"{key} = {{ {', '.join(f'{k} = {v}' for k, v in inner.items())} }}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
