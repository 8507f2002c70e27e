"""Claims as they are stored with an answer. Frozen values."""

from dataclasses import asdict, dataclass
from typing import Any

from desktop_rag.core.claims import CheckedClaim, Difference, DifferenceKind, Evidence, Verdict


@dataclass(frozen=True, slots=True)
class Claim:
    """A checkable sentence of an answer, at [start, end) of the answer's text.

    `n` is the number of the source that holds the evidence, or 0.
    """

    start: int
    end: int
    checked: CheckedClaim
    n: int = 0

    @property
    def verdict(self) -> Verdict:
        """The verdict of the check."""
        return self.checked.verdict

    def to_json(self) -> dict[str, Any]:
        """The stored form."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Claim":
        """The inverse of `to_json`."""
        return cls(fields["start"], fields["end"], _checked(fields["checked"]), fields["n"])


def _checked(fields: dict[str, Any]) -> CheckedClaim:
    differences = tuple(
        Difference(DifferenceKind(d["kind"]), _span(d["in_claim"]), _span(d["in_source"]))
        for d in fields["differences"]
    )
    evidence = fields["evidence"]
    return CheckedClaim(
        fields["claim"],
        Verdict(fields["verdict"]),
        fields["support"],
        Evidence(**evidence) if evidence else None,
        differences,
        fields["explanation"],
    )


def _span(span: list[int] | None) -> tuple[int, int] | None:
    return (span[0], span[1]) if span else None
