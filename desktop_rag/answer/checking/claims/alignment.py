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
    wanted = [token.stem for token in claim]
    found = [token.stem for token in evidence]
    table = _lengths(wanted, found)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(wanted) and j < len(found):
        if wanted[i] == found[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return Alignment(claim, evidence, tuple(pairs))


def _lengths(wanted: Sequence[str], found: Sequence[str]) -> list[list[int]]:
    """The table of lengths: at [i][j] the longest common subsequence of both rests."""
    below = [0] * (len(found) + 1)
    rows = [below]
    for stem in reversed(wanted):
        row = [0]
        for place in range(len(found) - 1, -1, -1):
            if found[place] == stem:
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
