"""Finds the differences between a claim and its evidence, and contradictions. Pure.

A contradiction is reported only when it is certain: the window has nearly all words of the claim in
the same order, and the rest is a number, date, unit or negation where the window has another one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.tokens import (
    Alignment,
    ClaimToken,
    Gap,
    TokenRole,
    is_rounded,
)
from desktop_rag.answer.checking.claims.words import is_month, word_lists
from desktop_rag.core.claims import Difference, DifferenceKind

Span = tuple[int, int]

_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}")
_NOT_DIGIT = re.compile(r"\D")
_SIGN_AFTER = re.compile(r"\s?([%°$€£¥]\w?)")
_SIGN_BEFORE = re.compile(r"([$€£¥])\s?$")
_KINDS = {
    TokenRole.NUMBER: DifferenceKind.NUMBER,
    TokenRole.NAME: DifferenceKind.NAME,
    TokenRole.NEGATION: DifferenceKind.NEGATION,
}
_EXCHANGED = (DifferenceKind.NUMBER, DifferenceKind.DATE)
# A replacement has at most this many content words.
_MOST_IN_PLACE = 3
# A contradiction needs this many content words that agree, and leaves at most this share of the
# claim's weight unexplained.
_LEAST_AGREED = 4
_MOST_UNEXPLAINED = 0.12


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences in the order of the claim; `is_contradiction` when they contradict it."""

    all: tuple[Difference, ...]
    is_contradiction: bool


@dataclass(slots=True)
class _Found:
    """The findings so far; `explained` is the weight of the contradicting words of the claim."""

    differences: list[Difference] = field(default_factory=list)
    explained: float = 0.0
    contradictions: int = 0
    # Negations on one side only, and the weight of those that certainly reverse the meaning.
    negations: int = 0
    turned: float | None = None

    def contradicted(self, weight: float) -> None:
        self.explained += weight
        self.contradictions += 1


def find_differences(claim_text: str, index: SourceIndex, alignment: Alignment) -> Differences:
    """Compare a claim with the window of a source that it was aligned with."""
    found = _Found()
    for gap in alignment.gaps():
        _compare_gap(claim_text, index, gap, found)
    _compare_units(claim_text, index.text, alignment, found)
    # Two negations may cancel each other.
    if found.negations == 1 and found.turned is not None:
        found.contradicted(found.turned)
    is_sure = found.contradictions > 0 and _agrees_otherwise(alignment, found.explained)
    return Differences(tuple(_joined(found.differences)), is_sure)


def words_of(
    differences: Sequence[Difference], claim: str, source: str
) -> Iterator[tuple[Difference, str, str]]:
    """Each difference with the words of the claim and of the source, "" for none."""
    for difference in differences:
        said = claim[slice(*difference.in_claim)] if difference.in_claim else ""
        written = source[slice(*difference.in_source)] if difference.in_source else ""
        yield difference, said, written


def _compare_gap(claim_text: str, index: SourceIndex, gap: Gap, found: _Found) -> None:
    of_claim = _by_kind(gap.claim, claim_text)
    of_source = _by_kind(gap.evidence, index.text)
    in_place = len(gap.claim) <= _MOST_IN_PLACE and len(gap.evidence) <= _MOST_IN_PLACE
    for kind, tokens in of_claim.items():
        others = of_source.get(kind, []) if in_place else []
        if kind is DifferenceKind.WORD and not (gap.is_close and len(tokens) == len(others) == 1):
            others = []
        for token, other in zip_longest(tokens, others[: len(tokens)]):
            if kind is DifferenceKind.WORD and not other and token.stem in index.stems:
                continue  # elsewhere in the source
            found.differences.append(Difference(kind, _span(token), _span(other)))
            if kind in _EXCHANGED and other and _is_replaced(token, other, index):
                found.contradicted(token.weight)
    _compare_negations(gap, of_claim, of_source, found)


def _compare_negations(
    gap: Gap,
    of_claim: dict[DifferenceKind, list[ClaimToken]],
    of_source: dict[DifferenceKind, list[ClaimToken]],
    found: _Found,
) -> None:
    """A single negation between agreeing words, on one side only."""
    said = of_claim.get(DifferenceKind.NEGATION, [])
    written = of_source.get(DifferenceKind.NEGATION, [])
    found.negations += len(said) + (len(written) if gap.is_inside else 0)
    if bool(said) == bool(written) or not gap.is_close:
        return
    if written:
        found.differences.append(Difference(DifferenceKind.NEGATION, None, _span(written[0])))
    alone = (said or written)[0]
    if len(gap.claim) + len(gap.evidence) == 1 and is_plain_negation(alone):
        found.turned = alone.weight if said else 0.0


