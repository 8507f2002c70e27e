"""Fits the numbers in resources/retrieval/fusion.toml on retrieval sets.

python training/fit_fusion.py SETS --scratch FOLDER [--write]

SETS contains folders in BEIR format. The app indexes each set once into SCRATCH; each question's
candidates are scored and ranked with every weight of a grid, and the logistic functions that weigh
each question are optimised (fusion_search.py) for the highest mean nDCG@10 over the sets, with a
penalty for falling below a set's limit. The same is repeated without each group of sets in turn, to
measure the numbers on held-out sets. The relevance of a passage is a logistic regression of a set's
own questions against questions of other sets.
"""

import argparse
import json
import math
import pickle
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from fusion_search import COMPANIES, WEIGHTS, FusionSet, Numbers, gain_of, search, weights_of
from numpy.typing import NDArray

from desktop_rag import answer, app
from desktop_rag.answer.search.candidates import Candidates, leads, shares
from desktop_rag.answer.search.fusion import (
    FURTHEST,
    MOST_COMPANY,
    company,
    fuse,
    measure,
    standardised,
)
from desktop_rag.answer.search.question_terms import SearchQuestion
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.query import Query
from desktop_rag.evaluate.query_sets import RetrievalSet, load_set
from desktop_rag.evaluate.retrieval import write_corpus
from desktop_rag.store.contract.scope import Scope

Floats = NDArray[np.float64]

# Sets with the same questions or documents are held out together, and not used as foreign questions
# for each other: XQuAD is a part of SQuAD in several languages.
GROUPS = {
    "squad": "SQuAD", "xquad/de": "SQuAD", "xquad/en": "SQuAD", "xquad/ru": "SQuAD",
    "xquad/zh": "SQuAD",
}  # fmt: skip
SETS = (
    "squad", "chunk_eval", "pubmedqa", "lfqa_docs", "wice_retrieval",
    "xquad/de", "xquad/en", "xquad/ru", "xquad/zh",
)  # fmt: skip
WEIGHT_SIGNALS = ("cohesion", "closeness", "match", "standout", "singularity")
COMPANY_SIGNALS = ("cohesion", "closeness", "match", "standout")
# Targets of single sets; the others use the best fixed weights minus a tolerance.
LIMITS = {"squad": 0.914, "chunk_eval": 0.906, "pubmedqa": 0.987, "lfqa_docs": 0.684}
_MAY_LACK = 0.01
_DEPTH = 10
_OFF_TOPIC = 25
# The lexical lead makes up for missing similarity only when it is clear.
_STRICT = 15.0
assert COMPANIES[-1] == MOST_COMPANY, "the grid ends where the app does"


@dataclass(frozen=True, slots=True)
class Question:
    """A question: nDCG@10 at each grid point, signals, values of the best passage."""

    gains: Floats
    signals: dict[str, float]
    best: dict[str, float]


Questions = dict[str, list[Question]]
# Mean and deviation by name.
Scale = dict[str, tuple[float, float]]


def main() -> None:
    """Collect, fit and print; with --write replace the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    own, foreign = collect_all(arguments.sets, arguments.scratch)
    scale = scaled(own)
    sets = {name: fusion_set(name, own, scale) for name in SETS}
    fitted = search(list(sets.values()))
    report("fitted on all", sets, fitted, SETS)
    for group in dict.fromkeys(map(group_of, SETS)):
        left_out = [name for name in SETS if group_of(name) == group]
        others = [sets[name] for name in SETS if name not in left_out]
        report(f"without {group}", sets, search(others), left_out)
    tables = {
        "weight": table(fitted.weight, WEIGHT_SIGNALS, scale),
        "company": table(fitted.company, COMPANY_SIGNALS, scale),
        "relevance": regression(own, foreign, ("nearness", "standout")),
        "relevance_among_few": regression(own, foreign, ("nearness", "share")),
        "relevance_by_words": regression(own, foreign, ("share",)),
        "relevance_by_lead": regression(own, foreign, ("lead",), _STRICT),
    }
    text = as_toml(tables)
    print(text)
    if arguments.write:
        path = resources_dir() / "retrieval" / "fusion.toml"
        path.write_text(text, encoding="utf-8")
        assert tomllib.loads(text) == tables


def collect_all(sets: Path, scratch: Path) -> tuple[Questions, Questions]:
    """Each set's own and foreign questions, searched once and cached in `scratch`."""
    kept = scratch / f"questions-{code_digest()}.pickle"
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


def code_digest() -> str:
    """A hash of the ranking code: results of other code are not reused."""
    package = Path(answer.__path__[0]).parent
    files = [p for room in ("core", "store", "answer") for p in (package / room).rglob("*.py")]
    return sha256(b"".join(p.read_bytes() for p in sorted(files))).hexdigest()[:12]


def group_of(name: str) -> str:
    """Sets of one group are held out together."""
    return GROUPS.get(name, name)


