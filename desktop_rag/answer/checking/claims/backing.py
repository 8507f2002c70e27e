"""Compares a claim with a unit of a source: whether it says the claim, and how they differ. Pure.

Shared words are not enough: the lessee's name stands near the lessor's. Every content word of the
claim must be in one unit or in what stands above it, reordered words need the same preposition in
both, and no negation, condition or other subject may lie between them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, zip_longest

from desktop_rag.answer.checking.claims.source_index import SourceIndex, Unit, UnitKind
from desktop_rag.answer.checking.claims.tokens import (
    Alignment,
    ClaimToken,
    Gap,
    TokenRole,
    in_order,
    is_rounded,
)
from desktop_rag.answer.checking.claims.words import (
    LEAST_EQUAL,
    first_of,
    has_opposite,
    is_month,
    listed,
    unit_named,
)
from desktop_rag.core.claims import Difference, DifferenceKind

_STOPS = re.compile(r"[,;:()|–—]|\.\s|\n\s*\n")
_FURTHEST = 6
# Other forms of a word have no more other letters behind those that are equal.
_MOST_OTHER = 3
# A number is rounded a little when so many of its figures are left, or only its decimals are not.
_LEAST_FIGURES, _LEAST_WHOLE = 3, 10
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
        and (token.word in functions or token.word in listed("conditions"))
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
    is_begun = False
    for at in range(place - 1, max(-1, place - 1 - _FURTHEST), -1):
        if is_boundary(tokens[at], tokens[at + 1], text):
            break
        if _is_apart(tokens[at], tokens[at + 1], text):
            break
        word = tokens[at].word
        if word in first_of("relations"):
            return first_of("relations")[word], True
        if word in listed("circumstances"):
            return word, False
        if word in listed("determiners") and not is_begun:
            is_begun = True
        elif is_begun or (is_function(tokens[at], functions) and word not in ("and", "und")):
            break
    return "", False


def _is_apart(before: ClaimToken, after: ClaimToken, text: str) -> bool:
    """True for a verb behind a name, as German has it: "von Niels gebaut"."""
    return before.role is TokenRole.NAME and text[after.start].islower()


_AGENT = ("by", "von")
# Prepositions that a claim may have and its source not, such as "by" for the active voice.
_FREE = frozenset(("by", "von", "bis", "auf", "to"))
_LEAST_MATCHED = 2
_SIGNS = "%€$£¥"
# Pronouns that begin a clause with a subject of its own.
_SUBJECTS = frozenset(
    ("those", "these", "they", "it", "he", "she", "others", "one", "er", "sie", "diese", "jene")
)


@dataclass(frozen=True, slots=True)
class Match:
    """The words of a claim paired with those of a unit; `outside` only stand above the unit."""

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
        return is_boundary(tokens[place], tokens[place + 1], self.text) or tokens[
            place + 1
        ].word in listed("joining")

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
    used = set(pairs.values())
    for place, row in enumerate(same):
        free = (n for n, is_same in enumerate(row) if is_same and n not in used)
        if place not in pairs and (found := next(free, None)) is not None:
            pairs[place] = found
            used.add(found)


def _is_missing(token: ClaimToken, unit: Unit, text: str) -> bool:
    """True when a unit certainly lacks a word, without comparing each of its words."""
    return (
        token.stem not in unit.stems
        and token.role is not TokenRole.NUMBER
        and token.word[:LEAST_EQUAL] not in unit.beginnings
        and not _is_optional(token, unit, text)
    )


def is_said(found: Match, claim_words: frozenset[str]) -> bool:
    """True when the words of a claim have the roles in the unit that the claim gives them."""
    if found.unit.kind is UnitKind.ROW or not _is_as_free(found, claim_words):
        return False
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
    is_figure = token.role is TokenRole.NUMBER and not _YEAR.fullmatch(token.stem)
    return token.stem in unit.above and not is_figure


def _is_optional(token: ClaimToken, unit: Unit, text: str) -> bool:
    if token.word in listed("attributing") or _has_sign_of(
        token, text[max(0, unit.start - 2) : unit.end + 2]
    ):
        return True
    return unit.kind is not UnitKind.SENTENCE and token.word in listed("linking")


def _has_sign_of(token: ClaimToken, written: str) -> bool:
    """True for a unit of measure that is written as a sign: 780 €."""
    name = unit_named(token.word)
    return bool(name) and any(unit_named(sign) == name for sign in _SIGNS if sign in written)


def _is_as_free(found: Match, claim_words: frozenset[str]) -> bool:
    """True when no negation, condition or modal verb of the unit is left out or put in."""
    tokens = found.unit.tokens
    near = (tokens[place].word for place in found.clauses_near())
    if any(word in listed("conditions") and word not in claim_words for word in near):
        return False
    matched, inside = set(found.places), [tokens[place] for place in found.clause()]
    for place in found.clause():
        if tokens[place].role is TokenRole.NEGATION and place not in matched:
            return False
    for modals in (listed("permitting"), listed("obliging")):
        theirs = any(t.word in modals and t.role is not TokenRole.NAME for t in inside)
        if bool(modals & claim_words) != theirs:
            return False
    return True


def _has_its_order(found: Match, claim_words: frozenset[str]) -> bool:
    """True when no before, after, above or the like of a claim is missing in the unit."""
    relations = first_of("relations")
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
    said = [one[0].token, other[0].token]
    is_figure = any(token.role is TokenRole.NUMBER for token in said)
    if is_figure and any(unit_named(token.word) for token in said):
        return True  # EUR 780 and 780 euros
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
    if tokens[after].role is TokenRole.NAME and _is_label(found, before, after):
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


def _is_label(found: Match, before: int, after: int) -> bool:
    """True when a bracket ends behind a token, so that it tells of what stands before that."""
    tokens = found.unit.tokens
    closing = found.text.find(")", tokens[before].end, tokens[after].start)
    opening = found.text.rfind("(", found.unit.start, tokens[before].start)
    return closing >= 0 and opening > found.text.rfind(")", found.unit.start, tokens[before].start)


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


Span = tuple[int, int]

_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}")
_NOT_DIGIT = re.compile(r"\D")
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
_MOST_UNEXPLAINED = 0.3


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


def find_differences(claim_text: str, index: SourceIndex, alignment: Alignment) -> Differences:
    """Compare a claim with the window of a source that it was aligned with.

    A contradiction is reported only when it is certain: the window has nearly all words of the
    claim in the same order, and differs in a number, date, name or opposite.
    """
    found = _Found()
    for gap in alignment.gaps():
        _compare_gap(claim_text, index, gap, found)
    is_sure = found.explained > 0 and _agrees_otherwise(alignment, found.explained)
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
            if other and _is_exchanged(kind, token, other, index):
                found.explained += token.weight


def is_plain_negation(token: ClaimToken) -> bool:
    """True for a word that always negates."""
    return token.word in listed("plain_negation") or token.word.endswith("n't")


def _is_other_number(token: ClaimToken, other: ClaimToken) -> bool:
    """True when a number certainly differs: 36 may be a part of 36,000, 7 may be 7.5 rounded."""
    if is_rounded(token.stem, other.stem):
        return False
    one, two = (_NOT_DIGIT.sub("", number.stem) for number in (token, other))
    return not (one and two) or not (one.startswith(two) or two.startswith(one))


def _is_exchanged(
    kind: DifferenceKind, token: ClaimToken, other: ClaimToken, index: SourceIndex
) -> bool:
    """True for another figure, a name that the source doesn't have, and the opposite of a word."""
    if kind in _EXCHANGED:
        return token.stem not in index.stems and _is_other_number(token, other)
    if kind is DifferenceKind.NAME:
        return token.stem not in index.stems and not index.has_form_of(token.stem)
    return kind is DifferenceKind.WORD and has_opposite(token.stem, frozenset((other.stem,)))


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
    is_unit = token.role is TokenRole.NAME and unit_named(token.word)
    if token.role in (TokenRole.FUNCTION, TokenRole.FRAMING) or is_unit:
        return None
    return _KINDS.get(token.role, DifferenceKind.WORD)


