"""Intents by examples: accuracy beside the simplest methods, share settled, reliability, time.

Usage: intents.py RAILS_SETS, a folder with the sets banking and chitchat. The tests of each set are
the sentences out of scope of the other. The model runs on one core.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from bars import Bar, at_least, at_most, reported, table

from desktop_rag.features.evaluation.measures.intents import ExamplesAsked, draws, evaluate
from desktop_rag.features.evaluation.measures.query_sets import load_sentences
from desktop_rag.features.rails.intent.intent_recognition import IntentExample
from desktop_rag.models.embedding.joined_embedding import bundled_opener, joined_embedding
from desktop_rag.models.ports import Vectors

_OTHER = {"banking": "chitchat", "chitchat": "banking"}
_LIMITS: dict[tuple[str, int | None], float] = {
    ("banking", None): 0.92,
    ("chitchat", None): 0.88,
    ("banking", 3): 0.74,
    ("chitchat", 3): 0.74,
}
_MOST_MS = 15
_LEAST_RIGHT, _MOST_FOREIGN = 0.97, 0.1
_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)


def main() -> None:
    """Print the bars of both sets, with what each probability was worth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    folder = parser.parse_args().sets
    embedding = joined_embedding(bundled_opener(threads=1))
    for name, other in _OTHER.items():
        examples = load_sentences(folder / name / "examples.jsonl")
        tests = load_sentences(folder / name / "tests.jsonl")
        foreign = [row.text for row in load_sentences(folder / other / "tests.jsonl")]
        vectors: dict[str, Vectors] = {}

        def embed(texts: Sequence[str], known: dict[str, Vectors] = vectors) -> Vectors:
            """Keep the vectors for the comparison with the mean of each intent."""
            found = embedding(texts)
            known.update(zip(texts, found, strict=True))
            return found

        figures = evaluate(examples, tests, embed, print, out_of_scope=foreign)
        for row in figures:
            means = [_mean_is_right(d, tests, vectors) for d in draws(examples, row.examples)]
            print("\n".join(table(_bars(name, row, float(np.mean(means))))))
            if row.examples in (3, None):
                print("\n".join(_reliability(row)))


def _bars(name: str, row: ExamplesAsked, mean: float) -> list[Bar]:
    told = row.figures()
    what = f"{name}, {told['examples']}:"
    limit = _LIMITS.get((name, row.examples))
    accuracy = f"{what} right"
    return [
        at_least(accuracy, limit, told["accuracy"])
        if limit
        else reported(accuracy, told["accuracy"]),
        reported(f"{what} nearest example", told["nearest_example"]),
        reported(f"{what} mean of the intent", mean),
        reported(f"{what} settled", told["settled"]),
        at_least(f"{what} right of those", _LEAST_RIGHT, told["settled_right"]),
        at_most(f"{what} out of scope settled", _MOST_FOREIGN, told["out_of_scope_settled"]),
        at_most(f"{what} ms a sentence", _MOST_MS, told["ms"]),
        reported(f"{what} seconds to fit", told["fit_s"]),
    ]


def _mean_is_right(
    examples: Sequence[IntentExample], tests: Sequence[IntentExample], vectors: dict[str, Vectors]
) -> float:
    intents = sorted({example.intent for example in examples})
    means = np.stack(
        [np.mean([vectors[e.text] for e in examples if e.intent == i], axis=0) for i in intents]
    )
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    told = (np.stack([vectors[test.text] for test in tests]) @ means.T).argmax(axis=1)
    return float(np.mean([intents[t] == test.intent for t, test in zip(told, tests, strict=True)]))


def _reliability(row: ExamplesAsked) -> list[str]:
    """For each range of scores: how many sentences, the mean score, the share that was right."""
    scores = np.array([one.found.score for one in row.asked])
    right = np.array([one.found.intent == one.sentence.intent for one in row.asked])
    lines = ["  score        sentences  mean score  right"]
    for low, high in pairwise(_BINS):
        inside = (scores >= low) & ((scores < high) | (high == _BINS[-1]))
        if inside.any():
            told = f"{scores[inside].mean():.3f}      {right[inside].mean():.3f}"
            lines.append(f"  {low:.2f}–{high:.2f}  {inside.sum():>11}       {told}")
    return lines


if __name__ == "__main__":
    main()
