"""Checks claims against sources on this computer: no model, no network, some milliseconds a claim.

One worker thread. It tells by words: what is said in quite other words looks unsupported to it, and
right words in a wrong relation supported. So it says how likely, and which words to look at.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_rag.answer.checking.claims.differences import Differences, find_differences, words_of
from desktop_rag.answer.checking.claims.features import Comparison, compare
from desktop_rag.answer.checking.claims.languages import writing_of
from desktop_rag.answer.checking.claims.model import CheckerModel
from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.tokens import ClaimToken, tokenize_claim
from desktop_rag.core.claims import CheckedClaim, Difference, DifferenceKind, Evidence, Verdict
from desktop_rag.core.paths import resources_dir

# Sources taken apart are remembered up to so many characters together, the latest at least.
_REMEMBERED_CHARACTERS = 1 << 20
# Of what is far longer than any sentence, the beginning is checked.
_MOST_TOKENS = 400
# So many different words are named in an explanation.
_MOST_NAMED = 4
# Texts in one language have such a share of a claim's words in common, or may be in two.
_LEAST_IN_COMMON = 0.6
# A contradiction leaves at most such support.
_CONTRADICTED_AT_MOST = 0.1
# What no claim that is told as supported may have differently.
_WEIGHTY = frozenset(
    (DifferenceKind.NUMBER, DifferenceKind.DATE, DifferenceKind.UNIT, DifferenceKind.NEGATION)
)
_MODEL = Path("claims") / "checker.toml"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A claim held against one of the sources."""

    source: int
    index: SourceIndex
    comparison: Comparison
    support: float


class ClaimChecker:
    """Checks one claim after the other; the sources of an answer are taken apart once."""

    def __init__(self) -> None:
        self._model = CheckerModel.load(resources_dir() / _MODEL)
        self._indexes: OrderedDict[str, SourceIndex] = OrderedDict()
        self._remembered = 0

    @property
    def threshold(self) -> float:
        """From this support on a claim counts as supported, where there are but two answers."""
        return self._model.threshold

    def check(self, claim: str, sources: Sequence[str]) -> CheckedClaim:
        """Check a claim against all the sources; the one that supports it best is the evidence."""
        tokens = tokenize_claim(claim)[:_MOST_TOKENS]
        indexes = {number: self._index(text) for number, text in enumerate(sources)}
        readable = {number: index for number, index in indexes.items() if index.tokens}
        if not any(token.is_content for token in tokens):
            return _not_checked(claim, "It says nothing that can be checked.")
        if not readable:
            return _not_checked(claim, "There is no source to check it against.")
        readable = {n: i for n, i in readable.items() if not _is_foreign(claim, tokens, i)}
        if not readable:
            return _not_checked(claim, "Its sources are in another language.")
        best = max(
            (self._held_against(tokens, number, index) for number, index in readable.items()),
            key=lambda candidate: (candidate.support, -candidate.source),
        )
        return self._told(claim, tokens, best, list(readable.values()))

    def _held_against(
        self, tokens: Sequence[ClaimToken], number: int, index: SourceIndex
    ) -> _Candidate:
        comparison = compare(tokens, index)
        return _Candidate(number, index, comparison, self._model.support(comparison.features))

    def _told(
        self, claim: str, tokens: Sequence[ClaimToken], best: _Candidate, indexes: list[SourceIndex]
    ) -> CheckedClaim:
        found = find_differences(claim, best.index, best.comparison.alignment)
        support = best.support
        if found.is_contradiction:
            support = min(support, _CONTRADICTED_AT_MOST)
        start, end = best.comparison.window.span
        checked = CheckedClaim(
            claim=claim,
            verdict=self._verdict(support, found),
            support=support,
            evidence=Evidence(best.source, start, end),
            differences=found.all,
            explanation="",
        )
        absent = [t for t in tokens if not any(t.stem in index.stems for index in indexes)]
        return replace(checked, explanation=_explanation(checked, best.index.text, absent))

    def _verdict(self, support: float, found: Differences) -> Verdict:
        if found.is_contradiction:
            return Verdict.CONTRADICTED
        # One wrong number among many right words still looks much like what the source says.
        if support >= self._model.supported_from and not any(map(_is_weighty, found.all)):
            return Verdict.SUPPORTED
        if support >= self._model.unsupported_below:
            return Verdict.PARTLY
        return Verdict.NOT_IN_SOURCES

    def _index(self, text: str) -> SourceIndex:
        index = self._indexes.pop(text, None)
        if index is None:
            index = SourceIndex(text)
            self._remembered += len(text)
        self._indexes[text] = index
        while self._remembered > _REMEMBERED_CHARACTERS and len(self._indexes) > 1:
            forgotten, _ = self._indexes.popitem(last=False)
            self._remembered -= len(forgotten)
        return index


def _is_foreign(claim: str, tokens: Sequence[ClaimToken], index: SourceIndex) -> bool:
    """Whether a source is in another language: few words in common, and that clearly."""
    content = [token for token in tokens if token.is_content]
    found = sum(token.stem in index.stems for token in content)
    return found < _LEAST_IN_COMMON * len(content) and writing_of(claim).differs_from(index.writing)


def _not_checked(claim: str, why: str) -> CheckedClaim:
    return CheckedClaim(claim, Verdict.NOT_CHECKED, 0.0, None, (), why)


def _is_weighty(difference: Difference) -> bool:
    return difference.kind in _WEIGHTY


def _explanation(checked: CheckedClaim, source: str, absent: Sequence[ClaimToken]) -> str:
    """One plain sentence: what is said differently, else what is nowhere, else how it stands."""
    contrast = _contrast(list(words_of(checked.differences, checked.claim, source)))
    missing = _named(
        checked.claim[token.start : token.end]
        for token in sorted(absent, key=lambda token: -token.weight)
        if token.is_content
    )
    match checked.verdict:
        case Verdict.SUPPORTED if missing:
            return f"The source says this, but not the words: {missing}."
        case Verdict.SUPPORTED:
            return "The source says this."
        case _ if contrast:
            return contrast
        case _ if missing:
            return f"Not found in the sources: {missing}."
        case _:
            return "Its words stand in the source, but not together."


def _contrast(pairs: Sequence[tuple[Difference, str, str]]) -> str:
    """The first thing that both sides have differently; "" when there is none."""
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
