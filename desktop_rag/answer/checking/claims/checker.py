"""Checks claims against sources on this computer, without a language model, in milliseconds.

One worker thread. It compares words, and the meaning of the best sentences as a whole: a free
paraphrase looks less supported than it is, and the right words in a wrong relation look supported.
So it gives a probability, and the words to look at. In other languages than English that
probability says little, and a claim is not checked rather than called absent.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_rag.answer.checking.claims.differences import find_differences, words_of
from desktop_rag.answer.checking.claims.features import SIMILARITY, Comparison, compare
from desktop_rag.answer.checking.claims.languages import writing_of
from desktop_rag.answer.checking.claims.meaning import Meaning, OpenModel
from desktop_rag.answer.checking.claims.model import CheckerModel
from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.statements import backing, denial
from desktop_rag.answer.checking.claims.tokens import ClaimToken, tokenize_claim
from desktop_rag.core.claims import (
    CONTRADICTING,
    CheckedClaim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)
from desktop_rag.core.paths import resources_dir

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
        """`open_model` gives a bundled model by its spec; without it one is loaded for this."""
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

    def let_go(self) -> None:
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
        """The claim compared with the sources that have most of its words."""
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
    """True when the numbers of a claim have another unit in the source."""
    found = find_differences(claim, candidate.index, candidate.comparison.alignment)
    return any(one.kind is DifferenceKind.UNIT for one in found.all)


def _explanation(checked: CheckedClaim, source: str, absent: Sequence[ClaimToken]) -> str:
    """One sentence: the difference, else the missing words, else the verdict."""
    # Beside any other verdict than a contradiction, such words would tell of one.
    told = CONTRADICTING if checked.verdict is Verdict.CONTRADICTED else (DifferenceKind.NAME,)
    differences = [one for one in checked.differences if one.kind in told]
    contrast = _contrast(list(words_of(differences, checked.claim, source)))
    missing = _named(
        checked.claim[token.start : token.end]
        for token in sorted(absent, key=lambda token: -token.weight)
        if token.is_content
    )
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
    """The first difference between both sides; "" when there is none."""
    for difference, said, written in pairs:
        if said and written:
            return f"The source says {written}, the answer {said}."
        if difference.kind is DifferenceKind.NEGATION and written:
            return f"The source says “{written}”, the answer doesn't."
        if difference.kind is DifferenceKind.NEGATION:
            return f"The answer says “{said}”, the source doesn't."
    return ""


def _named(words: Iterable[str]) -> str:
    return ", ".join(list(dict.fromkeys(words))[:_MOST_NAMED])
