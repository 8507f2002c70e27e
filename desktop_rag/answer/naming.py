"""Which documents a question names: "the 2015 report of Adobe" means ADOBE_2015_10K.pdf. Any
worker thread.
"""

import math
import re
from itertools import pairwise

from desktop_rag.core.function_words import function_words
from desktop_rag.core.text import words
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import NameStore

_LEAST_LETTERS = 3
_NUMBER = re.compile(r"[0-9]{4,}")
# What most names hold names nothing: together the words must leave one document in eight.
_LEAST_WEIGHT = math.log(8)
# Of the best document's weight, what others need to be meant as well.
_NEARLY = 0.8
_MOST_DOCUMENTS = 8


class NamedDocuments:
    """Finds them by words that stand in few names."""

    def __init__(self, names: NameStore) -> None:
        self._names = names

    def of(self, text: str, scope: Scope) -> tuple[str, ...]:
        """The ids of the documents that the question names; none when it names none or many."""
        parts = _parts(text)
        if not parts:
            return ()
        found, total = self._names.holding(parts, scope)
        frequency = {part: sum(part in held for held in found.values()) for part in parts}
        weights = {
            document_id: sum(math.log(total / frequency[part]) for part in _widest(held))
            for document_id, held in found.items()
        }
        best = max(weights.values(), default=0.0)
        if best < _LEAST_WEIGHT:
            return ()
        named = tuple(sorted(i for i, weight in weights.items() if weight >= _NEARLY * best))
        return named if len(named) <= _MOST_DOCUMENTS else ()


def _parts(text: str) -> list[str]:
    """Words, two words written as one, and numbers, as they may stand in a file's name."""
    said = words(text)
    idle = function_words(said)
    kept = [word.casefold() for word in said if word not in idle and word.isalpha()]
    joined = ["".join(pair) for pair in pairwise(kept)]
    long = [word for word in kept if len(word) >= _LEAST_LETTERS]
    return list(dict.fromkeys([*long, *joined, *_NUMBER.findall(text)]))


def _widest(held: set[str]) -> list[str]:
    """Without those that stand inside another one."""
    return [part for part in held if not any(part in other for other in held if other != part)]