def collect(
    name: str, asked: dict[str, RetrievalSet], scratch: Path
) -> tuple[list[Question], list[Question]]:
    """The set's own questions, and some of every other group, searched in its library."""
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
        if not services.library.sources.all():
            services.library.sources.add(folder)
        while not services.library.indexing.wait_until_idle(10.0):
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
    """The information that the app has about the question before fusion."""
    question = SearchQuestion(text, lambda: retriever.reader.read(Query(text)))
    pool = retriever.candidate_search.gather(question, Scope())
    assert pool is not None, "the bundled model answers"
    signals = measure(pool.lexical, pool.similar, pool.near, pool.alike)
    best = int(fuse(pool.lexical, pool.near, 0.5).argmax())
    values = {
        "nearness": float(pool.near[best]),
        "standout": float(standardised(pool.lexical)[best]),
        "share": float(shares(pool)[best]),
        "lead": float(leads(pool)[best]),
    }
    paths = {
        p.chunk_id: ids[p.path] for p in retriever.lexical.passages(dict.fromkeys(pool.ids, 0.0))
    }
    gains = gains_of(pool, [paths[i] for i in pool.ids], grades) if grades else np.zeros((0, 0))
    return Question(gains, asdict(signals), values)


def gains_of(pool: Candidates, documents: Sequence[str], grades: dict[str, int]) -> Floats:
    """nDCG@10 at each grid point, shape (weights, cluster weights)."""
    gains = np.empty((len(WEIGHTS), len(COMPANIES)))
    for i, weight in enumerate(WEIGHTS):
        fused = fuse(pool.lexical, pool.near, weight)
        near = company(fused, pool.alike)
        for j, share in enumerate(COMPANIES):
            gains[i, j] = _ndcg(fused + share * near, documents, grades)
    return gains


def _ndcg(scores: Floats, documents: Sequence[str], grades: dict[str, int]) -> float:
    ranked = [documents[int(i)] for i in np.argsort(-scores, kind="stable")]
    first = list(dict.fromkeys(ranked))[:_DEPTH]
    gained = sum(grades.get(d, 0) / math.log2(n + 2) for n, d in enumerate(first))
    best = sorted(grades.values(), reverse=True)[:_DEPTH]
    return gained / sum(grade / math.log2(n + 2) for n, grade in enumerate(best))


def scaled(own: Questions) -> Scale:
    """Mean and deviation of each signal over all questions."""
    names = dict.fromkeys(WEIGHT_SIGNALS + COMPANY_SIGNALS)
    values = {s: np.array([q.signals[s] for qs in own.values() for q in qs]) for s in names}
    return {name: (float(v.mean()), float(v.std())) for name, v in values.items()}


def fusion_set(name: str, own: Questions, scale: Scale) -> FusionSet:
    """A set for the optimiser. Sets of one group share the weight of one."""

    def signals(names: Sequence[str]) -> Floats:
        rows = [[(q.signals[s] - scale[s][0]) / scale[s][1] for s in names] for q in own[name]]
        return np.clip(np.array(rows), -FURTHEST, FURTHEST)

    gains = np.array([q.gains for q in own[name]])
    best = float(gains.mean(axis=0).max())
    share = 1 / math.sqrt(sum(group_of(other) == group_of(name) for other in SETS))
    return FusionSet(
        gains,
        signals(WEIGHT_SIGNALS),
        signals(COMPANY_SIGNALS),
        LIMITS.get(name, best - _MAY_LACK),
        share,
    )


def report(title: str, sets: dict[str, FusionSet], numbers: Numbers, names: Sequence[str]) -> None:
    """Print the results of the numbers on these sets, beside the best fixed weights."""
    print(f"{title}: " + " ".join(f"{n:.2f}" for n in (*numbers.weight, *numbers.company)))
    for name in names:
        fixed = sets[name].gains.mean(axis=0)
        i, j = np.unravel_index(fixed.argmax(), fixed.shape)
        words, near = (float(w.mean()) for w in weights_of(sets[name], numbers))
        print(
            f"  {name:<16} {gain_of(sets[name], numbers):.4f}   words {words:.2f}"
            f" company {near:.2f}   best fixed {fixed.max():.4f}"
            f" at {WEIGHTS[i]:.2f} {COMPANIES[j]:.2f}",
            flush=True,
        )


def regression(
    own: Questions, foreign: Questions, names: Sequence[str], strict: float = 1.0
) -> dict[str, object]:
    """A logistic regression: own questions of a set against foreign ones, by their best passage.

    Every set has the same weight, and so have both classes, or foreign questions `strict` times as
    much. Newton's method.
    """
    rows, labels, weights = [], [], []
    for label, share, groups in ((1.0, 1.0, own), (0.0, strict, foreign)):
        for questions in groups.values():
            rows += [[q.best[name] for name in names] for q in questions]
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
        "# desktop_rag/answer/search/fusion.py. Written by training/fit_fusion.py and reviewed.",
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
