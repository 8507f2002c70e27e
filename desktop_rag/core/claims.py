"""Claims as they are stored with an answer, their signs, and where these go in its text. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, ClassVar

from desktop_rag.core.markup.formulas import formulas
from desktop_rag.core.records import LONGEST_LABEL, Count, Record, Within


class Verdict(StrEnum):
    """The degree to which the sources support a claim."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_IN_SOURCES = "not in the sources"
    CONTRADICTED = "contradicted"
    NOT_CHECKED = "not checked"


class Basis(StrEnum):
    """What the verdict of the app rests on."""

    QUOTE = "quote"
    COMPUTED = "computed"
    TABLE = "table"
    READ = "read"


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

# What a badge names when no source has it, besides names.
_FIGURES = frozenset((DifferenceKind.NUMBER, DifferenceKind.DATE))
# The least support of a claim that the sources mostly state.
_NEAR = 0.62


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that disagree, or that only one side contains.

    Spans are [start, end) in the claim and in the evidence's source; None on the side without a
    counterpart.
    """

    kind: DifferenceKind
    in_claim: tuple[Count, Count] | None
    in_source: tuple[Count, Count] | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The part [start, end) of a source closest to a claim; `source` is its index."""

    source: Count
    start: Count
    end: Count


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """The result of checking one claim against its sources.

    `support` is the probability, 0 to 1, that the sources state the claim; `explanation` is one
    plain sentence. `evidence` is None without sources or when there was nothing to check.
    """

    claim: str
    verdict: Verdict
    support: float
    evidence: Evidence | None
    differences: tuple[Difference, ...]
    explanation: str
    basis: Basis = Basis.READ

    @property
    def named(self) -> tuple[str, ...]:
        """The figures, dates and names of the claim that its sources lack."""
        found = (
            one.in_claim
            for one in self.differences
            if one.kind is DifferenceKind.NAME or (one.kind in _FIGURES and not one.in_source)
        )
        return tuple(self.claim[slice(*span)].strip() for span in found if span)

    @property
    def is_near(self) -> bool:
        """True when the sources say something near to it, and nothing in it is known to be new."""
        return self.verdict is Verdict.PARTLY and not self.named

    @property
    def is_likely(self) -> bool:
        """True when a claim is supported, or so near to its sources that it mostly is."""
        if self.verdict is Verdict.SUPPORTED:
            return True
        return self.is_near and self.support >= _NEAR


# Sign and words per verdict; distinct without colours.
SIGNS = {
    Verdict.SUPPORTED: ("✓", "Backed by sources"),
    Verdict.PARTLY: ("≈", "Partly supported"),
    Verdict.NOT_IN_SOURCES: ("?", "Not found in the sources"),
    Verdict.CONTRADICTED: ("✗", "Contradicted by a source"),
    Verdict.NOT_CHECKED: ("○", "Not checked"),
}
# Characters after the last word of a sentence. To Markdown the window's mark is neither space nor
# punctuation, so that a "**" after it would not close.
_CLOSING = " \t\n\r.!?…。！？*_~\\\"'”’»)]"
_FENCE = re.compile(r"^[ \t>]*(?:`{3}|~{3})", re.MULTILINE)
# A sign must not split a citation or a link target.
_WHOLE = re.compile(r"\[[\d,\s]{1,40}\]|\]\([^()\s]*\)")
_MAX_WHOLE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Claim(Record):
    """A checkable sentence of an answer, at [start, end) of the answer's text.

    `n` is the number of the source with the evidence, or 0. `judge` is the model that also read
    both, `judged` its verdict, and `reason` its sentence about it; without one they are empty.
    """

    is_brief: ClassVar = True
    needed: ClassVar = frozenset({"start", "end", "checked", "n"})
    start: Count
    end: Count
    checked: CheckedClaim
    n: Count = 0
    judge: Annotated[str, Within(0, LONGEST_LABEL)] = ""
    reason: str = ""
    judged: Verdict | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict of the check."""
        return self.checked.verdict

    @property
    def is_disputed(self) -> bool:
        """True when the model reads it otherwise than the verdict says."""
        return self.judged not in (None, self.verdict)


def place_of_sign(text: str, claim: Claim) -> int:
    """The offset after the last word of the claim, where it is safest for Markdown."""
    place = claim.start + len(_up_to_last_word(text[claim.start : claim.end]))
    for opening in "[", "](":
        at = text.rfind(opening, max(0, place - _MAX_WHOLE_CHARS), place)
        whole = _WHOLE.match(text, at) if at >= 0 else None
        place = max(place, whole.end() if whole else 0)
    return max(place, _formula_end(text, claim, place))


def with_signs(
    text: str,
    claims: Iterable[Claim],
    *,
    without: Collection[Verdict] = (),
    said: Mapping[Verdict, str] = MappingProxyType({}),
) -> str:
    """The answer with a sign and words after each claim that its sources don't support.

    One that they say in other words has none. Claims with a verdict in `without` are left out.
    `said` are the words in another language.
    """
    parts: list[str] = []
    done = 0
    for claim in sorted(claims, key=lambda claim: claim.start):
        if claim.verdict in without:
            parts.append(text[done : claim.start])
            done = max(done, claim.end)
        elif sign := _sign_in_words(claim, said):
            place = max(done, place_of_sign(text, claim))
            parts += [text[done:place], f" ({sign})"]
            done = place
    return "".join([*parts, text[done:]])


def _sign_in_words(claim: Claim, said: Mapping[Verdict, str]) -> str:
    sign, words = SIGNS[claim.verdict]
    if claim.verdict in (Verdict.SUPPORTED, Verdict.NOT_CHECKED) or claim.checked.is_near:
        return ""
    return f"{sign} {said.get(claim.verdict, words)}"


def _formula_end(text: str, claim: Claim, place: int) -> int:
    """The end of the formula of the claim around a place; 0 for none."""
    found = formulas(text[claim.start : claim.end])
    inside = (f.end for f in found if f.start < place - claim.start < f.end)
    return claim.start + next(inside, -claim.start)


def _up_to_last_word(said: str) -> str:
    """A sentence up to its last word, or up to the code block that ends it."""
    fences = [match.start() for match in _FENCE.finditer(said)]
    if fences and "\n" not in said[fences[-1] :].rstrip():
        said = said[: fences[-2:][0]]
    return said.rstrip(_CLOSING)
