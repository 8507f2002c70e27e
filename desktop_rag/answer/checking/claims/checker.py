"""Checks claims against sources on this computer, without a language model, in milliseconds.

One worker thread. It compares words, and the meaning of the best sentences as a whole: a free
paraphrase looks less supported than it is, and the right words in a wrong relation look supported.
So it gives a probability, and the words to look at. In languages other than English that says
little, and a claim is not checked rather than called absent.
"""

import functools
import math
import re
import threading
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from desktop_rag.answer.checking.claims.backing import (
    Match,
    Phrase,
    are_same,
    find_differences,
    is_function,
    is_other_number,
    is_plain_negation,
    is_said,
    kind_of,
    matches,
    phrases_of,
    words_of,
)
from desktop_rag.answer.checking.claims.source_index import SourceIndex, Window
from desktop_rag.answer.checking.claims.tokens import (
    Alignment,
    ClaimToken,
    TokenRole,
    align,
    is_rounded,
    tokenize_claim,
)
from desktop_rag.answer.checking.claims.units import Unit, UnitKind
from desktop_rag.answer.checking.claims.words import has_opposite, word_lists, writing_of
from desktop_rag.core.claims import (
    CONTRADICTING,
    CheckedClaim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)
from desktop_rag.core.language.languages import function_words
from desktop_rag.core.paths import resources_dir
from desktop_rag.models.embedding.joined_embedding import BUNDLED, bundled_opener
from desktop_rag.models.ports import Embedder

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


_FURTHEST = 30.0


@dataclass(frozen=True, slots=True)
class CheckerModel:
    """A logistic regression of the support of a claim, fitted by `training/fit_checker.py`.

    Its weights keep the directions of the features. A claim counts as supported from
    `supported_from` on, and as absent from the sources below `unsupported_below`; `threshold`
    separates two classes.
    """

    weights: Mapping[str, float]
    intercept: float
    threshold: float
    supported_from: float
    unsupported_below: float

    @classmethod
    @functools.cache
    def load(cls, path: Path) -> "CheckerModel":
        """Read the file with the fitted numbers, once per process."""
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        bounds = table["threshold"], table["supported_from"], table["unsupported_below"]
        return cls(table["weights"], table["intercept"], *bounds)

    def support(self, values: Mapping[str, float]) -> float:
        """The probability that the claim is supported, 0 to 1, from the features by name."""
        odds = self.intercept + sum(weight * values[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-_FURTHEST, min(_FURTHEST, odds))))


OpenModel = Callable[[str], Embedder]


class Meaning:
    """Compares claims with passages by the English bundled model, loaded on first use."""

    def __init__(self, open_model: OpenModel | None = None) -> None:
        """`open_model` gives a bundled model by its spec; without it one is loaded for this."""
        self._open_model = open_model or bundled_opener(threads=1)

    def similarities(self, claim: str, passages: Sequence[str]) -> list[float]:
        """The cosine of the claim and each passage, -1 to 1."""
        vectors = self._open_model(BUNDLED).embed_passages([claim, *passages])
        return (vectors[1:] @ vectors[0]).tolist()


