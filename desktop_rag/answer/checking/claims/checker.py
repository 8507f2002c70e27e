"""Gives each claim its verdict against sources, without a language model, in milliseconds.

One worker thread. It compares words, and the meaning of the best sentences as a whole: a free
paraphrase looks less supported than it is, and the right words in a wrong relation look supported.
So it adds a probability, and the words to look at. In languages other than English that says
little, and a claim is not checked rather than called absent.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from desktop_rag.answer.checking.claims.backing import (
    Match,
    Phrase,
    are_same,
    detail_of,
    find_differences,
    is_function,
    is_other,
    is_plain_negation,
    is_said,
    matches,
    phrases_of,
    words_of,
)
from desktop_rag.answer.checking.claims.derived import (
    are_told_in_turn,
    is_count,
    is_derived,
    is_reckoned,
)
from desktop_rag.answer.checking.claims.exact import (
    COMPUTED,
    certain,
    said_exactly,
    unknown_figures,
)
from desktop_rag.answer.checking.claims.quantities import Quantity, quantities
from desktop_rag.answer.checking.claims.source_index import SourceIndex, Unit, UnitKind
from desktop_rag.answer.checking.claims.support import (
    SIMILARITY,
    CheckerModel,
    Comparison,
    Meaning,
    OpenModel,
    compare,
)
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole, tokenize_claim
from desktop_rag.answer.checking.claims.words import is_month, listed
from desktop_rag.core.claims import (
    CONTRADICTING,
    Basis,
    CheckedClaim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)
from desktop_rag.core.language.languages import (
    english_share,
    function_words,
    is_english,
    may_be_english,
    most_likely,
    writing_of,
)
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words

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
    """The unit that says a claim with another detail, or denies it, and the difference."""
    functions = _functions(claim, index)
    phrases = phrases_of(claim, text, functions)
    for unit in _candidates(claim, index, _LEAST_DENIED):
        found = _other_detail(text, claim, phrases, unit, index, functions)
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
    wanted = {t.stem for t in claim if t.is_content and t.role is not TokenRole.NUMBER}
    return (unit for unit in index.units if len(wanted & unit.stems) >= least * len(wanted))


def _clauses(text: str, claim: Sequence[ClaimToken]) -> Iterator[Sequence[ClaimToken]]:
    """The main clauses of a claim, each with a subject before its verb; one when unsure."""
    first = 0
    for place, (token, following) in enumerate(pairwise(claim), 1):
        is_joint = following.word in listed("joining") or _JOINT.search(
            text, token.end, following.start
        )
        if is_joint and _is_clause(claim[first:place]) and _is_clause(claim[place:]):
            yield claim[first:place]
            first = place
    yield claim[first:]


def _is_clause(part: Sequence[ClaimToken]) -> bool:
    verbs = listed("auxiliary")
    verb = next((n for n, token in enumerate(part) if token.word in verbs), len(part))
    return any(token.is_content for token in part[:verb]) and any(
        token.is_content for token in part[verb + 1 :]
    )


def _other_detail(
    text: str,
    claim: Sequence[ClaimToken],
    phrases: Sequence[Phrase],
    unit: Unit,
    index: SourceIndex,
    functions: frozenset[str],
) -> Difference | None:
    """A figure, month, weekday or unit where the unit has another one, and agrees in all else."""
    written = _words(claim)
    for phrase in phrases:
        said = phrase.token
        is_elsewhere = said.stem in index.stems and unit.kind is not UnitKind.LABEL
        detail = detail_of(claim, phrase.place, text)
        if is_elsewhere or detail is None:
            continue
        others = [
            token for place, token in enumerate(unit.tokens)
            if detail_of(unit.tokens, place, index.text) == detail
            and not any(are_same(own.token, token) for own in phrases)
        ]  # fmt: skip
        if len(others) != 1 or not is_other(said, others[0]):
            continue
        found = matches(phrases, unit, index.text, functions, (phrase, others[0]))
        if any(_is_enough(one) and is_said(one, written) for one in found):
            place = others[0].start, others[0].end
            return Difference(detail[0], (said.start, said.end), place)
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
    return any(token.word in listed("conditions") for token in tokens)


# Indexes of sources are cached up to this many characters in total; the latest always is.
_CACHED_CHARACTERS = 1 << 20
# Of a far longer claim, only the beginning is checked.
_MOST_TOKENS = 400
# The number of words that an explanation names.
_MOST_NAMED = 4
# Below this share of common words, claim and source may be in different languages.
_LEAST_IN_COMMON = 0.6
# The greatest support of a contradicted claim.
_CONTRADICTED_AT_MOST = 0.1
# So many of the claims of sets left out are true that the words alone would call likely, but that
# have a figure or name that no source has.
_UNKNOWN_AT_MOST = 0.25
# Of several sources, those with the best words are compared in meaning too, which takes longer.
_MOST_COMPARED = 3
# From here on the words of a claim are worth comparing with the units of a source.
_LEAST_NEAR = 0.28
# The number of a section is no other value of an amount.
_LEAST_AMOUNT = 1_000
# A claim is contradicted by a figure when the source says it with its own one, that surely.
_LEAST_MENDED = 0.55
# The characters before and behind the evidence whose figures a result may be of.
_NEAR = 200
_SAID = "The source says this."
_OTHER_WORDS = "The source says something near to this."
_MISSED = "Not in its source: {words}."
_IN_LANGUAGE = "Its words alone don't tell, and in this language no more is checked."
_IN_ROWS = "Its words alone don't tell, and its source has no sentences to read."
_MODEL = Path("claims") / "checker.toml"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A claim, as the source writes its numbers, compared with one of the sources."""

    source: int
    index: SourceIndex
    claim: Sequence[ClaimToken]
    comparison: Comparison
    similarity: float = 0.0
    support: float = 0.0

    @property
    def around(self) -> list[Quantity]:
        """The figures near its evidence."""
        start, end = self.comparison.window.span
        return [one for one in self.index.figures.all if start - _NEAR <= one.start < end + _NEAR]


