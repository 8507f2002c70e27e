"""How likely a source states a claim, by its words and its meaning as a whole. Any thread.

A logistic regression of a few features; it says little where a claim is told in other words, and
nothing about roles: the right words in a wrong relation look supported.
"""

import functools
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from desktop_rag.answer.checking.claims.source_index import SourceIndex, Window
from desktop_rag.answer.checking.claims.tokens import (
    Alignment,
    ClaimToken,
    TokenRole,
    align,
    is_rounded,
)
from desktop_rag.answer.checking.claims.words import has_opposite
from desktop_rag.models.embedding.joined_embedding import BUNDLED, bundled_opener
from desktop_rag.models.ports import Embedder

_FURTHEST = 30.0


@dataclass(frozen=True, slots=True)
class CheckerModel:
    """A logistic regression of the support of a claim, fitted by `training/fit_checker.py`.

    Its weights keep the directions of the features. A claim counts as supported from
    `supported_from` on, and as absent from the sources below `unsupported_below`; `threshold`
    separates two classes.
    """

    weights: Mapping[str, float]
    intercept: float
    threshold: float
    supported_from: float
    unsupported_below: float

    @classmethod
    @functools.cache
    def load(cls, path: Path) -> "CheckerModel":
        """Read the file with the fitted numbers, once per process."""
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        bounds = table["threshold"], table["supported_from"], table["unsupported_below"]
        return cls(table["weights"], table["intercept"], *bounds)

    def support(self, values: Mapping[str, float]) -> float:
        """The probability that the claim is supported, 0 to 1, from the features by name."""
        odds = self.intercept + sum(weight * values[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-_FURTHEST, min(_FURTHEST, odds))))


OpenModel = Callable[[str], Embedder]


class Meaning:
    """Compares claims with passages by the English bundled model, loaded on first use."""

    def __init__(self, open_model: OpenModel | None = None) -> None:
        """`open_model` gives a bundled model by its spec; without it one is loaded for this."""
        self._open_model = open_model or bundled_opener(threads=1)

    def similarities(self, claim: str, passages: Sequence[str]) -> list[float]:
        """The cosine of the claim and each passage, -1 to 1."""
        vectors = self._open_model(BUNDLED).embed_passages([claim, *passages])
        return (vectors[1:] @ vectors[0]).tolist()


SIMILARITY = "similarity"
# The features by name: more of it lowers the support (-1) or raises it (1).
FEATURES: Mapping[str, int] = {
    # The share of missing content words, by weight: in the whole source, where other forms of a
    # word count as found, and in the two sentences that together have most of them.
    "missing": -1,
    "missing_in_two_sentences": -1,
    # Shares within each role.
    "names_missing": -1,
    "numbers_missing_in_window": -1,
    "degrees_missing_in_window": -1,
    "opposites": -1,
    # The share of neighbouring words that are no neighbours in the window.
    "neighbours_parted_in_window": -1,
    # The similarity in meaning of the claim and the window.
    SIMILARITY: 1,
}
# The number of sentences in a window.
WINDOW_SENTENCES = 2
_MOST_OPPOSITES = 2


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim compared with a source: its best window, the alignment, the features by name.

    All are shares, whatever the lengths. The similarity takes longer, and is added where it
    matters.
    """

    window: Window
    alignment: Alignment
    features: dict[str, float] = field(repr=False)


def compare(claim: Sequence[ClaimToken], index: SourceIndex) -> Comparison:
    """Compare a claim that has content words with a source that has words."""
    content = [token for token in claim if token.is_content]
    weights: dict[str, float] = {}
    for token in content:
        weights[token.stem] = weights.get(token.stem, 0.0) + token.weight
    total = sum(weights.values())
    window, _ = index.best_window(weights, WINDOW_SENTENCES)
    values = {
        "missing": _missing(content, index) / total,
        "missing_in_two_sentences": 1 - _in_two_sentences(weights, index) / total,
        "names_missing": _share_of(not _has(index, t) for t in claim if t.role is TokenRole.NAME),
        "numbers_missing_in_window": _share_of(
            not _has_number(window, t) for t in claim if t.role is TokenRole.NUMBER
        ),
        "degrees_missing_in_window": _share_of(
            t.stem not in window.stems for t in claim if t.role is TokenRole.DEGREE
        ),
        "opposites": _opposites(content, window),
        "neighbours_parted_in_window": _parted(content, index, window),
    }
    assert {*values, SIMILARITY} == FEATURES.keys()
    return Comparison(window, align(claim, window.tokens), values)


def _has(index: SourceIndex, token: ClaimToken) -> bool:
    return token.stem in index.stems


def _has_number(window: Window, token: ClaimToken) -> bool:
    return token.stem in window.stems or any(
        is_rounded(token.stem, other.stem)
        for other in window.tokens
        if other.role is TokenRole.NUMBER
    )


def _missing(content: Sequence[ClaimToken], index: SourceIndex) -> float:
    missing = (token for token in content if not _has(index, token))
    return sum(token.weight for token in missing if not index.has_form_of(token.stem))


def _in_two_sentences(weights: Mapping[str, float], index: SourceIndex) -> float:
    """The weight of the stems in the best sentence, and in the one that adds most to it."""
    best, found = index.best_window(weights, 1)
    rest = {stem: weight for stem, weight in weights.items() if stem not in best.stems}
    return found + index.best_window(rest, 1)[1]


def _share_of(misses: Iterable[bool]) -> float:
    # Smoothed: one of one counts half, since a share of few words says little.
    found = list(misses)
    return sum(found) / (len(found) + 1)


def _opposites(content: Sequence[ClaimToken], window: Window) -> float:
    found = sum(
        token.stem not in window.stems and has_opposite(token.stem, window.stems)
        for token in content
    )
    return float(min(found, _MOST_OPPOSITES))


def _parted(content: Sequence[ClaimToken], index: SourceIndex, window: Window) -> float:
    stems = [token.stem for token in content]
    wanted, known = list(pairwise(stems)), set(stems)
    near: set[tuple[str, str]] = set()
    for sentence in index.sentences_of(window):
        found = [token.stem for token in sentence if token.stem in known]
        near.update(pairwise(found), zip(found, found[2:], strict=False))
    return 1 - sum(pair in near for pair in wanted) / len(wanted) if wanted else 0.0