SIMILARITY = "similarity"
# The features by name: more of it lowers the support (-1) or raises it (1).
FEATURES: Mapping[str, int] = {
    # The share of missing content words, by weight: in the whole source, where other forms of a
    # word count as found, and in the two sentences that together have most of them.
    "missing": -1,
    "missing_in_two_sentences": -1,
    # Shares within each role.
    "names_missing": -1,
    "numbers_missing_in_window": -1,
    "degrees_missing_in_window": -1,
    "opposites": -1,
    # The share of neighbouring words that are no neighbours in the window.
    "neighbours_parted_in_window": -1,
    # The similarity in meaning of the claim and the window.
    SIMILARITY: 1,
}
# The number of sentences in a window.
WINDOW_SENTENCES = 2
_MOST_OPPOSITES = 2


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim compared with a source: its best window, the alignment, the features by name.

    All are shares, whatever the lengths. The similarity takes longer, and is added where it
    matters.
    """

    window: Window
    alignment: Alignment
    features: dict[str, float] = field(repr=False)


def compare(claim: Sequence[ClaimToken], index: SourceIndex) -> Comparison:
    """Compare a claim that has content words with a source that has words."""
    content = [token for token in claim if token.is_content]
    weights: dict[str, float] = {}
    for token in content:
        weights[token.stem] = weights.get(token.stem, 0.0) + token.weight
    total = sum(weights.values())
    window, _ = index.best_window(weights, WINDOW_SENTENCES)
    values = {
        "missing": _missing(content, index) / total,
        "missing_in_two_sentences": 1 - _in_two_sentences(weights, index) / total,
        "names_missing": _share_of(not _has(index, t) for t in claim if t.role is TokenRole.NAME),
        "numbers_missing_in_window": _share_of(
            not _has_number(window, t) for t in claim if t.role is TokenRole.NUMBER
        ),
        "degrees_missing_in_window": _share_of(
            t.stem not in window.stems for t in claim if t.role is TokenRole.DEGREE
        ),
        "opposites": _opposites(content, window),
        "neighbours_parted_in_window": _parted(content, index, window),
    }
    assert {*values, SIMILARITY} == FEATURES.keys()
    return Comparison(window, align(claim, window.tokens), values)


def _has(index: SourceIndex, token: ClaimToken) -> bool:
    return token.stem in index.stems


def _has_number(window: Window, token: ClaimToken) -> bool:
    return token.stem in window.stems or any(
        is_rounded(token.stem, other.stem)
        for other in window.tokens
        if other.role is TokenRole.NUMBER
    )


def _missing(content: Sequence[ClaimToken], index: SourceIndex) -> float:
    missing = (token for token in content if not _has(index, token))
    return sum(token.weight for token in missing if not index.has_form_of(token.stem))


def _in_two_sentences(weights: Mapping[str, float], index: SourceIndex) -> float:
    """The weight of the stems in the best sentence, and in the one that adds most to it."""
    best, found = index.best_window(weights, 1)
    rest = {stem: weight for stem, weight in weights.items() if stem not in best.stems}
    return found + index.best_window(rest, 1)[1]


def _share_of(misses: Iterable[bool]) -> float:
    # Smoothed: one of one counts half, since a share of few words says little.
    found = list(misses)
    return sum(found) / (len(found) + 1)


def _opposites(content: Sequence[ClaimToken], window: Window) -> float:
    found = sum(
        token.stem not in window.stems and has_opposite(token.stem, window.stems)
        for token in content
    )
    return float(min(found, _MOST_OPPOSITES))


def _parted(content: Sequence[ClaimToken], index: SourceIndex, window: Window) -> float:
    stems = [token.stem for token in content]
    wanted, known = list(pairwise(stems)), set(stems)
    near: set[tuple[str, str]] = set()
    for sentence in index.sentences_of(window):
        found = [token.stem for token in sentence if token.stem in known]
        near.update(pairwise(found), zip(found, found[2:], strict=False))
    return 1 - sum(pair in near for pair in wanted) / len(wanted) if wanted else 0.0


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
# Of several sources, those with the best words are compared in meaning too, which takes longer.
_MOST_COMPARED = 3
# In another language than English, words tell that a source says a claim only when all but this
# share of them, by weight, are in two of its sentences, and all but this share of neighbours are.
_MOST_MISSING, _MOST_PARTED = 0.05, 0.35
_MODEL = Path("claims") / "checker.toml"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A claim, as the source writes its numbers, compared with one of the sources."""

    source: int
    index: SourceIndex
    claim: Sequence[ClaimToken]
    comparison: Comparison
    support: float


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

    @property
    def _model(self) -> CheckerModel:
        # Loaded at the first claim: parsing it would delay the start of the app.
        return CheckerModel.load(resources_dir() / _MODEL)

    def release(self) -> None:
        """Free the indexes of sources; they are built again when they are needed."""
        with self._lock:
            self._indexes.clear()
            self._cached = 0

    def check(self, claim: str, sources: Sequence[str]) -> CheckedClaim:
        """Check a claim against all sources; the evidence is from the one with most support."""
        tokens = tokenize_claim(claim)[:_MOST_TOKENS]
        indexes = {number: self._index(text) for number, text in enumerate(sources)}
        readable = {number: index for number, index in indexes.items() if index.tokens}
        if not any(token.is_content for token in tokens):
            return _not_checked(claim, "It makes no statement that can be checked.")
        if not readable:
            return _not_checked(claim, "There is no source to check it against.")
        foreign = {n for n, index in readable.items() if _is_foreign(claim, tokens, index)}
        readable = {n: index for n, index in readable.items() if n not in foreign}
        if not readable:
            return _not_checked(claim, "Its sources are in another language.")
        found = sorted(
            self._compared(claim, tokens, readable),
            key=lambda candidate: (-candidate.support, candidate.source),
        )
        known = {
            token.start
            for index in readable.values()
            for token in index.read(tokens)
            if token.stem in index.stems
        }
        absent = [token for token in tokens if token.start not in known]
        checked = self._backed(claim, found) or self._checked(claim, found[0], absent)
        if foreign and checked.verdict is Verdict.NOT_IN_SOURCES:
            return _not_checked(claim, "A source is in another language.")
        return checked

    def _compared(
        self, claim: str, tokens: Sequence[ClaimToken], indexes: Mapping[int, SourceIndex]
    ) -> list[_Candidate]:
        found = [
            _Candidate(number, index, said, compare(said, index), 0.0)
            for number, index in indexes.items()
            for said in [index.read(tokens)]
        ]
        # The similarity only adds to the odds, so that any value gives the same order.
        found.sort(key=lambda one: -self._support(one, 0.0))
        best = found[:_MOST_COMPARED]
        passages = [one.index.text[slice(*one.comparison.window.span)] for one in best]
        similarities = self._meaning.similarities(claim, passages)
        return [
            replace(one, support=self._support(one, similarity))
            for one, similarity in zip(best, similarities, strict=True)
        ]

    def _support(self, candidate: _Candidate, similarity: float) -> float:
        return self._model.support({**candidate.comparison.features, SIMILARITY: similarity})

    def _backed(self, claim: str, found: Sequence[_Candidate]) -> CheckedClaim | None:
        """The claim, supported by the first source that says it in so many words."""
        for one in found:
            is_near = one.support >= self._model.unsupported_below
            place = backing(claim, one.claim, one.index) if is_near else None
            if place and not _other_units(claim, one):
                evidence = Evidence(one.source, *place)
                support = max(one.support, self._model.supported_from)
                said = "The source says this."
                return CheckedClaim(claim, Verdict.SUPPORTED, support, evidence, (), said)
        return None

    def _checked(self, claim: str, best: _Candidate, absent: Sequence[ClaimToken]) -> CheckedClaim:
        found = find_differences(claim, best.index, best.comparison.alignment)
        start, end = best.comparison.window.span
        differences = found.all
        denied = None if found.is_contradiction else denial(claim, best.claim, best.index)
        if denied:
            (start, end), differences = (denied[0].start, denied[0].end), (denied[1],)
        is_denied = found.is_contradiction or denied is not None
        support = min(best.support, _CONTRADICTED_AT_MOST) if is_denied else best.support
        checked = CheckedClaim(
            claim=claim,
            verdict=Verdict.CONTRADICTED if is_denied else self._verdict(support, best, claim),
            support=support,
            evidence=Evidence(best.source, start, end),
            differences=differences,
            explanation="",
        )
        return replace(checked, explanation=_explanation(checked, best.index.text, absent))

    def _verdict(self, support: float, best: _Candidate, claim: str) -> Verdict:
        """The verdict on a claim that no unit of a source says or denies."""
        is_told = best.index.is_english and writing_of(claim).language in ("", "en")
        if not is_told and not _is_copied(best):
            return Verdict.NOT_CHECKED
        if support >= self._model.unsupported_below:
            return Verdict.PARTLY
        return Verdict.NOT_IN_SOURCES

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