class ClaimChecker:
    """Checks claims one by one; the sources of an answer are indexed once."""

    def __init__(self, open_model: OpenModel | None = None) -> None:
        self._meaning = Meaning(open_model)
        self._indexes: OrderedDict[str, SourceIndex] = OrderedDict()
        self._cached = 0
        self._lock = threading.Lock()

    @property
    def threshold(self) -> float:
        """The support from which a claim counts as supported in a two-class decision."""
        return self._model.threshold

    @cached_property
    def _model(self) -> CheckerModel:
        # Loaded at the first claim: parsing it would delay the start of the app.
        return CheckerModel.load(resources_dir() / _MODEL)

    def release(self) -> None:
        """Free the indexes of sources; they are built again when they are needed."""
        with self._lock:
            self._indexes.clear()
            self._cached = 0

    def check(self, claim: str, sources: Sequence[str], given: str = "", /) -> CheckedClaim:
        """Check a claim against all sources; the evidence is from the one with most support.

        Figures may also be of what is `given`: calculations that are right.
        """
        tokens = tokenize_claim(claim)[:_MOST_TOKENS]
        indexes = {number: self._index(text) for number, text in enumerate(sources)}
        readable = {number: index for number, index in indexes.items() if index.tokens}
        if not any(token.is_content for token in tokens):
            return _not_checked(claim, "It makes no statement that can be checked.")
        if not readable:
            return _not_checked(claim, "There is no source to check it against.")
        if exact := said_exactly(claim, tokens, readable):
            return exact
        unknown = unknown_figures(claim, readable)
        calculated = [one for one in unknown if _is_calculated(one, given, readable)]
        unknown = [one for one in unknown if one not in calculated]
        if calculated:
            # It tells of a day of its own: "In April 2027, the rent will be".
            unknown = [one for one in unknown if not (one.date or one.is_year)]
        foreign = {n for n, index in readable.items() if _is_foreign(claim, tokens, index)}
        near = {n: index for n, index in readable.items() if n not in foreign}
        if not near:
            why = _not_checked(claim, "Its sources are in another language.")
            return _unknown(claim, _figures(unknown), 0.0, None) if unknown else why
        found = sorted(
            self._compared(claim, tokens, near),
            key=lambda candidate: (-candidate.support, candidate.source),
        )
        checked = self._backed(claim, found, unknown) or self._checked(
            claim, found, unknown, calculated
        )
        if foreign and not unknown and checked.verdict is Verdict.NOT_IN_SOURCES:
            return _not_checked(claim, "A source is in another language.")
        return checked

    def _compared(
        self, claim: str, tokens: Sequence[ClaimToken], indexes: Mapping[int, SourceIndex]
    ) -> list[_Candidate]:
        found = [
            _Candidate(number, index, said, compare(said, index))
            for number, index in indexes.items()
            for said in [index.read(tokens, claim)]
        ]
        # The similarity only adds to the odds, so that any value gives the same order.
        found.sort(key=lambda one: -self._support(one.comparison, 0.0))
        best = found[:_MOST_COMPARED]
        passages = [one.index.text[slice(*one.comparison.window.span)] for one in best]
        similarities = self._meaning.similarities(claim, passages)
        return [
            replace(one, similarity=near, support=self._support(one.comparison, near))
            for one, near in zip(best, similarities, strict=True)
        ]

    def _support(self, comparison: Comparison, similarity: float) -> float:
        return self._model.support({**comparison.features, SIMILARITY: similarity})

    def _backed(
        self, claim: str, found: Sequence[_Candidate], unknown: Sequence[Quantity]
    ) -> CheckedClaim | None:
        """The claim, supported by the first source that says it in so many words."""
        for one in found if not unknown else ():
            is_near = one.support >= _LEAST_NEAR
            place = backing(claim, one.claim, one.index) if is_near else None
            if place:
                support = max(one.support, self._model.supported_from)
                evidence = Evidence(one.source, *place)
                return CheckedClaim(claim, Verdict.SUPPORTED, support, evidence, (), _SAID)
        return None

    def _checked(
        self,
        claim: str,
        found: Sequence[_Candidate],
        unknown: Sequence[Quantity],
        calculated: Sequence[Quantity],
    ) -> CheckedClaim:
        best = found[0]
        start, end = best.comparison.window.span
        around = [figure for one in found for figure in one.around]
        derived = [one for one in unknown if is_derived(one, around, claim)]
        given = [*unknown, *calculated]
        is_told = bool(given) and _is_told(claim, given, found, around)
        # Another source may say what the nearest one has otherwise.
        others = [one.index.figures for one in found[1:]]
        known = [
            *(one for one in quantities(claim) if any(other.has(one) for other in others)),
            *calculated,
            *(unknown if is_told else ()),
        ]
        differing = find_differences(claim, best.index, best.comparison.alignment)
        if differing.is_contradiction and not _are_of(known, differing.all):
            return _contradicted(claim, best, (start, end), differing.all)
        denied = denial(claim, best.claim, best.index)
        if denied and not _are_of(known, denied[1:]):
            return _contradicted(claim, best, (denied[0].start, denied[0].end), denied[1:])
        if is_told:
            place = Evidence(best.source, start, end)
            return certain(claim, place, COMPUTED, Basis.COMPUTED)
        exchanged = None if calculated or derived else self._exchanged(claim, best, unknown)
        if exchanged and not _are_of(known, (exchanged,)):
            return _contradicted(claim, best, (start, end), (exchanged,))
        # Among all the figures around, some two often give one that is invented.
        here = [one for one in best.index.figures.all if start <= one.start < end]
        given_here = [one for one in derived if is_derived(one, here, claim)]
        is_given = bool(calculated or given_here)
        unknown = [one for one in unknown if one not in given_here]
        return self._read(claim, found, unknown, differing.all, is_given=is_given)

    def _exchanged(
        self, claim: str, best: _Candidate, unknown: Sequence[Quantity]
    ) -> Difference | None:
        """The one figure that no source has, where its evidence would say the claim with its own.

        The claim is read again with the only other figure of that kind near the evidence.
        """
        if len(unknown) != 1:
            return None
        [said], index = unknown, best.index
        start, end = best.comparison.window.span
        own = quantities(claim)
        others = [
            one
            for one in index.figures.all
            if start <= one.start < end
            and one.is_like(said)
            and not any(map(one.equals, own))
            and not (is_count(one) and said.values[0] >= _LEAST_AMOUNT)
        ]
        if not others or any(not one.equals(others[0]) for one in others):
            return None
        if not said.date and any(map(others[0].is_written_for, said.values)):
            # 46 may be 46.5, rounded.
            return None
        place = others[0].start, others[0].end
        mended = claim[: said.start] + index.text[slice(*place)] + claim[said.end :]
        tokens = index.read(tokenize_claim(mended)[:_MOST_TOKENS], mended)
        support = self._support(compare(tokens, index), best.similarity)
        kind = DifferenceKind.DATE if said.date or said.is_year else DifferenceKind.NUMBER
        is_sure = support >= _LEAST_MENDED
        return Difference(kind, (said.start, said.end), place) if is_sure else None

    def _read(
        self,
        claim: str,
        found: Sequence[_Candidate],
        unknown: Sequence[Quantity],
        differing: Sequence[Difference],
        *,
        is_given: bool,
    ) -> CheckedClaim:
        """The verdict on a claim that no unit of a source says or denies, by its probability."""
        best, model = found[0], self._model
        said = words(claim)
        is_read = is_english(claim) and may_be_english(said)
        is_told = is_read and best.index.is_english
        named = _figures(unknown)
        if is_told and english_share(said):
            named += _names(claim, found, differing)
        elif most_likely(said) == best.index.writing.language:
            named += _full_names(claim, found)
        if is_given:
            named = [one for one in named if not is_month(claim[slice(*one.in_claim or (0, 0))])]
        evidence = Evidence(best.source, *best.comparison.window.span)
        if named:
            support = min(best.support, _UNKNOWN_AT_MOST)
            checked = _unknown(claim, named, support, evidence)
            contrast = _contrast(list(words_of(named, claim, best.index.text)))
            is_near = best.support >= model.threshold
            verdict = Verdict.PARTLY if is_near else Verdict.NOT_IN_SOURCES
            why = contrast or checked.explanation
            return replace(checked, verdict=verdict, explanation=why)
        if not is_told:
            return _not_checked(claim, _IN_ROWS if is_read else _IN_LANGUAGE)
        verdict, why = Verdict.PARTLY, _OTHER_WORDS
        is_low = best.support < model.unsupported_below
        # The evidence has another figure, unit or negation, or the opposite of a word.
        is_doubtful = best.comparison.features["opposites"] > 0 or any(
            one.kind is DifferenceKind.NEGATION or (one.kind in CONTRADICTING and one.in_source)
            for one in differing
        )
        if (is_low or is_doubtful) and not is_given:
            verdict, why = Verdict.NOT_IN_SOURCES, _unsaid_words(claim, found)
        shown = [one for one in differing if one.kind is DifferenceKind.WORD]
        if verdict is Verdict.NOT_IN_SOURCES:
            # What this place lacks, another one may have.
            others = (one for one in differing if one.kind is not DifferenceKind.NAME)
            shown += [
                one for one in others if one.kind is not DifferenceKind.WORD and one.in_source
            ]
        return CheckedClaim(claim, verdict, best.support, evidence, tuple(shown), why)

    def _index(self, text: str) -> SourceIndex:
        with self._lock:
            index = self._indexes.pop(text, None)
            if index is None:
                index = SourceIndex(text)
                self._cached += len(text)
            self._indexes[text] = index
            while self._cached > _CACHED_CHARACTERS and len(self._indexes) > 1:
                forgotten, _ = self._indexes.popitem(last=False)
                self._cached -= len(forgotten)
            return index


