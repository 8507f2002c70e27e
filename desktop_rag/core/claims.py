"""What a check of one claim against its sources found. Frozen values."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How well the sources back a claim, as it is shown."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_IN_SOURCES = "not in the sources"
    CONTRADICTED = "contradicted"
    NOT_CHECKED = "not checked"


class DifferenceKind(StrEnum):
    """What it is that the claim and its evidence say differently."""

    NUMBER = "number"
    NAME = "name"
    NEGATION = "negation"
    UNIT = "unit"
    DATE = "date"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that disagree, or that only one side has.

    Spans are [start, end) in the claim and in the source that the evidence is from; None on the
    side that has nothing in that place.
    """

    kind: DifferenceKind
    in_claim: tuple[int, int] | None
    in_source: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The part [start, end) of a source that comes nearest to a claim; `source` is its index."""

    source: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """The result of a check.

    `support` is the probability, 0 to 1, that the sources say what the claim says. `explanation` is
    one plain sentence. Without sources, or with nothing to check, there is no evidence.
    """

    claim: str
    verdict: Verdict
    support: float
    evidence: Evidence | None
    differences: tuple[Difference, ...]
    explanation: str