def _is_foreign(claim: str, tokens: Sequence[ClaimToken], index: SourceIndex) -> bool:
    """True when a source is clearly in another language and shares few words."""
    content = [token for token in tokens if token.is_content]
    found = sum(token.stem in index.stems for token in content)
    return found < _LEAST_IN_COMMON * len(content) and writing_of(claim).differs_from(index.writing)


def _is_copied(candidate: _Candidate) -> bool:
    """True when nearly all words of the claim are in the source, in nearly the same order."""
    found = candidate.comparison.features
    return (
        found["missing_in_two_sentences"] < _MOST_MISSING
        and found["neighbours_parted_in_window"] < _MOST_PARTED
    )


def _not_checked(claim: str, why: str) -> CheckedClaim:
    return CheckedClaim(claim, Verdict.NOT_CHECKED, 0.0, None, (), why)


def _other_units(claim: str, candidate: _Candidate) -> bool:
    found = find_differences(claim, candidate.index, candidate.comparison.alignment)
    return any(one.kind is DifferenceKind.UNIT for one in found.all)


def _explanation(checked: CheckedClaim, source: str, absent: Sequence[ClaimToken]) -> str:
    """One sentence: the difference, else the missing words, else the verdict."""
    # Beside any other verdict than a contradiction, such words would tell of one.
    told = CONTRADICTING if checked.verdict is Verdict.CONTRADICTED else (DifferenceKind.NAME,)
    differences = [one for one in checked.differences if one.kind in told]
    contrast = _contrast(list(words_of(differences, checked.claim, source)))
    named = dict.fromkeys(
        checked.claim[token.start : token.end]
        for token in sorted(absent, key=lambda token: -token.weight)
        if token.is_content
    )
    missing = ", ".join(list(named)[:_MOST_NAMED])
    match checked.verdict:
        case Verdict.NOT_CHECKED:
            return "Its words alone don't tell, and in this language no more is checked."
        case _ if contrast:
            return contrast
        case _ if missing:
            return f"Not found in the sources: {missing}."
        case _:
            return "The source has these words, but not together."


def _contrast(pairs: Sequence[tuple[Difference, str, str]]) -> str:
    for difference, said, written in pairs:
        if said and written:
            return f"The source says {written}, the answer {said}."
        if difference.kind is DifferenceKind.NEGATION and written:
            return f"The source says “{written}”, the answer doesn't."
        if difference.kind is DifferenceKind.NEGATION:
            return f"The answer says “{said}”, the source doesn't."
    return ""
