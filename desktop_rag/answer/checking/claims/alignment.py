"""Aligns the words of a claim with its evidence, in order, and finds the gaps between. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from desktop_rag.answer.checking.claims.tokens import ClaimToken

# Pairs with fewer tokens than this between them are close.
_CLOSE = 4
# The tokens of the evidence around the first and last pair that count as gaps.
_REACH = 4


@dataclass(frozen=True, slots=True)
class Gap:
    """The content words between two aligned pairs, or before the first and after the last one.

    Only words that the other side lacks. `is_inside`: there are pairs on both sides of the gap;
    `is_close`: in addition, few tokens lie between them.
    """

    claim: tuple[ClaimToken, ...]
    evidence: tuple[ClaimToken, ...]
    is_inside: bool
    is_close: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """A longest common subsequence of two texts, by stems, as pairs of indices."""

    claim: Sequence[ClaimToken]
    evidence: Sequence[ClaimToken]
    pairs: tuple[tuple[int, int], ...]

    def gaps(self) -> Iterator[Gap]:
        """The gaps in order, empty ones too; at both ends only the nearest words of evidence."""
        in_claim = {token.stem for token in self.claim}
        in_evidence = {token.stem for token in self.evidence}
        for (a, b), (c, d) in pairwise(self._ends()):
            is_inside = a >= 0 and c < len(self.claim)
            yield Gap(
                _absent(self.claim[a + 1 : c], in_evidence),
                _absent(self.evidence[b + 1 : d], in_claim),
                is_inside,
                is_inside and max(c - a, d - b) <= _CLOSE,
            )

    def _ends(self) -> list[tuple[int, int]]:
        """The pairs, with a virtual one before the first and after the last."""
        if not self.pairs:
            return []
        before = max(-1, self.pairs[0][1] - _REACH - 1)
        after = min(len(self.evidence), self.pairs[-1][1] + _REACH + 1)
        return [(-1, before), *self.pairs, (len(self.claim), after)]


def align(claim: Sequence[ClaimToken], evidence: Sequence[ClaimToken]) -> Alignment:
    """Align two texts. Time and memory grow with the product of their lengths."""
    found = [token.stem for token in evidence]
    same = [[token.stem == stem for stem in found] for token in claim]
    return Alignment(claim, evidence, tuple(in_order(same)))


def in_order(same: Sequence[Sequence[bool]]) -> Iterator[tuple[int, int]]:
    """The first longest common subsequence, where `same` tells which elements are the same."""
    table = _lengths(same)
    width = len(same[0]) if same else 0
    i = j = 0
    while i < len(same) and j < width:
        if same[i][j]:
            yield i, j
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1


def _lengths(same: Sequence[Sequence[bool]]) -> list[list[int]]:
    """The table of lengths: at [i][j] the longest common subsequence of both rests."""
    below = [0] * (len(same[0]) + 1 if same else 1)
    rows = [below]
    for line in reversed(same):
        row = [0]
        for place in range(len(line) - 1, -1, -1):
            if line[place]:
                row.append(below[place + 1] + 1)
            else:
                row.append(max(below[place], row[-1]))
        row.reverse()
        rows.append(row)
        below = row
    rows.reverse()
    return rows


def _absent(tokens: Sequence[ClaimToken], known: set[str]) -> tuple[ClaimToken, ...]:
    return tuple(token for token in tokens if token.is_content and token.stem not in known)
