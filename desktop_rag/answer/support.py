"""Which source certainly backs a sentence: one that says it in the same words. Pure, any thread.

Certain is only what can be seen without understanding: every word that says something, and every
number, stands in one or two sentences of the source, nearly in the same order, and both deny or
neither does. A single other word may be what matters, so none may be missing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.function_words import function_words
from desktop_rag.core.terms import terms
from desktop_rag.core.text import sentences, words

_LEAST_TERMS = 3
_MOST_TERMS = 100
_WIDEST = 2
_LEAST_ORDER = 0.8
_NUMBER = re.compile(r"\d(?:[\d.,' \u00a0\u202f]*\d)?")
_BETWEEN_DIGITS = re.compile(r"[,' \u00a0\u202f]")
_DENYING = (
    "no not never none nothing nobody neither nor without cannot nicht nichts kein keine keinen"
    " keiner keinem nie niemals niemand ohne ne pas jamais sans aucun aucune nunca nadie nada sin"
    " ningún ninguna non mai senza nessuno nessuna niet geen nooit zonder não nem sem inte ingen"
    " utan не нет ни никогда без"
)
_DENIALS = frozenset(_DENYING.split())


@dataclass(frozen=True, slots=True)
class _Said:
    """What a sentence says: its terms in order, its numbers, and whether it denies."""

    terms: tuple[str, ...]
    numbers: frozenset[str]
    denies: bool

    @classmethod
    def of(cls, text: str) -> "_Said":
        found = words(text)
        idle = function_words(found)
        told = " ".join(word for word in found if word not in idle)
        plain = [word.casefold().replace("’", "'") for word in found]
        denies = any(word in _DENIALS or word.endswith("n't") for word in plain)
        return cls(tuple(terms(told)), _numbers(text), denies)

    def is_in(self, other: "_Said") -> bool:
        """Whether the other one certainly says all of this."""
        if self.denies is not other.denies or not self.numbers <= other.numbers:
            return False
        if not set(self.terms) <= set(other.terms):
            return False
        return _in_order(self.terms, other.terms) >= _LEAST_ORDER * len(self.terms)


class Support:
    """The sources of one answer, taken apart once for all of its sentences."""

    def __init__(self, sources: Sequence[SourceRef]) -> None:
        self._sources = [(source.n, _windows(source.text)) for source in sources]

    def certain(self, sentence: str) -> int:
        """The number of the first source that certainly backs a sentence; 0 when none does."""
        said = _Said.of(sentence)
        if not _LEAST_TERMS <= len(set(said.terms)) <= len(said.terms) <= _MOST_TERMS:
            return 0
        backing = (n for n, found in self._sources if any(said.is_in(window) for window in found))
        return next(backing, 0)


def _windows(text: str) -> list[_Said]:
    spans = sentences(text)
    return [
        _Said.of(text[spans[first][0] : spans[first + wide - 1][1]])
        for wide in range(1, _WIDEST + 1)
        for first in range(len(spans) - wide + 1)
    ]


def _numbers(text: str) -> frozenset[str]:
    """The numbers as written but for what groups their digits."""
    return frozenset(_BETWEEN_DIGITS.sub("", match[0]) for match in _NUMBER.finditer(text))


def _in_order(wanted: Sequence[str], found: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    lengths = [0] * (len(found) + 1)
    for term in wanted:
        above = 0
        for place, other in enumerate(found, start=1):
            here = lengths[place]
            lengths[place] = above + 1 if term == other else max(here, lengths[place - 1])
            above = here
    return lengths[-1]
