"""Tells whether one unit of a source says a claim: all of its words, each in its role. Pure.

Words that are there are not enough: the lessee's name stands near the lessor's. So every content
word of the claim is in one unit, or in what stands above it; words that stand in another order have
the same preposition in both; and no negation, condition or other subject lies between them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from desktop_rag.answer.checking.claims.alignment import in_order
from desktop_rag.answer.checking.claims.phrases import (
    Phrase,
    are_same,
    is_boundary,
    is_function,
    phrases_of,
)
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole
from desktop_rag.answer.checking.claims.units import LEAST_EQUAL, Unit, UnitKind
from desktop_rag.answer.checking.claims.words import word_lists

_AGENT = ("by", "von")
# Prepositions that a claim may have and its source not, such as "by" for the active voice.
_FREE = frozenset(("by", "von", "bis", "auf", "to"))
_LEAST_MATCHED = 2
_SIGNS = "%€$£¥"
# Pronouns that begin a clause with a subject of its own.
_SUBJECTS = frozenset(
    ("those", "these", "they", "it", "he", "she", "others", "one", "er", "sie", "diese", "jene")
)
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")


@dataclass(frozen=True, slots=True)
class Match:
    """The words of a claim paired with those of a unit, in the order of the claim.

    `outside`: the words that only stand above the unit.
    """

    unit: Unit
    text: str
    functions: frozenset[str]
    pairs: tuple[tuple[Phrase, Phrase], ...]
    outside: tuple[Phrase, ...]

    @property
    def places(self) -> list[int]:
        """The places of the matched tokens in the unit, in its order."""
        return sorted({there.place for _, there in self.pairs})

    def is_content(self, place: int) -> bool:
        """True when the unit has a content word at a place."""
        return not is_function(self.unit.tokens[place], self.functions)

    def stops(self, place: int) -> bool:
        """True when a clause ends between this token of the unit and the next one."""
        tokens = self.unit.tokens
        return (
            is_boundary(tokens[place], tokens[place + 1], self.text)
            or tokens[place + 1].word in word_lists().joining
        )

    def clause(self) -> range:
        """The places of the clause around the matched tokens."""
        return self._widened(self.places[0], self.places[-1])

    def clauses_near(self) -> range:
        """The places of that clause, and of the ones before and behind it."""
        own = self.clause()
        return self._widened(max(own.start - 1, 0), min(own.stop, len(self.unit.tokens) - 1))

    def _widened(self, first: int, last: int) -> range:
        while first and not self.stops(first - 1):
            first -= 1
        while last + 1 < len(self.unit.tokens) and not self.stops(last):
            last += 1
        return range(first, last + 1)


def matches(
    claim: Sequence[Phrase],
    unit: Unit,
    text: str,
    functions: frozenset[str],
    exchanged: tuple[Phrase, ClaimToken] | None = None,
) -> Iterator[Match]:
    """Pair each word of a claim with one of the unit, the first and the last ones; none is missing.

    `exchanged`: a word of the claim and the other one of the unit that takes its place.
    """
    replaced = exchanged[0] if exchanged else None
    if any(phrase is not replaced and _is_missing(phrase.token, unit, text) for phrase in claim):
        return
    there = phrases_of(unit.tokens, text, functions)
    same = [[are_same(c.token, t.token) or (c, t.token) == exchanged for t in there] for c in claim]
    first = dict(in_order(same))
    backwards = in_order([row[::-1] for row in reversed(same)])
    last = {len(claim) - 1 - a: len(there) - 1 - b for a, b in backwards}
    for pairs in (first, last) if first != last else (first,):
        _add_moved(pairs, same)
        if len(pairs) < _LEAST_MATCHED:
            continue
        matched = tuple((claim[a], there[b]) for a, b in sorted(pairs.items()))
        alone = [phrase for n, phrase in enumerate(claim) if n not in pairs]
        outside = tuple(phrase for phrase in alone if _is_above(phrase.token, unit))
        if all(p in outside or _is_optional(p.token, unit, text) for p in alone):
            yield Match(unit, text, functions, matched, outside)


def _add_moved(pairs: dict[int, int], same: Sequence[Sequence[bool]]) -> None:
    """Pair the words that stand in another order."""
    used = set(pairs.values())
    for place, row in enumerate(same):
        free = (n for n, is_same in enumerate(row) if is_same and n not in used)
        if place not in pairs and (found := next(free, None)) is not None:
            pairs[place] = found
            used.add(found)


def _is_missing(token: ClaimToken, unit: Unit, text: str) -> bool:
    """True when a unit certainly lacks a word, told without comparing each of its words."""
    return (
        token.stem not in unit.stems
        and token.role is not TokenRole.NUMBER
        and token.word[:LEAST_EQUAL] not in unit.beginnings
        and not _is_optional(token, unit, text)
    )


def is_said(found: Match, claim_words: frozenset[str]) -> bool:
    """True when the words of a claim have the roles in the unit that the claim gives them."""
    if not _is_as_free(found, claim_words):
        return False
    if found.unit.kind is UnitKind.ROW:
        return _is_in_column(found)
    if found.unit.kind is UnitKind.SENTENCE and not _has_its_order(found, claim_words):
        return False
    return (
        _is_of_label(found)
        and _has_its_relations(found)
        and all(_may_be_turned(found, one, other) for one, other in combinations(found.pairs, 2))
        and not any(_is_other_clause(found, a, b, claim_words) for a, b in pairwise(found.places))
        and _is_whole_above(found)
    )


def _is_above(token: ClaimToken, unit: Unit) -> bool:
    if token.role is TokenRole.NEGATION:
        return False
    if any(are_same(token, head) for head in unit.head):
        return True
    is_figure = token.role is TokenRole.NUMBER and not _YEAR.fullmatch(token.stem)
    return token.stem in unit.above and not is_figure


def _is_optional(token: ClaimToken, unit: Unit, text: str) -> bool:
    lists = word_lists()
    if token.word in lists.attributing or _has_sign_of(token, text[unit.start - 2 : unit.end + 2]):
        return True
    return unit.kind is not UnitKind.SENTENCE and token.word in lists.linking


def _has_sign_of(token: ClaimToken, written: str) -> bool:
    """True for a unit of measure that is written as a sign: 780 €."""
    units = word_lists().units
    name = units.get(token.word) or units.get(token.word.removesuffix("s"))
    return bool(name) and any(units.get(sign) == name for sign in _SIGNS if sign in written)


def _is_as_free(found: Match, claim_words: frozenset[str]) -> bool:
    """True when no negation, condition or modal verb of the unit is left out or put in."""
    lists, tokens = word_lists(), found.unit.tokens
    near = (tokens[place].word for place in found.clauses_near())
    if any(word in lists.conditions and word not in claim_words for word in near):
        return False
    matched, inside = set(found.places), [tokens[place] for place in found.clause()]
    for place in found.clause():
        if tokens[place].role is TokenRole.NEGATION and place not in matched:
            return False
    for modals in (lists.permitting, lists.obliging):
        theirs = any(t.word in modals and t.role is not TokenRole.NAME for t in inside)
        if bool(modals & claim_words) != theirs:
            return False
    return True


def _has_its_order(found: Match, claim_words: frozenset[str]) -> bool:
    """True when no before, after, above or the like of a claim is missing in the unit."""
    relations = word_lists().relations
    said = {relations[word] for word in claim_words & relations.keys()} - _FREE
    return said <= {relations.get(token.word) for token in found.unit.tokens}


def _has_its_relations(found: Match) -> bool:
    is_label, is_turned = found.unit.kind is UnitKind.LABEL, _is_passive(found)
    for here, there in found.pairs:
        if here.relation == there.relation or not (here.decides or there.decides):
            continue
        if is_label and not there.decides:
            continue
        agents = {here.relation, there.relation} <= {"", *_AGENT}
        if not (agents and is_turned):
            return False
    return True


def _is_passive(found: Match) -> bool:
    """True when one side names first who does it, and the other side behind "by"."""
    first_here = min((here.place for here, _ in found.pairs), default=0)
    first_there = found.places[0]
    for here, there in found.pairs:
        if here.relation in _AGENT and not there.relation and there.place <= first_there + 1:
            return True
        if there.relation in _AGENT and not here.relation and here.place <= first_here + 1:
            return True
    return False


def _may_be_turned(found: Match, one: tuple[Phrase, Phrase], other: tuple[Phrase, Phrase]) -> bool:
    """True when two words have one order in claim and unit, or their order says nothing."""
    if (one[0].place < other[0].place) == (one[1].place < other[1].place):
        return True
    if found.unit.kind is UnitKind.LABEL and _are_apart(found, one[1].place, other[1].place):
        return True
    if any(here.relation and here.relation == there.relation for here, there in (one, other)):
        return not all(here.relation in _AGENT for here, _ in (one, other))
    return _is_passive(found)


def _are_apart(found: Match, one: int, other: int) -> bool:
    """True when one is the label and the other its value."""
    colon = _colon(found)
    return (found.unit.tokens[one].start < colon) != (found.unit.tokens[other].start < colon)


def _colon(found: Match) -> int:
    return found.text.index(":", found.unit.start)


def _is_of_label(found: Match) -> bool:
    """True unless a claim takes the value of a label line without its label."""
    if found.unit.kind is not UnitKind.LABEL:
        return True
    colon = _colon(found)
    sides = {found.unit.tokens[place].start < colon for place in found.places}
    return sides == {True, False}


def _is_other_clause(found: Match, before: int, after: int, claim_words: frozenset[str]) -> bool:
    """True when another subject or the same word lies between two matched tokens."""
    skipped = range(before + 1, after)
    if not skipped:
        return False
    tokens = found.unit.tokens
    said = {here.token.stem for here, _ in found.pairs if here.token.role is not TokenRole.NUMBER}
    if any(tokens[place].stem in said and found.is_content(place) for place in skipped):
        return True
    stops = [place for place in range(before, after) if found.stops(place)]
    if found.unit.kind is UnitKind.LABEL:
        colon = _colon(found)
        stops = [p for p in stops if not tokens[p].end <= colon <= tokens[p + 1].start]
    if not stops:
        return False
    is_inserted = before in stops and is_boundary(tokens[after - 1], tokens[after], found.text)
    behind = range(stops[0] + 1, after)
    subjects = _SUBJECTS - claim_words
    has_subject = any(found.is_content(p) or tokens[p].word in subjects for p in behind)
    return has_subject and not is_inserted


def _is_whole_above(found: Match) -> bool:
    """True unless the unit has words of its own where the claim has those from above it."""
    clause = found.clause()
    matched = set(found.places)
    for phrase in found.outside:
        before = [there.place for here, there in found.pairs if here.place < phrase.place]
        behind = [there.place for here, there in found.pairs if here.place > phrase.place]
        first = max(before) + 1 if before else clause.start
        last = min(behind) if behind else clause.stop
        if any(found.is_content(place) and place not in matched for place in range(first, last)):
            return False
    return True


def _is_in_column(found: Match) -> bool:
    """True when what a claim takes from a row is in the columns whose heads it names."""
    unit = found.unit
    behind = [_columns_behind(found.text, token.start, unit) for token in unit.tokens]
    columns = {place: behind[place] for place in found.places}
    label = max(behind)
    taken = {column for column in columns.values() if column != label}
    named = {
        _head_column(found, head)
        for phrase in found.outside
        for head in unit.head
        if are_same(phrase.token, head)
    } - {label}
    if label not in columns.values():
        return False
    if named:
        return bool(taken) and taken <= named
    numbers = [t for t in unit.tokens if t.role is TokenRole.NUMBER]
    takes_number = any(unit.tokens[place].role is TokenRole.NUMBER for place in columns)
    return bool(taken) and not (takes_number and len(numbers) > 1)


def _columns_behind(text: str, start: int, unit: Unit) -> int:
    end = text.find("\n", unit.end)
    return _separators(text[start : len(text) if end < 0 else end])


def _head_column(found: Match, head: ClaimToken) -> int:
    return _separators(found.text[head.start : found.unit.head_bounds[1]])


def _separators(written: str) -> int:
    written = written.strip()
    if "|" in written:
        return written.strip("|").count("|")
    return sum(1 for part in written.replace("\t", "   ").split("   ") if part.strip()) - 1
