"""Fits the shipped coefficients of the intents' probabilities, and tries them on sets left out.

Usage: fit_intents.py RAILS_SETS RETRIEVAL_SETS [--write]. RAILS_SETS has a folder
with an examples.jsonl for each set; its tests.jsonl are not read. RETRIEVAL_SETS has queries that
are out of scope of any set. Configurations of many sizes are drawn from the examples; the other
examples of the chosen intents are asked, some of the intents left out, and some of the queries.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.paths import resources_dir
from desktop_rag.features.rails.intent.intent_recognition import (
    ACCEPTED_FROM,
    IntentScores,
    readable_names,
    terms,
)
from desktop_rag.models.embedding.joined_embedding import bundled_opener, joined_embedding

Vectors = NDArray[np.float32]
Numbers = NDArray[np.float64]
_QUERIES = ("cacm", "med", "lisa", "time")
_INTENTS = (1, 2, 3, 5, 8, 15, 30, 1000)
_EXAMPLES = (1, 2, 3, 5, 10, 20, 40)
_DRAWS = 2
# The most sentences of a draw: of its intents, of other intents, out of scope.
_IN_SCOPE, _HIDDEN, _FOREIGN = 400, 150, 100
# What all sentences without a right answer weigh together, as a share of the others.
_FOREIGN_WEIGHT = 0.25
_RIDGE = 1e-3
_STEPS = 60


@dataclass(frozen=True, slots=True)
class IntentSet:
    """The examples of a set: vectors, classes, vectors of the names, and texts of two intents."""

    name: str
    vectors: Vectors
    classes: NDArray[np.intp]
    names: Vectors
    is_ambiguous: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Draw:
    """The sentences asked of one configuration; `kind` is 0 in scope, 1 hidden, 2 foreign."""

    terms: Numbers
    is_right: NDArray[np.bool_]
    kind: NDArray[np.intp]


def main() -> None:
    """Fit, print what each set left out gives, and write the coefficients if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rails", type=Path)
    parser.add_argument("retrieval", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    embed = joined_embedding(bundled_opener())
    found = sorted(arguments.rails.glob("*/examples.jsonl"))
    sets = [_load(path.parent, embed) for path in found]
    queries = [
        json.loads(line)["text"]
        for name in _QUERIES
        for line in (arguments.retrieval / name / "queries.jsonl").open(encoding="utf-8")
    ]
    foreign = embed(queries)
    draws = {one.name: list(_draws(one, foreign)) for one in sets}
    for name, own in draws.items():
        others = [draw for other, drawn in draws.items() if other != name for draw in drawn]
        _report(name, own, _fit(others))
    if arguments.write:
        coefficients = _fit([draw for drawn in draws.values() for draw in drawn])
        _write(coefficients, [one.name for one in sets])


def _load(folder: Path, embed: Callable[[Sequence[str]], Vectors]) -> IntentSet:
    lines = (folder / "examples.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted({(row["intent"], row["text"]) for row in map(json.loads, lines)})
    intents = sorted({intent for intent, _ in rows})
    classes = np.array([intents.index(intent) for intent, _ in rows], np.intp)
    meant: dict[str, set[str]] = {}
    for intent, text in rows:
        meant.setdefault(text.casefold(), set()).add(intent)
    return IntentSet(
        folder.name,
        embed([text for _, text in rows]),
        classes,
        embed(readable_names(intents)),
        np.array([len(meant[text.casefold()]) > 1 for _, text in rows]),
    )


def _draws(one: IntentSet, foreign: Vectors) -> Iterator[Draw]:
    for intents in _INTENTS:
        for examples in _EXAMPLES:
            for number in range(_DRAWS if intents < len(one.names) else 1):
                yield _draw(
                    one, foreign, intents, examples, 1000 * intents + 10 * examples + number
                )


def _draw(one: IntentSet, foreign: Vectors, intents: int, examples: int, seed: int) -> Draw:
    order = np.random.default_rng(seed)
    chosen = np.sort(order.permutation(len(one.names))[:intents])
    shown: list[NDArray[np.intp]] = []
    rest: list[NDArray[np.intp]] = []
    for intent in chosen:
        places = order.permutation(np.flatnonzero(one.classes == intent))
        count = min(examples, len(places) - 1)
        shown.append(places[:count])
        rest.append(places[count:])
    known, asked = np.concatenate(shown), np.concatenate(rest)
    new_class = np.full(len(one.names), -1, np.intp)
    new_class[chosen] = np.arange(len(chosen))
    scores = IntentScores(
        one.vectors[known],
        new_class[one.classes[known]],
        one.names[chosen],
        np.arange(len(chosen)),
        len(chosen),
    )
    asked = order.permutation(asked[~one.is_ambiguous[asked]])[:_IN_SCOPE]
    hidden = order.permutation(np.flatnonzero(new_class[one.classes] < 0))[:_HIDDEN]
    others = foreign[order.permutation(len(foreign))[:_FOREIGN]]
    vectors = np.concatenate([one.vectors[asked], one.vectors[hidden], others])
    _, evidence = scores.compared(vectors)
    meant = np.full(len(vectors), -1)
    meant[: len(asked)] = new_class[one.classes[asked]]
    kind = np.repeat([0, 1, 2], [len(asked), len(hidden), len(others)])
    return Draw(terms(evidence), evidence.best == meant, kind)


def _fit(draws: Sequence[Draw]) -> Numbers:
    columns = np.concatenate([draw.terms for draw in draws])
    right = np.concatenate([draw.is_right for draw in draws]).astype(np.float64)
    weights = np.concatenate([_weights(draw.kind) for draw in draws])
    weights /= weights.sum()
    mean, scale = columns.mean(axis=0), columns.std(axis=0)
    mean[0], scale[0] = 0, 1
    columns = (columns - mean) / scale
    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weights * (chances - right)) + _RIDGE * found
        spread = (columns * (weights * chances * (1 - chances))[:, None]).T @ columns
        found -= np.linalg.solve(spread + _RIDGE * np.eye(len(found)), slope)
    found /= scale
    found[0] -= mean[1:] @ found[1:]
    return found


def _weights(kind: NDArray[np.intp]) -> Numbers:
    counts = np.bincount(kind, minlength=3)
    kinds = np.count_nonzero(counts[1:])
    each = [1.0, *(_FOREIGN_WEIGHT * counts[0] / kinds / max(1, count) for count in counts[1:])]
    return np.array(each)[kind] / counts[0]


def _report(name: str, draws: Sequence[Draw], coefficients: Numbers) -> None:
    """Without the correction by a configuration's own examples."""
    chances = 1 / (1 + np.exp(-np.concatenate([d.terms for d in draws]) @ coefficients))
    right = np.concatenate([draw.is_right for draw in draws])
    kind = np.concatenate([draw.kind for draw in draws])
    accepted = chances >= ACCEPTED_FROM
    shares = [f"{accepted[kind == place].mean():.3f}" for place in range(3)]
    precision = right[accepted & (kind == 0)].mean()
    told = f"of them right {precision:.4f}; hidden intents {shares[1]}, queries {shares[2]}"
    print(f"{name}, left out: accepted {shares[0]}, {told}")


def _write(coefficients: Numbers, sets: Sequence[str]) -> None:
    lines = [
        "# What the terms of the evidence weigh in the probability that an intent is right.",
        f"# Made by training/fit_intents.py from the examples of {' and '.join(sets)}.",
        "coefficients = [",
        *(f"  {float(value):.6g}," for value in coefficients),
        "]",
    ]
    target = resources_dir() / "rails" / "intents.toml"
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
