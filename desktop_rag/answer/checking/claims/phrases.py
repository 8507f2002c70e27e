"""The words of a claim or unit with the preposition that governs each. Pure, any thread."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.answer.checking.claims.numbers import is_rounded
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole
from desktop_rag.answer.checking.claims.units import LEAST_EQUAL
from desktop_rag.answer.checking.claims.words import word_lists

_STOPS = re.compile(r"[,;:()|–—]|\.\s|\n\s*\n")
_FURTHEST = 6
# Other forms of a word have no more other letters behind those that are equal.
_MOST_OTHER = 3
# A number is rounded a little when so many of its figures are left, or only its decimals are not.
_LEAST_FIGURES, _LEAST_WHOLE = 3, 10
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")
# Who does it, and to whom it is done: lessor and lessee, insurer and insured.
_DOER, _DONE_TO = re.compile(r"(?:er|or|erin)s?$"), re.compile(r"(?:ee|ed)s?$")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A content word at a place among all tokens; `relation` is the meaning of its preposition.

    `decides`: the preposition tells its role; others only begin a circumstance.
    """

    token: ClaimToken
    place: int
    relation: str
    decides: bool


def phrases_of(tokens: Sequence[ClaimToken], text: str, functions: frozenset[str]) -> list[Phrase]:
    """The content words in order; `functions` are further function words."""
    found: list[Phrase] = []
    for place, token in enumerate(tokens):
        if not is_function(token, functions):
            relation, decides = _relation(tokens, place, text, functions)
            found.append(Phrase(token, place, relation, decides))
    return found


def is_function(token: ClaimToken, functions: frozenset[str]) -> bool:
    """True for a function word in any of the languages at hand."""
    return token.role is TokenRole.FUNCTION or (
        token.role in (TokenRole.WORD, TokenRole.NAME, TokenRole.DEGREE, TokenRole.FRAMING)
        and (token.word in functions or token.word in word_lists().conditions)
    )


def is_boundary(before: ClaimToken, after: ClaimToken, text: str) -> bool:
    """True when a mark between two neighbouring tokens ends a clause or an item."""
    return bool(_STOPS.search(text, before.end, after.start))


def are_same(one: ClaimToken, other: ClaimToken) -> bool:
    """True for two forms of one word, or one number as written or rounded."""
    if one.role is TokenRole.NUMBER or other.role is TokenRole.NUMBER:
        return one.stem == other.stem or _is_nearly(one.stem, other.stem)
    if one.stem == other.stem:
        return not (_is_done_to(one, other) or _is_done_to(other, one))
    if TokenRole.NEGATION in (one.role, other.role):
        return False
    return _are_forms(one.word, other.word)


def _are_forms(one: str, other: str) -> bool:
    equal = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    is_near = equal >= LEAST_EQUAL and max(len(one), len(other)) - equal <= _MOST_OTHER
    return is_near and bool(_DOER.search(one)) == bool(_DOER.search(other))


def _is_nearly(number: str, other: str) -> bool:
    """True for a number that is rounded only a little: 17,600 for 17,606, 47 for 46.5."""
    if not is_rounded(number, other) or _YEAR.fullmatch(other):
        return False
    figures = len(number.replace(".", "").strip("0"))
    return figures >= _LEAST_FIGURES or ("." in other and float(number) >= _LEAST_WHOLE)


def _is_done_to(one: ClaimToken, other: ClaimToken) -> bool:
    return bool(_DOER.search(one.word)) and bool(_DONE_TO.search(other.word))


def _relation(
    tokens: Sequence[ClaimToken], place: int, text: str, functions: frozenset[str]
) -> tuple[str, bool]:
    lists = word_lists()
    is_begun = False
    for at in range(place - 1, max(-1, place - 1 - _FURTHEST), -1):
        if is_boundary(tokens[at], tokens[at + 1], text):
            break
        if _is_apart(tokens[at], tokens[at + 1], text):
            break
        word = tokens[at].word
        if word in lists.relations:
            return lists.relations[word], True
        if word in lists.circumstances:
            return word, False
        if word in lists.determiners and not is_begun:
            is_begun = True
        elif is_begun or (is_function(tokens[at], functions) and word not in ("and", "und")):
            break
    return "", False


def _is_apart(before: ClaimToken, after: ClaimToken, text: str) -> bool:
    """True for a verb behind a name, as German has it: "von Niels gebaut"."""
    return before.role is TokenRole.NAME and text[after.start].islower()
