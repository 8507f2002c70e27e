"""How near an answer comes to an expected one, by its words. Pure."""

import re
from collections import Counter
from collections.abc import Sequence

from desktop_rag.core.text import words

_MARKER = re.compile(r"\s*\[\d{1,3}\]")


def token_f1(answer: str, expected: str) -> float:
    """The token F1 of an answer, as in SQuAD (Rajpurkar et al., 2016), with no word left out."""
    said, wanted = Counter(_words(answer)), Counter(_words(expected))
    common = (said & wanted).total()
    return 2 * common / (said.total() + wanted.total()) if common else 0.0


def contains(answer: str, expected: str) -> bool:
    """True when the answer contains the words of the expected one, in order."""
    said, wanted = _words(answer), _words(expected)
    starts = range(len(said) - len(wanted) + 1)
    return bool(wanted) and any(said[at : at + len(wanted)] == wanted for at in starts)


def match(answer: str, expected: Sequence[str]) -> float:
    """1 where an expected answer is contained, else the best token F1; 0 without any."""
    return max((1.0 if contains(answer, e) else token_f1(answer, e) for e in expected), default=0.0)


def without_citations(answer: str) -> str:
    """The text of an answer without its markers."""
    return _MARKER.sub("", answer)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in words(without_citations(text))]