def _compare_units(claim_text: str, text: str, alignment: Alignment, found: _Found) -> None:
    """Find equal numbers with different units."""
    for one, other in alignment.pairs:
        if alignment.claim[one].role is not TokenRole.NUMBER:
            continue
        unit, its = _unit(alignment.claim, one, claim_text), _unit(alignment.evidence, other, text)
        if unit and its and unit.name != its.name:
            found.differences = [d for d in found.differences if d.in_claim != unit.span]
            found.differences.append(Difference(DifferenceKind.UNIT, unit.span, its.span))
            found.contradicted(unit.weight)


@dataclass(frozen=True, slots=True)
class _Unit:
    name: str
    span: Span
    weight: float


def _unit(tokens: Sequence[ClaimToken], place: int, text: str) -> _Unit | None:
    """The unit of a number: a symbol on either side of it, or the next word."""
    number = tokens[place]
    sign = _SIGN_AFTER.match(text, number.end) or _SIGN_BEFORE.search(
        text, max(0, number.start - 2), number.start
    )
    if sign:
        name = word_lists().units.get(sign[1].casefold())
        return _Unit(name, sign.span(1), 0.0) if name else None
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if not following:
        return None
    units = word_lists().units
    name = units.get(following.word) or units.get(following.word.removesuffix("s"))
    return _Unit(name, (following.start, following.end), following.weight) if name else None


def is_plain_negation(token: ClaimToken) -> bool:
    """True for a word that always negates."""
    return token.word in word_lists().plain_negation or token.word.endswith("n't")


def is_other_number(token: ClaimToken, other: ClaimToken) -> bool:
    """True when a number certainly differs from the other one.

    36 and 36,000 may be parts of one number; 7 may be 7.5 rounded.
    """
    if is_rounded(token.stem, other.stem):
        return False
    one, two = (_NOT_DIGIT.sub("", number.stem) for number in (token, other))
    return not (one and two) or not (one.startswith(two) or two.startswith(one))


def _is_replaced(token: ClaimToken, other: ClaimToken, index: SourceIndex) -> bool:
    return token.stem not in index.stems and is_other_number(token, other)


def _joined(differences: Sequence[Difference]) -> list[Difference]:
    """The differences in the order of the claim, adjacent ones joined."""
    joined: list[Difference] = []
    for one in sorted(differences, key=lambda d: d.in_claim or d.in_source or (0, 0)):
        last = joined[-1] if joined else one
        if (
            one.kind is last.kind
            and _are_neighbours(last.in_claim, one.in_claim)
            and _are_neighbours(last.in_source, one.in_source)
        ):
            joined[-1] = Difference(
                one.kind, _whole(last.in_claim, one.in_claim), _whole(last.in_source, one.in_source)
            )
        else:
            joined.append(one)
    return joined


def _are_neighbours(one: Span | None, other: Span | None) -> bool:
    if one is None or other is None:
        return one is other
    return 0 <= other[0] - one[1] <= 1


def _whole(one: Span | None, other: Span | None) -> Span | None:
    return (one[0], other[1]) if one and other else None


def _by_kind(tokens: Sequence[ClaimToken], text: str) -> dict[DifferenceKind, list[ClaimToken]]:
    found: dict[DifferenceKind, list[ClaimToken]] = {}
    for token in tokens:
        if kind := kind_of(token, text):
            found.setdefault(kind, []).append(token)
    return found


def kind_of(token: ClaimToken, text: str) -> DifferenceKind | None:
    """The kind of a difference; None for words that an answer may choose freely."""
    written = text[token.start : token.end]
    if is_month(written) or _DATE.fullmatch(written) or _YEAR.fullmatch(written):
        return DifferenceKind.DATE
    if token.role in (TokenRole.FUNCTION, TokenRole.FRAMING):
        return None
    return _KINDS.get(token.role, DifferenceKind.WORD)


def _agrees_otherwise(alignment: Alignment, explained: float) -> bool:
    content = [token for token in alignment.claim if token.is_content]
    agreed = [alignment.claim[one] for one, _ in alignment.pairs]
    agreeing = [token for token in agreed if token.is_content]
    weight = sum(token.weight for token in content)
    unexplained = weight - sum(token.weight for token in agreeing) - explained
    return len(agreeing) >= _LEAST_AGREED and unexplained <= _MOST_UNEXPLAINED * weight


def _span(token: ClaimToken | None) -> Span | None:
    return (token.start, token.end) if token else None
