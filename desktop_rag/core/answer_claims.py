"""The claims of an answer as they are kept with it. Frozen values."""

from dataclasses import asdict, dataclass
from typing import Any

from desktop_rag.core.claims import CheckedClaim, Difference, DifferenceKind, Evidence, Verdict


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer that can be checked, at [start, end) of the answer's text.

    `n` is the number of the source that has the evidence, 0 without any.
    """

    start: int
    end: int
    checked: CheckedClaim
    n: int = 0

    @property
    def verdict(self) -> Verdict:
        """How well the sources back it."""
        return self.checked.verdict

    def to_json(self) -> dict[str, Any]:
        """As the store keeps it."""
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
