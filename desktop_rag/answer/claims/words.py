"""What single words do in a claim, and how much they tell. Any thread.

The lists are English, with the negations of other languages; in what they don't know every word is
one that tells something.
"""

import math
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from desktop_rag.core.paths import resources_dir
from desktop_rag.core.terms import terms

# Words that stand for numbers.
_COUNTED = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
NUMBER_WORDS = {word: str(number) for number, word in enumerate(_COUNTED.split(), 2)}
_OPPOSING_PREFIXES = ("un", "in", "im", "dis", "non", "mis", "ir", "il")
_LEAST_OPPOSED = 4
# A word tells the more the rarer it is; one that is not among the frequent ones tells most.
_RAREST = 1.1
_MOST_FREQUENT = 0.3
_EVERYWHERE = 10
_RANK_OF_ONE = 24_000
_MOST_REMEMBERED = 50_000


@dataclass(frozen=True, slots=True)
class WordLists:
    """Words by what they do, in small letters; the one name of each unit; antonyms by stem."""

    negation: frozenset[str]
    plain_negation: frozenset[str]
    function: frozenset[str]
    degree: frozenset[str]
    framing: frozenset[str]
    limiting: frozenset[str]
    before_verb: frozenset[str]
    months: frozenset[str]
    units: dict[str, str]
    antonyms: dict[str, frozenset[str]]


@cache
def word_lists() -> WordLists:
    """The reviewed lists."""
    path = resources_dir() / "claims" / "words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    units = {
        name.casefold(): line.split()[0]
        for line in tables.pop("units").strip().splitlines()
        for name in line.split()
    }
    antonyms = _antonyms(tables.pop("antonyms"))
    lists = {name: frozenset(text.split()) for name, text in tables.items()}
    return WordLists(**lists, units=units, antonyms=antonyms)


@lru_cache(_MOST_REMEMBERED)
def stem(word: str) -> str:
    """The search term of a word; number words give the number."""
    return NUMBER_WORDS.get(word.casefold()) or next(iter(terms(word)), word.casefold())


def telling(word: str) -> float:
    """How much a word in small letters tells, .3 to 1.1, by its rank among the frequent ones."""
    rank = _ranks().get(word)
    if rank is None:
        return _RAREST
    share = math.log(max(rank, _EVERYWHERE) / _EVERYWHERE) / math.log(_RANK_OF_ONE / _EVERYWHERE)
    return max(_MOST_FREQUENT, share)


def has_opposite(stemmed: str, among: frozenset[str]) -> bool:
    """Whether the contrary of a stem is among other stems."""
    if not word_lists().antonyms.get(stemmed, frozenset()).isdisjoint(among):
        return True
    return any(
        (
            stemmed.startswith(prefix)
            and stemmed[len(prefix) :] in among
            and _is_long(stemmed, prefix)
        )
        or (len(stemmed) >= _LEAST_OPPOSED and prefix + stemmed in among)
        for prefix in _OPPOSING_PREFIXES
    )


def _is_long(stemmed: str, prefix: str) -> bool:
    return len(stemmed) - len(prefix) >= _LEAST_OPPOSED


def _antonyms(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in text.strip().splitlines():
        left, right = ([stem(word) for word in side.split()] for side in line.split("|"))
        for one, other in product(left, right):
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return {word: frozenset(contrary) for word, contrary in found.items()}


@cache
def _ranks() -> dict[str, int]:
    path = resources_dir() / "claims" / "frequent_words.txt"
    words = path.read_text(encoding="utf-8").split()
    return {word: rank for rank, word in enumerate(words)}