def _is_told(
    claim: str, given: Sequence[Quantity], found: Sequence[_Candidate], around: Sequence[Quantity]
) -> bool:
    """True when a claim says only results of calculations, of things that the sources name."""
    tokens = found[0].claim
    if _has_condition(tokens) or any(t.role is TokenRole.NEGATION for t in tokens):
        return False
    behind = [
        next((t for t in tokens if t.start >= one.end), None) for one in given if not one.unit
    ]
    counted = [token for token in behind if token and token.is_content]
    known = frozenset[str]().union(*(one.index.stems for one in found))
    if _absent_names(claim, found) or any(token.stem not in known for token in counted):
        return False
    beside = {token.word for one in found for token in one.comparison.window.tokens}
    own = [one for one in quantities(claim) if one not in given]
    return any(are_told_in_turn(given, known, claim, beside) for known in (around, own))


def _is_calculated(said: Quantity, given: str, sources: Mapping[int, SourceIndex]) -> bool:
    """True when a calculation before gave a figure, or a rate of one of the sources gives it."""
    if any(map(said.equals, quantities(given))):
        return True
    return any(is_reckoned(said, index) for index in sources.values())


def _are_of(figures: Sequence[Quantity], differences: Sequence[Difference]) -> bool:
    """True when one of the differences is at one of these figures of the claim."""
    spans = [one.in_claim for one in differences if one.in_claim]
    return any(one.start < end and start < one.end for one in figures for start, end in spans)


