"""The result of checking one claim against its sources. Frozen values."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The degree to which the sources support a claim, as it is displayed."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_IN_SOURCES = "not in the sources"
    CONTRADICTED = "contradicted"
    NOT_CHECKED = "not checked"


class DifferenceKind(StrEnum):
    """The kind of detail on which a claim and its evidence differ."""

    NUMBER = "number"
    NAME = "name"
    NEGATION = "negation"
    UNIT = "unit"
    DATE = "date"
    WORD = "word"


# The differences that contradict a claim; another name or word may stand beside the first.
CONTRADICTING = frozenset(
    (DifferenceKind.NUMBER, DifferenceKind.DATE, DifferenceKind.UNIT, DifferenceKind.NEGATION)
)

# The least support of a claim that the sources mostly state.
_NEAR = 0.62


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that disagree, or that only one side contains.

    Spans are [start, end) in the claim and in the evidence's source; None on the side without a
    counterpart.
    """

    kind: DifferenceKind
    in_claim: tuple[int, int] | None
    in_source: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The part [start, end) of a source closest to a claim; `source` is its index."""

    source: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """The result of a check.

    `support` is the probability, 0 to 1, that the sources state the claim. `explanation` is one
    plain sentence. `evidence` is None without sources or when there was nothing to check.
    """

    claim: str
    verdict: Verdict
    support: float
    evidence: Evidence | None
    differences: tuple[Difference, ...]
    explanation: str

    @property
    def is_near(self) -> bool:
        """True when the sources mostly state a claim that is in words of its own.

        A statement of a model is seldom in the words of a source. One that has all of them, in
        other roles or from another source than the cited one, is not near.
        """
        is_in_other_words = bool(self.differences) and self.is_likely
        return self.verdict is Verdict.PARTLY and is_in_other_words

    @property
    def is_likely(self) -> bool:
        """True when a claim is supported, or so near to its sources that it mostly is."""
        if self.verdict is Verdict.SUPPORTED:
            return True
        is_near = self.verdict is Verdict.PARTLY and self.support >= _NEAR
        return is_near and not any(one.kind in CONTRADICTING for one in self.differences)
