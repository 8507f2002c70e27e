"""The roles, weights and languages of words in claims and sources. Any thread.

The lists are English, with the negations of other languages; other words are content words.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from itertools import product

import regex

from desktop_rag.core.language.languages import NUMBER_WORDS, word_ranks
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.terms import terms

_OPPOSING_PREFIXES = ("un", "in", "im", "dis", "non", "mis", "ir", "il")
_LEAST_OPPOSED = 4
_TIME = re.compile(r"\d{1,2}:\d\d")
_LEAST_SURE_MONTH = 5
# Words that begin with so many equal letters may be forms of one word.
LEAST_EQUAL = 5
# Rarer words weigh more; a word outside of the frequency list weighs most.
_RAREST = 1.1
_MOST_FREQUENT = 0.3
_EVERYWHERE = 10
_RANK_OF_ONE = 24_000


@cache
def listed(kind: str) -> frozenset[str]:
    """The words of one of the reviewed lists, in lower case."""
    return frozenset(_tables()[kind].split())


@cache
def first_of(kind: str) -> Mapping[str, str]:
    """Each word of a list with the first one of its line: the relations, months and units."""
    lines = [line.split() for line in _tables()[kind].strip().splitlines()]
    return {name.casefold(): names[0] for names in lines for name in names}


@cache
def scales() -> Mapping[str, Decimal]:
    """What the words for thousands and millions stand for."""
    return {word: Decimal(10) ** int(power) for word, power in first_of("scales").items()}


@cache
def sizes() -> Mapping[str, tuple[str, Decimal]]:
    """The kind of a unit of measure, and its size in the first one of that kind."""
    lines = [line.split() for line in _tables()["sizes"].strip().splitlines()]
    return {unit: (kind, Decimal(size)) for unit, kind, size in lines}


@cache
def numerals() -> Mapping[str, Decimal]:
    """The values of numbers that are written as words."""
    return {word: Decimal(value) for word, value in first_of("numerals").items()}


def unit_named(word: str) -> str:
    """The unit of measure that a word or a sign in lower case stands for; "" for none."""
    units = first_of("units")
    return units.get(word) or units.get(word.removesuffix("s")) or ""


def without_notes(text: str) -> str:
    """The text with spaces for a note's mark between a number and its word: 482¹ million."""
    return _note().sub(lambda mark: " " * len(mark[0]), text)


@cache
def _note() -> regex.Pattern[str]:
    names = "|".join(scales())
    return regex.compile(
        rf"(?<=\d)(?:[⁰¹²³⁴-⁹]+|\s?\[\w{{1,3}}\])(?=\s?(?:{names})\b)", regex.IGNORECASE
    )


def stem(word: str) -> str:
    """The search term of a word; numbers become digits, months English, a time of day one term."""
    folded = word.casefold()
    if folded in NUMBER_WORDS:
        return NUMBER_WORDS[folded]
    if is_month(word):
        word = first_of("months")[folded]
    if _TIME.fullmatch(word):
        return word.lstrip("0")
    return next(iter(terms(word)), folded)


def is_month(word: str) -> bool:
    """True for the name of a month; a short one must be capitalised: May, Dec."""
    is_sure = word[0].isupper() or len(word) >= _LEAST_SURE_MONTH
    return is_sure and word.casefold() in first_of("months")


def month_names() -> list[str]:
    """The English names of the months in order."""
    return list(dict.fromkeys(first_of("months").values()))


def importance(word: str) -> float:
    """The weight of a word in lower case, .3 to 1.1, by its rank in the frequency list."""
    rank = word_ranks().get(word)
    if rank is None:
        return _RAREST
    share = math.log(max(rank, _EVERYWHERE) / _EVERYWHERE) / math.log(_RANK_OF_ONE / _EVERYWHERE)
    return max(_MOST_FREQUENT, share)


def has_opposite(stemmed: str, among: frozenset[str]) -> bool:
    """True when an antonym of a stem is among other stems."""
    if not _antonyms().get(stemmed, frozenset()).isdisjoint(among):
        return True
    return any(
        (
            stemmed.startswith(prefix)
            and stemmed[len(prefix) :] in among
            and len(stemmed) - len(prefix) >= _LEAST_OPPOSED
        )
        or (len(stemmed) >= _LEAST_OPPOSED and prefix + stemmed in among)
        for prefix in _OPPOSING_PREFIXES
    )


@cache
def _antonyms() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _tables()["antonyms"].strip().splitlines():
        left, right = ([stem(word) for word in side.split()] for side in line.split("|"))
        for one, other in product(left, right):
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return {word: frozenset(contrary) for word, contrary in found.items()}


@cache
def _tables() -> dict[str, str]:
    path = resources_dir() / "claims" / "words.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