def _is_foreign(claim: str, tokens: Sequence[ClaimToken], index: SourceIndex) -> bool:
    """True when a source is clearly in another language and shares few words."""
    content = [token for token in tokens if token.is_content]
    found = sum(token.stem in index.stems for token in content)
    return found < _LEAST_IN_COMMON * len(content) and writing_of(claim).differs_from(index.writing)


def _not_checked(claim: str, why: str) -> CheckedClaim:
    return CheckedClaim(claim, Verdict.NOT_CHECKED, 0.0, None, (), why)


def _contradicted(
    claim: str, best: _Candidate, span: Span, differences: Sequence[Difference]
) -> CheckedClaim:
    told = sorted(differences, key=lambda one: one.kind not in CONTRADICTING)
    return CheckedClaim(
        claim,
        Verdict.CONTRADICTED,
        min(best.support, _CONTRADICTED_AT_MOST),
        Evidence(best.source, *span),
        tuple(differences),
        _contrast(list(words_of(told, claim, best.index.text))),
    )


def _unknown(
    claim: str, named: Sequence[Difference], support: float, evidence: Evidence | None
) -> CheckedClaim:
    """The claim with what its sources lack, by name."""
    spans = [one.in_claim for one in named if one.in_claim]
    words = ", ".join(dict.fromkeys(claim[start:end].strip() for start, end in spans[:_MOST_NAMED]))
    why = _MISSED.format(words=words)
    return CheckedClaim(claim, Verdict.NOT_IN_SOURCES, support, evidence, tuple(named), why)


