"""A text as tokens that know what they do. Any thread."""

from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise

import regex

from desktop_rag.answer.claims.words import NUMBER_WORDS, stem, telling, word_lists
from desktop_rag.core.function_words import function_words
from desktop_rag.core.text import words

_UNSPACED = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]&&\p{L}]"
)
_TOKEN = regex.compile(
    rf"(?V1)\p{{N}}++(?:[.,'’:/]\p{{N}}++)*+|{_UNSPACED}++"
    rf"|[\p{{L}}--{_UNSPACED}](?:[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}])*+(?:['’]\p{{L}}++)*+"
)
_IS_UNSPACED = regex.compile(rf"(?V1){_UNSPACED}")
_SENTENCE_MARKS = frozenset('.!?…\n:;"“„')


class Role(Enum):
    """What a token does."""

    NUMBER = auto()
    NAME = auto()
    NEGATION = auto()
    FUNCTION = auto()
    FRAMING = auto()
    DEGREE = auto()
    WORD = auto()


# What a role tells, where that doesn't hang on how rare the word is.
_WEIGHTS = {Role.NUMBER: 1.2, Role.NEGATION: 0.5, Role.FUNCTION: 0.15, Role.FRAMING: 0.25}
# Of these, words that only join and point in another language.
_PLAIN = (Role.WORD, Role.NAME)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, or two signs of a script without spaces, at [start, end) of its text.

    `word` is in small letters, `weight` is how much it tells.
    """

    word: str
    stem: str
    role: Role
    weight: float
    start: int
    end: int

    @property
    def is_content(self) -> bool:
        """Whether it says anything by itself."""
        return self.role is not Role.FUNCTION


def tokenize_claim(text: str) -> list[Token]:
    """The tokens of a claim in order, in whose language other words may only join and point."""
    return tokenize(text, functions=function_words(words(text)))


def tokenize(text: str, offset: int = 0, *, functions: frozenset[str] = frozenset()) -> list[Token]:
    """The tokens in order; `offset` is added to their places, `functions` only join and point."""
    found: list[Token] = []
    ended_at = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if _IS_UNSPACED.match(match[0]):
            found += _pairs(match[0], offset + start)
        else:
            begins = not found or not _SENTENCE_MARKS.isdisjoint(text[ended_at:start])
            found.append(_token(match[0], offset + start, begins_sentence=begins))
            if match[0] in functions and found[-1].role in _PLAIN:
                found[-1] = replace(found[-1], role=Role.FUNCTION, weight=_WEIGHTS[Role.FUNCTION])
        ended_at = end
    return found


def _token(written: str, start: int, *, begins_sentence: bool) -> Token:
    word = written.casefold().replace("’", "'")
    role = _role(written, word, begins_sentence=begins_sentence)
    weight = _WEIGHTS.get(role)
    if weight is None:
        weight = telling(word.removesuffix("'s"))
    return Token(word, stem(written), role, weight, start, start + len(written))


def _role(written: str, word: str, *, begins_sentence: bool) -> Role:
    lists = word_lists()
    if word[0].isdigit() or word in NUMBER_WORDS:
        return Role.NUMBER
    if word in lists.negation or word.endswith("n't"):
        return Role.NEGATION
    if word in lists.function:
        return Role.FUNCTION
    if word in lists.framing:
        return Role.FRAMING
    if word in lists.degree:
        return Role.DEGREE
    is_capital = written[0].isupper()
    is_acronym = len(written) > 1 and written.isupper()
    return Role.NAME if is_acronym or (is_capital and not begins_sentence) else Role.WORD


def _pairs(run: str, start: int) -> list[Token]:
    pairs = [one + other for one, other in pairwise(run)] or [run]
    return [
        Token(pair, pair, Role.WORD, 1.0, start + place, start + place + len(pair))
        for place, pair in enumerate(pairs)
    ]