def detail_of(
    tokens: Sequence[ClaimToken], place: int, text: str
) -> tuple[DifferenceKind, str] | None:
    """The kind of an exact detail: a figure, a month, a weekday, a unit behind a figure."""
    token = tokens[place]
    kind = kind_of(token, text)
    if token.role is TokenRole.NUMBER:
        return (kind, "figure") if kind else None
    if token.word in listed("weekdays"):
        return DifferenceKind.DATE, "weekday"
    if kind is DifferenceKind.DATE:
        return kind, "month"
    is_behind = place > 0 and tokens[place - 1].role is TokenRole.NUMBER
    return (DifferenceKind.UNIT, "unit") if is_behind and unit_named(token.word) else None


def is_other(token: ClaimToken, other: ClaimToken) -> bool:
    """True when two details of one kind certainly differ."""
    if token.role is TokenRole.NUMBER:
        return _is_other_number(token, other)
    return not unit_named(token.word) or unit_named(token.word) != unit_named(other.word)


def _agrees_otherwise(alignment: Alignment, explained: float) -> bool:
    content = [token for token in alignment.claim if token.is_content]
    agreed = [alignment.claim[one] for one, _ in alignment.pairs]
    agreeing = [token for token in agreed if token.is_content]
    weight = sum(token.weight for token in content)
    unexplained = weight - sum(token.weight for token in agreeing) - explained
    return len(agreeing) >= _LEAST_AGREED and unexplained <= _MOST_UNEXPLAINED * weight


def _span(token: ClaimToken | None) -> Span | None:
    return (token.start, token.end) if token else None