def _figures(unknown: Sequence[Quantity]) -> list[Difference]:
    return [
        Difference(
            DifferenceKind.DATE if one.date or one.is_year else DifferenceKind.NUMBER,
            (one.start, one.end),
            None,
        )
        for one in unknown
    ]


def _names(
    claim: str, found: Sequence[_Candidate], differing: Sequence[Difference]
) -> list[Difference]:
    """The names that no source has, beside those in their place; acronyms may be written out."""
    spans = _absent_names(claim, found)
    paired = [
        one
        for one in differing
        if one.kind is DifferenceKind.NAME and one.in_claim and one.in_source
        and any(one.in_claim[0] <= start < one.in_claim[1] for start, _ in spans)
    ]  # fmt: skip
    alone = [Difference(DifferenceKind.NAME, span, None) for span in spans]
    return paired or alone


def _full_names(claim: str, found: Sequence[_Candidate]) -> list[Difference]:
    """The first and last names, as one, that no source has; a noun alone may be any word."""
    pairs = pairwise(_absent_names(claim, found))
    return [
        Difference(DifferenceKind.NAME, (first, end), None)
        for (first, before), (behind, end) in pairs
        if claim[before:behind] == " "
    ]


def _absent_names(claim: str, found: Sequence[_Candidate]) -> list[Span]:
    return [
        (token.start, token.end)
        for token in found[0].claim
        if token.role is TokenRole.NAME
        and not claim[token.start : token.end].isupper()
        and not any(
            token.stem in one.index.stems or one.index.has_form_of(token.stem) for one in found
        )
    ]


def _unsaid_words(claim: str, found: Sequence[_Candidate]) -> str:
    """The words that are in no source, or that they are apart; figures may be written otherwise."""
    absent = [
        token
        for token in found[0].claim
        if token.is_content
        and token.role is not TokenRole.NUMBER
        and not any(token.stem in one.index.stems for one in found)
    ]
    absent.sort(key=lambda token: -token.weight)
    named = dict.fromkeys(claim[token.start : token.end] for token in absent)
    if named:
        return f"Not found in the sources: {', '.join(list(named)[:_MOST_NAMED])}."
    return "The source has these words, but not together."


def _contrast(pairs: Sequence[tuple[Difference, str, str]]) -> str:
    for difference, said, written in pairs:
        if said and written:
            return f"The source says {written.strip()}, the answer {said.strip()}."
        if difference.kind is DifferenceKind.NEGATION and written:
            return f"The source says “{written}”, the answer doesn't."
        if difference.kind is DifferenceKind.NEGATION:
            return f"The answer says “{said}”, the source doesn't."
    return ""
