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

from desktop_rag.answer.checking.claims.differences import Differences, find_differences, words_of
from desktop_rag.answer.checking.claims.features import SIMILARITY, Comparison, compare
from desktop_rag.answer.checking.claims.languages import is_english, writing_of
from desktop_rag.answer.checking.claims.meaning import Meaning, OpenModel
from desktop_rag.answer.checking.claims.model import CheckerModel
from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.tokens import ClaimToken, tokenize_claim
from desktop_rag.core.claims import CheckedClaim, Difference, DifferenceKind, Evidence, Verdict
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
# A claim with one of these differences is never supported.
_DECISIVE = frozenset(
    (DifferenceKind.NUMBER, DifferenceKind.DATE, DifferenceKind.UNIT, DifferenceKind.NEGATION)
)
# Of several sources, those with the best words are compared in meaning too, which takes longer.
_MOST_COMPARED = 3
# In another language than English, words tell that a source says a claim only when all but this
# share of them, by weight, are in two of its sentences, and all but this share of neighbours are.
_MOST_MISSING, _MOST_PARTED = 0.05, 0.35
_MODEL = Path("claims") / "checker.toml"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A claim compared with one of the sources."""

    source: int
    index: SourceIndex
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
        readable = {n: i for n, i in readable.items() if not _is_foreign(claim, tokens, i)}
        if not readable:
            return _not_checked(claim, "Its sources are in another language.")
        best = max(
            self._compared(claim, tokens, readable),
            key=lambda candidate: (candidate.support, -candidate.source),
        )
        return self._checked(claim, tokens, best, list(readable.values()))

    def _compared(
        self, claim: str, tokens: Sequence[ClaimToken], indexes: Mapping[int, SourceIndex]
    ) -> list[_Candidate]:
        """The claim compared with the sources that have most of its words."""
        found = [(number, index, compare(tokens, index)) for number, index in indexes.items()]
        # The similarity only adds to the odds, so that any value gives the same order.
        found.sort(key=lambda one: -self._model.support({**one[2].features, SIMILARITY: 0.0}))
        best = found[:_MOST_COMPARED]
        passages = [index.text[slice(*one.window.span)] for _, index, one in best]
        similarities = self._meaning.similarities(claim, passages)
        return [
            _Candidate(
                number, index, one, self._model.support({**one.features, SIMILARITY: similarity})
            )
            for (number, index, one), similarity in zip(best, similarities, strict=True)
        ]

    def _checked(
        self, claim: str, tokens: Sequence[ClaimToken], best: _Candidate, indexes: list[SourceIndex]
    ) -> CheckedClaim:
        found = find_differences(claim, best.index, best.comparison.alignment)
        support = best.support
        if found.is_contradiction:
            support = min(support, _CONTRADICTED_AT_MOST)
        start, end = best.comparison.window.span
        checked = CheckedClaim(
            claim=claim,
            verdict=self._verdict(support, found, best, claim),
            support=support,
            evidence=Evidence(best.source, start, end),
            differences=found.all,
            explanation="",
        )
        absent = [t for t in tokens if not any(t.stem in index.stems for index in indexes)]
        return replace(checked, explanation=_explanation(checked, best.index.text, absent))

    def _verdict(self, support: float, found: Differences, best: _Candidate, claim: str) -> Verdict:
        if found.is_contradiction:
            return Verdict.CONTRADICTED
        if not is_english(f"{claim}\n{best.index.text}") and not _is_copied(best):
            return Verdict.NOT_CHECKED
        # With one wrong number among many right words, the score alone stays high.
        if support >= self._model.supported_from and not any(map(_is_decisive, found.all)):
            return Verdict.SUPPORTED
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


def _is_decisive(difference: Difference) -> bool:
    return difference.kind in _DECISIVE


def _explanation(checked: CheckedClaim, source: str, absent: Sequence[ClaimToken]) -> str:
    """One sentence: the difference, else the missing words, else the verdict."""
    contrast = _contrast(list(words_of(checked.differences, checked.claim, source)))
    missing = _named(
        checked.claim[token.start : token.end]
        for token in sorted(absent, key=lambda token: -token.weight)
        if token.is_content
    )
    match checked.verdict:
        case Verdict.NOT_CHECKED:
            return "Its words alone don't tell, and in this language no more is checked."
        case Verdict.SUPPORTED if missing:
            return f"The source says this, but not the words: {missing}."
        case Verdict.SUPPORTED:
            return "The source says this."
        case _ if contrast:
            return contrast
        case _ if missing:
            return f"Not found in the sources: {missing}."
        case _:
            return "The source has these words, but not together."


def _contrast(pairs: Sequence[tuple[Difference, str, str]]) -> str:
    """The first difference between both sides; "" when there is none."""
    for difference, said, written in pairs:
        if said and written and difference.kind is not DifferenceKind.WORD:
            return f"The source says {written}, the answer {said}."
        if difference.kind is DifferenceKind.NEGATION and written:
            return f"The source says “{written}”, the answer doesn't."
        if difference.kind is DifferenceKind.NEGATION:
            return f"The answer says “{said}”, the source doesn't."
    return ""


def _named(words: Iterable[str]) -> str:
    return ", ".join(list(dict.fromkeys(words))[:_MOST_NAMED])
