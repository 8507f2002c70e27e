"""Tokenises claims and sources, with the role of each token. Any thread."""

from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from itertools import pairwise

import regex

from desktop_rag.answer.checking.claims.numbers import whole_number
from desktop_rag.answer.checking.claims.words import (
    importance,
    is_month,
    month_names,
    stem,
    word_lists,
)
from desktop_rag.core.language.function_words import function_words
from desktop_rag.core.language.number_words import NUMBER_WORDS
from desktop_rag.core.text import words

_UNSPACED = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]&&\p{L}]"
)
_TOKEN = regex.compile(
    rf"(?V1)\d{{4}}-\d\d-\d\d(?!\p{{N}})|\p{{N}}++(?:[.,'’:/]\p{{N}}++)*+|{_UNSPACED}++"
    rf"|[\p{{L}}--{_UNSPACED}](?:[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}])*+(?:['’]\p{{L}}++)*+"
)
_IS_UNSPACED = regex.compile(rf"(?V1){_UNSPACED}")
# Numeric dates with an unambiguous order: 7.12.2025, 2025-12-07, and 25/12/2025.
_DAYS = (
    regex.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})"),
    regex.compile(r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"),
    regex.compile(r"(?P<day>1[3-9]|2\d|3[01])/(?P<month>\d{1,2})/(?P<year>\d{4})"),
    regex.compile(r"(?P<month>\d{1,2})/(?P<day>1[3-9]|2\d|3[01])/(?P<year>\d{4})"),
)
_MONTHS = 12
_SHORTEST_DAY = len("1.1.2025")
_MOST_REMEMBERED = 50_000
# The greatest number of words in one number.
_MOST_NUMBER_WORDS = 12
_SENTENCE_MARKS = frozenset('.!?…\n:;"“„')


class TokenRole(Enum):
    """The role of a token in a claim."""

    NUMBER = auto()
    NAME = auto()
    NEGATION = auto()
    FUNCTION = auto()
    FRAMING = auto()
    DEGREE = auto()
    WORD = auto()


# The weights of roles for which the rarity of the word does not matter.
_WEIGHTS = {
    TokenRole.NUMBER: 1.2,
    TokenRole.NEGATION: 0.5,
    TokenRole.FUNCTION: 0.15,
    TokenRole.FRAMING: 0.25,
}
# Roles that may be function words of another language.
_PLAIN = (TokenRole.WORD, TokenRole.NAME)


@dataclass(frozen=True, slots=True)
class ClaimToken:
    """A word, number, or two characters of a script without spaces, at [start, end) of its text.

    `word` is in lower case; `weight` is its importance.
    """

    word: str
    stem: str
    role: TokenRole
    weight: float
    start: int
    end: int

    @property
    def is_content(self) -> bool:
        """True unless it is a function word."""
        return self.role is not TokenRole.FUNCTION


def tokenize_claim(text: str) -> list[ClaimToken]:
    """The tokens of a claim in order, with the function words of its own language."""
    return tokenize(text, functions=function_words(words(text)))


def tokenize(
    text: str, offset: int = 0, *, functions: frozenset[str] = frozenset()
) -> list[ClaimToken]:
    """The tokens in order, moved by `offset`; `functions` are further function words."""
    found: list[ClaimToken] = []
    ended_at = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if _IS_UNSPACED.match(match[0]):
            found += _pairs(match[0], offset + start)
        elif end - start >= _SHORTEST_DAY and (day := _day(match[0], offset + start)):
            found += day
        else:
            begins = not found or not _SENTENCE_MARKS.isdisjoint(text[ended_at:start])
            found.append(_token(match[0], offset + start, begins_sentence=begins))
            if match[0] in functions and found[-1].role in _PLAIN:
                found[-1] = replace(
                    found[-1], role=TokenRole.FUNCTION, weight=_WEIGHTS[TokenRole.FUNCTION]
                )
        ended_at = end
    return _with_whole_numbers(found)


def _token(written: str, start: int, *, begins_sentence: bool) -> ClaimToken:
    word, stemmed, role, weight = _fields(written, begins_sentence)
    return ClaimToken(word, stemmed, role, weight, start, start + len(written))


@lru_cache(_MOST_REMEMBERED)
def _fields(written: str, begins_sentence: bool) -> tuple[str, str, TokenRole, float]:
    """The fields of the token for a word, except its position."""
    word = written.casefold().replace("’", "'")
    role = _role(written, word, begins_sentence=begins_sentence)
    weight = _WEIGHTS.get(role)
    if weight is None:
        weight = importance(word.removesuffix("'s"))
    return word, stem(written), role, weight


def _role(written: str, word: str, *, begins_sentence: bool) -> TokenRole:
    lists = word_lists()
    if word[0].isdigit() or word in NUMBER_WORDS:
        return TokenRole.NUMBER
    if not begins_sentence and written[0].isupper() and is_month(written):
        return TokenRole.NAME  # "May" too
    if word in lists.negation or word.endswith("n't"):
        return TokenRole.NEGATION
    if word in lists.function:
        return TokenRole.FUNCTION
    if word in lists.framing:
        return TokenRole.FRAMING
    if word in lists.degree:
        return TokenRole.DEGREE
    is_capital = written[0].isupper()
    is_acronym = len(written) > 1 and written.isupper()
    return TokenRole.NAME if is_acronym or (is_capital and not begins_sentence) else TokenRole.WORD


def _pairs(run: str, start: int) -> list[ClaimToken]:
    pairs = [one + other for one, other in pairwise(run)] or [run]
    return [
        ClaimToken(pair, pair, TokenRole.WORD, 1.0, start + place, start + place + len(pair))
        for place, pair in enumerate(pairs)
    ]


def _day(written: str, start: int) -> list[ClaimToken]:
    """Day, month and year of a numeric date, the month by its name; else nothing."""
    if not written[0].isdecimal():
        return []
    for pattern in _DAYS:
        match = pattern.fullmatch(written)
        if match and 1 <= int(match["month"]) <= _MONTHS:
            month = month_names()[int(match["month"]) - 1]
            stems = {"day": str(int(match["day"])), "month": stem(month), "year": match["year"]}
            return [
                ClaimToken(
                    match[part], stems[part], TokenRole.NUMBER, _WEIGHTS[TokenRole.NUMBER],
                    start + match.start(part), start + match.end(part),
                )
                for part in sorted(stems, key=match.start)
            ]  # fmt: skip
    return []


def _with_whole_numbers(tokens: list[ClaimToken]) -> list[ClaimToken]:
    """The tokens, with each number of several words as one token."""
    whole: list[ClaimToken] = []
    place = 0
    while place < len(tokens):
        first = tokens[place]
        used, value = 1, ""
        if first.role is TokenRole.NUMBER or first.word == "one":
            parts = tokens[place : place + _MOST_NUMBER_WORDS]
            read = [first.stem if first.role is TokenRole.NUMBER else first.word]
            read += [part.word for part in parts[1:]]
            used, value = whole_number(read)
        if used > 1:
            last = tokens[place + used - 1]
            word = " ".join(token.word for token in tokens[place : place + used])
            weight = _WEIGHTS[TokenRole.NUMBER]
            whole.append(ClaimToken(word, value, TokenRole.NUMBER, weight, first.start, last.end))
        else:
            whole.append(first)
        place += max(used, 1)
    return whole
