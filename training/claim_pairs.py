"""Pairs of a claim and its evidence, to train a cross-encoder (train_checker.py). Not a script.

Claims are made from passages by edits (claim_edits.py). The evidence of a claim is not the whole
source, which would be slow to read, but up to three of its sentences: those with most of the
claim's words, and the preceding one if there is room.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from claim_edits import make_claims

from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.tokens import tokenize_claim
from desktop_rag.evaluate.query_sets import load_set

# No set of claims uses these.
PASSAGE_SETS = ("squad", "squad2_unanswerable", "pubmedqa", "chunk_eval")
_MOST_SENTENCES = 3
_MOST_CHARACTERS = 900
_REMEMBERED = 10_000
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, its evidence sentences, and its label."""

    claim: str
    evidence: str
    is_supported: bool


def load_passages(folder: Path) -> list[str]:
    """The unique texts of PASSAGE_SETS, folders in BEIR format."""
    texts = (row["text"] for name in PASSAGE_SETS for row in load_set(folder / name).corpus)
    return list(dict.fromkeys(_SPACE.sub(" ", text).strip() for text in texts))


def make_pairs(passages: Sequence[str], seed: int) -> Iterator[Pair]:
    """An endless stream of pairs: the passages are repeated with new edits."""
    turn = seed
    while True:
        for made in make_claims(passages, 4 * len(passages), turn, is_wider=True):
            yield Pair(made.claim, gather_evidence(made.claim, made.source), made.is_supported)
        turn += 1


def gather_evidence(claim: str, source: str) -> str:
    """The evidence sentences of a source, in their original order."""
    index = _index(source)
    chosen = _most_telling(claim, index)
    first = min(chosen, default=0)
    if len(chosen) < _MOST_SENTENCES and first > 0:
        chosen.append(first - 1)
    texts: dict[int, str] = {}
    for sentence in chosen:
        window = index.window(sentence, sentence + 1)
        if window.tokens:
            start, end = window.span
            texts[sentence] = source[start : end + 1].strip()  # including its final punctuation
        if sum(map(len, texts.values())) > _MOST_CHARACTERS:
            break
    return " ".join(texts[sentence] for sentence in sorted(texts))


def _most_telling(claim: str, index: SourceIndex) -> list[int]:
    """Sentences chosen one by one, each covering most of what the previous ones lack."""
    left = {token.stem: token.weight for token in tokenize_claim(claim) if token.is_content}
    stems = [index.window(n, n + 1).stems for n in range(index.count)]
    chosen: list[int] = []
    while left and len(chosen) < _MOST_SENTENCES:
        gains = [sum(left[stem] for stem in left.keys() & found) for found in stems]
        best = max(range(len(gains)), key=lambda n: (round(gains[n], 9), -n), default=0)
        if not gains or not gains[best]:
            break
        chosen.append(best)
        left = {stem: weight for stem, weight in left.items() if stem not in stems[best]}
    return chosen


@lru_cache(maxsize=_REMEMBERED)
def _index(source: str) -> SourceIndex:
    return SourceIndex(source)
