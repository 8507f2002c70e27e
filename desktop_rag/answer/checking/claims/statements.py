"""Looks in a source for the unit that says a claim, or that says its contrary. Pure."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from desktop_rag.answer.checking.claims.backing import Match, is_said, matches
from desktop_rag.answer.checking.claims.differences import (
    is_other_number,
    is_plain_negation,
    kind_of,
)
from desktop_rag.answer.checking.claims.phrases import Phrase, are_same, is_function, phrases_of
from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole
from desktop_rag.answer.checking.claims.units import Unit, UnitKind
from desktop_rag.answer.checking.claims.words import word_lists
from desktop_rag.core.claims import Difference, DifferenceKind
from desktop_rag.core.language.function_words import function_words

Span = tuple[int, int]

# A unit that denies a claim has at least this share of its words, and this many.
_LEAST_DENIED, _LEAST_AGREED = 0.5, 2
# A unit that says a claim has at least this share of its stems, itself or above it.
_LEAST_SHARED = 0.5
_JOINT = re.compile(r"[,;]")
_NOT = frozenset(("not", "never", "nicht", "nie", "niemals"))


def backing(text: str, claim: Sequence[ClaimToken], index: SourceIndex) -> Span | None:
    """Where the source says a claim: in one unit, or each of its main clauses in one."""
    if whole := _backing(text, claim, index):
        return whole.start, whole.end
    first, *others = _clauses(text, claim)
    units = [_backing(text, part, index) for part in (first, *others)] if others else [None]
    return (units[0].start, units[0].end) if units[0] and all(units) else None


def denial(
    text: str, claim: Sequence[ClaimToken], index: SourceIndex
) -> tuple[Unit, Difference] | None:
    """The unit that says a claim with another number, or denies it, and the difference."""
    functions = _functions(claim, index)
    phrases = phrases_of(claim, text, functions)
    for unit in _candidates(claim, index, _LEAST_DENIED):
        found = _other_number(text, claim, phrases, unit, index, functions)
        if not found:
            found = _denied(phrases, unit, functions) or _unsaid(
                claim, phrases, unit, index, functions
            )
        if found:
            return unit, found
    return None


def _backing(text: str, claim: Sequence[ClaimToken], index: SourceIndex) -> Unit | None:
    written = _words(claim)
    functions = _functions(claim, index)
    phrases = phrases_of(claim, text, functions)
    for unit in _candidates(claim, index, _LEAST_SHARED):
        found = matches(phrases, unit, index.text, functions)
        if any(is_said(one, written) for one in found):
            return unit
    return None


def _functions(claim: Sequence[ClaimToken], index: SourceIndex) -> frozenset[str]:
    return index.functions | function_words([token.word for token in claim])


def _candidates(claim: Sequence[ClaimToken], index: SourceIndex, least: float) -> Iterator[Unit]:
    """The units with at least this share of the stems of a claim."""
    wanted = {t.stem for t in claim if t.is_content and t.role is not TokenRole.NUMBER}
    return (unit for unit in index.units if len(wanted & unit.stems) >= least * len(wanted))


def _clauses(text: str, claim: Sequence[ClaimToken]) -> Iterator[Sequence[ClaimToken]]:
    """The main clauses of a claim, each with a subject before its verb; one when unsure."""
    first = 0
    for place, (token, following) in enumerate(pairwise(claim), 1):
        is_joint = following.word in word_lists().joining or _JOINT.search(
            text, token.end, following.start
        )
        if is_joint and _is_clause(claim[first:place]) and _is_clause(claim[place:]):
            yield claim[first:place]
            first = place
    yield claim[first:]


def _is_clause(part: Sequence[ClaimToken]) -> bool:
    verbs = word_lists().auxiliary
    verb = next((n for n, token in enumerate(part) if token.word in verbs), len(part))
    return any(token.is_content for token in part[:verb]) and any(
        token.is_content for token in part[verb + 1 :]
    )


def _other_number(
    text: str,
    claim: Sequence[ClaimToken],
    phrases: Sequence[Phrase],
    unit: Unit,
    index: SourceIndex,
    functions: frozenset[str],
) -> Difference | None:
    """A number where the unit has another one, and agrees in all else."""
    written = _words(claim)
    for phrase in phrases:
        said = phrase.token
        is_elsewhere = said.stem in index.stems and unit.kind is not UnitKind.LABEL
        kind = kind_of(said, text)
        if said.role is not TokenRole.NUMBER or is_elsewhere or kind is None:
            continue
        others = [
            token for token in unit.tokens
            if token.role is TokenRole.NUMBER
            and kind_of(token, index.text) is kind
            and not any(are_same(own.token, token) for own in phrases)
        ]  # fmt: skip
        if len(others) != 1 or not is_other_number(said, others[0]):
            continue
        found = matches(phrases, unit, index.text, functions, (phrase, others[0]))
        if any(_is_enough(one) and is_said(one, written) for one in found):
            place = others[0].start, others[0].end
            return Difference(kind, (said.start, said.end), place)
    return None


def _is_enough(found: Match) -> bool:
    """True when two words agree beside the number, or all that the unit has."""
    rest = (p for p in range(len(found.unit.tokens)) if p not in found.places)
    return len(found.pairs) > _LEAST_AGREED or not any(map(found.is_content, rest))


def _denied(phrases: Sequence[Phrase], unit: Unit, functions: frozenset[str]) -> Difference | None:
    """A unit that says what the claim says, with a negation."""
    content = [t for t in unit.tokens if not is_function(t, functions)]
    negations = [t for t in content if t.role is TokenRole.NEGATION]
    rest = [t for t in content if t.role is not TokenRole.NEGATION]
    said = [p.token for p in phrases]
    if len(negations) != 1 or not is_plain_negation(negations[0]) or len(rest) < _LEAST_AGREED:
        return None
    if any(t.role is TokenRole.NEGATION for t in said):
        return None
    places = [next((n for n, t in enumerate(said) if are_same(t, o)), -1) for o in rest]
    is_ordered = places == sorted(places) and -1 not in places
    if not is_ordered or len(rest) < _LEAST_DENIED * len(said) or _has_condition(unit.tokens):
        return None
    return Difference(DifferenceKind.NEGATION, None, (negations[0].start, negations[0].end))


def _unsaid(
    claim: Sequence[ClaimToken],
    phrases: Sequence[Phrase],
    unit: Unit,
    index: SourceIndex,
    functions: frozenset[str],
) -> Difference | None:
    """A unit that says what the claim says without its negation."""
    negations = [p for p in phrases if p.token.role is TokenRole.NEGATION]
    is_one = len(negations) == 1 and _is_not(negations[0].token)
    if not is_one or _has_condition(claim) or unit.kind is not UnitKind.SENTENCE:
        return None
    rest = [phrase for phrase in phrases if phrase is not negations[0]]
    written = _words(claim)
    if any(is_said(one, written) for one in matches(rest, unit, index.text, functions)):
        token = negations[0].token
        return Difference(DifferenceKind.NEGATION, (token.start, token.end), None)
    return None


def _is_not(token: ClaimToken) -> bool:
    """True for a negation of the whole statement; there is "no fee" where the fee is 0."""
    return token.word in _NOT or token.word.endswith("n't")


def _words(claim: Sequence[ClaimToken]) -> frozenset[str]:
    """The words of a claim in lower case, without names: the month of May allows nothing."""
    return frozenset(token.word for token in claim if token.role is not TokenRole.NAME)


def _has_condition(tokens: Sequence[ClaimToken]) -> bool:
    return any(token.word in word_lists().conditions for token in tokens)
