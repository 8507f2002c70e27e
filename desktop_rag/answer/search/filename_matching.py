"""Finds the documents that a question names: "the 2015 report of Adobe" means ADOBE_2015_10K.pdf.

Any worker thread.
"""

import math
import re
from itertools import pairwise

from desktop_rag.core.language.languages import function_words
from desktop_rag.core.text import words
from desktop_rag.store.contract.search import NamedDocuments, NameStore, Scope

_LEAST_LETTERS = 3
# Shorter words occur inside too many others: age in mortgage, man in manual. Scripts without spaces
# begin at the code point below; there a word is always inside another.
_LEAST_PIECE = 6
_UNSPACED_FROM = "\u2e80"
_POSSESSIVE = re.compile("['’]s$")
_EDGES = re.compile(r"^\W+|\W+$")
_NUMBER = re.compile(r"[0-9]{4,}")
# Words that most names share name nothing: together they must leave one document in eight.
_LEAST_WEIGHT = math.log(8)
# The share of the best document's weight that makes another document named as well.
_NEARLY = 0.8
_MOST_DOCUMENTS = 8


class FilenameMatcher:
    """Matches words of a question that few file names have."""

    def __init__(self, names: NameStore) -> None:
        self._names = names

    def named_by(self, text: str, scope: Scope) -> tuple[str, ...]:
        """The ids of the documents that the question names; none when there are none or many."""
        return tuple(sorted(i for group in self._named(text, scope) for i in group.document_ids))

    def without_names(self, text: str, scope: Scope) -> str:
        """The question without the words that name documents, but with their numbers.

        It is unchanged where it names none or many, or nothing else.
        """
        parts = frozenset[str]().union(*(group.parts for group in self._named(text, scope)))
        plain = [_plain(_EDGES.sub("", word)) for word in text.split()]
        pairs = {n for n, pair in enumerate(pairwise(plain)) if "".join(pair) in parts}
        names = {n for n, word in enumerate(plain) if word in parts and not word.isdecimal()}
        names |= pairs | {n + 1 for n in pairs}
        kept = [word for n, word in enumerate(text.split()) if n not in names]
        return " ".join(kept) if names and any(map(words, kept)) else text

    def _named(self, text: str, scope: Scope) -> list[NamedDocuments]:
        """The documents that the question names, by the parts that it has of their names."""
        parts = _parts(text)
        if not parts:
            return []
        pieces = [part for part in parts if _is_piece(part)]
        beginnings = [part for part in _capitals(text) if part in parts]
        found, total = self._names.matching(parts, beginnings, pieces, scope, _MOST_DOCUMENTS)
        frequency = {part: sum(g.count for g in found if part in g.parts) for part in parts}
        weights = [
            sum(math.log(total / frequency[part]) for part in _widest(group.parts))
            for group in found
        ]
        best = max(weights, default=0.0)
        if best < _LEAST_WEIGHT:
            return []
        named = [g for g, weight in zip(found, weights, strict=True) if weight >= _NEARLY * best]
        return named if sum(group.count for group in named) <= _MOST_DOCUMENTS else []


def _parts(text: str) -> list[str]:
    """Words, pairs of words joined, and numbers, as they may occur in a file name."""
    said = words(text)
    idle = function_words(said)
    kept = [_plain(word) for word in said if word not in idle]
    kept = [word for word in kept if not word.isdecimal()]
    joined = ["".join(pair) for pair in pairwise(kept)]
    long = [word for word in kept if len(word) >= _LEAST_LETTERS or not word.isalpha()]
    return list(dict.fromkeys([*long, *joined, *_NUMBER.findall(text)]))


def _plain(word: str) -> str:
    """The word in lower case, without a possessive ending or apostrophes."""
    return _POSSESSIVE.sub("", word.casefold()).replace("'", "").replace("’", "")


def _capitals(text: str) -> list[str]:
    """Abbreviations, which may begin a longer word: MGM in MGMRESORTS_2018.pdf."""
    if text.isupper():
        return []
    said = [_POSSESSIVE.sub("", word) for word in words(text)]
    return [w.casefold() for w in said if w.isupper() and w.isalpha() and len(w) >= _LEAST_LETTERS]


def _is_piece(part: str) -> bool:
    is_long = len(part) >= _LEAST_PIECE or part[0] >= _UNSPACED_FROM
    return is_long and not part.isdecimal()


def _widest(held: frozenset[str]) -> list[str]:
    """The parts that are not contained in another one."""
    return [part for part in held if not any(part in other for other in held if other != part)]
