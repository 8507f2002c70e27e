"""Fits the relevance of passages to questions in another language: resources/retrieval/fusion.toml.

python training/fit_across_languages.py SETS --scratch FOLDER [--questions N]

Words say little across languages, and the multilingual model gives questions and their answers
lower similarities than the English one. So relevance is told by the nearest passage: among many, by
how much nearer it is than the median one; among few, by its similarity, because there the median
may be as good.

Questions of XQuAD in each language are asked about its English paragraphs, as they are, and once
more without the article that answers them, which leaves nothing to answer from. A small library is
a random choice of the paragraphs. For each language it prints the shares that are refused by what
was fitted to the other languages, then the numbers of all.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fit_fusion import as_toml, regression
from retrieval_pools import Floats, Pool, pools_of

from desktop_rag.answer.search.fusion import IRRELEVANT_BELOW, Logistic
from desktop_rag.features.evaluation.measures.query_sets import load_set

CORPUS = "xquad/en"
LANGUAGES = ("de", "ru", "zh")
# The sizes of small libraries, in documents.
_SMALL = (3, 6, 20)
_TABLES = {"relevance_across": ("nearness_lead",), "relevance_across_among_few": ("nearness",)}


@dataclass(frozen=True, slots=True)
class Asked:
    """The values of the best passages: of questions as they are, and without their article."""

    own: list[dict[str, float]]
    foreign: list[dict[str, float]]


def main() -> None:
    """Collect, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=1000, help="of each language, at most")
    given = parser.parse_args()
    titles = {str(row["_id"]): str(row["title"]) for row in load_set(given.sets / CORPUS).corpus}
    pools = {
        code: pools_of(
            given.sets, given.scratch, f"{CORPUS} asked by xquad/{code}", [], given.questions
        ).own
        for code in LANGUAGES
    }
    tables: dict[str, dict[str, object]] = {}
    for name, features in _TABLES.items():
        sizes = (0,) if name == "relevance_across" else _SMALL
        asked = {
            code: {size: _asked(found, titles, size) for size in sizes}
            for code, found in pools.items()
        }
        for code in LANGUAGES:
            others = [asked[other][size] for other in LANGUAGES if other != code for size in sizes]
            fitted = _logistic(_fitted(others, features))
            for size, values in asked[code].items():
                refused = [_refused(fitted, rows) for rows in (values.own, values.foreign)]
                print(
                    f"{name}, {code} left out, {size or 'all'} documents: refused"
                    f" {refused[0]:.3f}, without the article {refused[1]:.3f}"
                )
        every = [found for by_size in asked.values() for found in by_size.values()]
        tables[name] = _fitted(every, features)
    print(as_toml(tables))


def _asked(pools: Sequence[Pool], titles: dict[str, str], size: int) -> Asked:
    """The values among `size` documents, 0 for all."""
    chance = np.random.default_rng(0)
    own, foreign = list[dict[str, float]](), list[dict[str, float]]()
    for pool in pools:
        answers = {titles[i] for i in pool.grades}
        is_other = np.array([titles[document] not in answers for document in pool.documents])
        is_gold = np.array([document in pool.grades for document in pool.documents])
        among = is_other
        if size:
            others = sorted({d for d, other in zip(pool.documents, is_other, strict=True) if other})
            chosen = set(chance.choice(others, size, replace=False))
            among = np.array([document in chosen for document in pool.documents])
        if size and is_gold.any():
            own.append(_values(pool.near[among | is_gold]))
        elif not size:
            own.append(_values(pool.near))
        foreign.append(_values(pool.near[among]))
    return Asked(own, foreign)


def _values(near: Floats) -> dict[str, float]:
    best = float(near.max())
    return {"nearness": best, "nearness_lead": best - float(np.median(near))}


def _fitted(asked: Sequence[Asked], features: Sequence[str]) -> dict[str, object]:
    own = {str(n): each.own for n, each in enumerate(asked)}
    foreign = {str(n): each.foreign for n, each in enumerate(asked)}
    return regression(own, foreign, features)


def _logistic(table: dict[str, object]) -> Logistic:
    return Logistic(**table)  # type: ignore[arg-type]


def _refused(fitted: Logistic, rows: Sequence[dict[str, float]]) -> float:
    return sum(fitted(row) < IRRELEVANT_BELOW for row in rows) / len(rows)


if __name__ == "__main__":
    main()
