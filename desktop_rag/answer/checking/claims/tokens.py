"""Tokenises claims and sources with the role of each token, and aligns them. Any thread."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import Enum, auto
from functools import lru_cache
from itertools import pairwise

import regex

from desktop_rag.answer.checking.claims.words import (
    importance,
    is_month,
    listed,
    month_names,
    stem,
    unit_named,
    without_notes,
)
from desktop_rag.core.language.languages import NUMBER_WORDS, SMALL, TENS, function_words
from desktop_rag.core.text import words

_SCALES = {
    "hundred": Decimal(100),
    "thousand": Decimal(10**3),
    "million": Decimal(10**6),
    "billion": Decimal(10**9),
    "trillion": Decimal(10**12),
}
_VALUES = {
    **{word: Decimal(value) for value, word in enumerate(SMALL.split())},
    **{word: Decimal(10 * tens) for tens, word in enumerate(TENS.split(), 2)},
}
_HUNDRED = _SCALES["hundred"]
_MONEY = ("euro", "dollar", "yen")
_TEN, _TWENTY = Decimal(10), Decimal(20)


def whole_number(words: Sequence[str]) -> tuple[int, str]:
    """The number of leading words that form one number, and its digits; (0, "") for none.

    `words` are in lower case, or digits without thousands separators. An "and" joins parts of a
    number from a hundred on.
    """
    total, current = Decimal(0), Decimal(0)
    used, value = 0, ""
    for place, word in enumerate(words):
        if word == "and" and place and words[place - 1] in _SCALES:
            continue
        scale, part = _SCALES.get(word), _part(word)
        if scale is not None and place:
            if scale == _HUNDRED:
                current *= scale
            else:
                total, current = total + current * scale, Decimal(0)
        elif part is not None and _goes_on(current, part, is_first=not place):
            current += part
        else:
            break
        used, value = place + 1, f"{(total + current).normalize():f}"
    return used, value


def is_rounded(number: str, other: str) -> bool:
    """True when a number is another one rounded: 5000 for 4860, 47 for 46.5."""
    try:
        rough, exact = Decimal(number), Decimal(other)
    except InvalidOperation:
        return False
    if rough == exact or not rough:
        return False
    step = Decimal((0, (1,), int(rough.normalize().as_tuple().exponent)))
    return abs(rough - exact) * 2 <= step


def _part(word: str) -> Decimal | None:
    if word in _VALUES:
        return _VALUES[word]
    return Decimal(word) if word.replace(".", "", 1).isdecimal() and word.isascii() else None


def _goes_on(current: Decimal, part: Decimal, *, is_first: bool) -> bool:
    """True when a part continues a number: five after twenty, sixty after eight hundred."""
    if is_first:
        return True
    if part >= _HUNDRED or part != part.to_integral_value():
        return False
    below = current % _HUNDRED
    return below == 0 or (below >= _TWENTY and below % _TEN == 0 and part < _TEN)


_UNSPACED = (
    r"[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]&&\p{L}]"
)
# Raised and lowered digits are no part of a number.
_DIGIT = r"[\p{N}--[⁰¹²³⁴-⁹₀-₉]]"
# Figures of a number with spaces; those at the end of a line may as well be cells of a row.
_SPACED = (
    r"(?<![\d.,'’]|\d )\d{1,3}(?:(?:[\u00a0\u202f]\d{3})+|(?: \d{3})+(?=[ \u00a0\u202f]?[^\s\d|]))"
    r"(?![\w'’]|[.,]\d)"
)
NUMBER = rf"{_SPACED}|{_DIGIT}++(?:[.,'’:/]{_DIGIT}++)*+"
_TOKEN = regex.compile(
    rf"(?V1)\d{{4}}-\d\d-\d\d(?!\p{{N}})|°[CF](?!\p{{L}})|{NUMBER}|\p{{N}}++|{_UNSPACED}++"
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
    """A word in lower case, a number, or two characters of a script without spaces."""

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
    for match in _TOKEN.finditer(without_notes(text)):
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
    written = "".join(written.split())
    if written[0] == "°":
        written = unit_named(written.casefold())
    word = written.casefold().replace("’", "'")
    role = _role(written, word, begins_sentence=begins_sentence)
    weight = _WEIGHTS.get(role)
    if weight is None:
        weight = importance(word.removesuffix("'s"))
    unit = unit_named(word)
    return word, unit if unit in _MONEY else stem(written), role, weight


def _role(written: str, word: str, *, begins_sentence: bool) -> TokenRole:
    if word[0].isdigit() or word in NUMBER_WORDS:
        return TokenRole.NUMBER
    if not begins_sentence and written[0].isupper() and is_month(written):
        return TokenRole.NAME  # "May" too
    if word in listed("negation") or word.endswith("n't"):
        return TokenRole.NEGATION
    if word in listed("function"):
        return TokenRole.FUNCTION
    if word in listed("framing"):
        return TokenRole.FRAMING
    if word in listed("degree"):
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


# Pairs with fewer tokens than this between them are close.
_CLOSE = 4
# The tokens of the evidence around the first and last pair that count as gaps.
_REACH = 4


@dataclass(frozen=True, slots=True)
class Gap:
    """The content words between two aligned pairs, or at an end, that the other side lacks.

    `is_close`: there are pairs on both sides, and few tokens lie between them.
    """

    claim: tuple[ClaimToken, ...]
    evidence: tuple[ClaimToken, ...]
    is_close: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """A longest common subsequence of two texts, by stems, as pairs of indices."""

    claim: Sequence[ClaimToken]
    evidence: Sequence[ClaimToken]
    pairs: tuple[tuple[int, int], ...]

    def gaps(self) -> Iterator[Gap]:
        """The gaps in order, empty ones too; at both ends only the nearest words of evidence."""
        in_claim = {token.stem for token in self.claim}
        in_evidence = {token.stem for token in self.evidence}
        for (a, b), (c, d) in pairwise(self._ends()):
            is_inside = a >= 0 and c < len(self.claim)
            yield Gap(
                _absent(self.claim[a + 1 : c], in_evidence),
                _absent(self.evidence[b + 1 : d], in_claim),
                is_inside and max(c - a, d - b) <= _CLOSE,
            )

    def _ends(self) -> list[tuple[int, int]]:
        """The pairs, with a virtual one before the first and after the last."""
        if not self.pairs:
            return []
        before = max(-1, self.pairs[0][1] - _REACH - 1)
        after = min(len(self.evidence), self.pairs[-1][1] + _REACH + 1)
        return [(-1, before), *self.pairs, (len(self.claim), after)]


def align(claim: Sequence[ClaimToken], evidence: Sequence[ClaimToken]) -> Alignment:
    """Align two texts. Time and memory grow with the product of their lengths."""
    found = [token.stem for token in evidence]
    same = [[token.stem == stem for stem in found] for token in claim]
    return Alignment(claim, evidence, tuple(in_order(same)))


def in_order(same: Sequence[Sequence[bool]]) -> Iterator[tuple[int, int]]:
    """The first longest common subsequence, where `same` tells which elements are the same."""
    table = _lengths(same)
    width = len(same[0]) if same else 0
    i = j = 0
    while i < len(same) and j < width:
        if same[i][j]:
            yield i, j
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1


def _lengths(same: Sequence[Sequence[bool]]) -> list[list[int]]:
    """The table of lengths: at [i][j] the longest common subsequence of both rests."""
    below = [0] * (len(same[0]) + 1 if same else 1)
    rows = [below]
    for line in reversed(same):
        row = [0]
        for place in range(len(line) - 1, -1, -1):
            if line[place]:
                row.append(below[place + 1] + 1)
            else:
                row.append(max(below[place], row[-1]))
        row.reverse()
        rows.append(row)
        below = row
    rows.reverse()
    return rows


def _absent(tokens: Sequence[ClaimToken], known: set[str]) -> tuple[ClaimToken, ...]:
    return tuple(token for token in tokens if token.is_content and token.stem not in known)
