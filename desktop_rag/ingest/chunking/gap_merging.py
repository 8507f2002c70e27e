"""Merges small gaps with neighbouring stable spans, to avoid tiny chunks. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.ingest.chunking.text_splitting import Span

# A gap that fills less than this share of a chunk is merged with a neighbour.
_MIN_GAP_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class SectionPart:
    """A part of a section: a stable span that stays a chunk's own text, or a gap to be chunked."""

    span: Span
    tokens: int
    is_stable: bool


def merge_small_gaps(parts: Sequence[SectionPart], capacity: int) -> list[SectionPart]:
    """The parts, with each small gap joined to its smaller neighbour.

    A stable span that exceeds the capacity becomes a gap; adjacent gaps become one.
    """
    joined: list[SectionPart] = []
    drops_next = False
    for index, part in enumerate(parts):
        is_dropped = drops_next or part.tokens > capacity
        drops_next = False
        if part.is_stable and not is_dropped:
            joined.append(part)
            continue
        _append_gap(joined, part)
        if joined[-1].tokens < _MIN_GAP_SHARE * capacity:
            following = parts[index + 1] if index + 1 < len(parts) else None
            drops_next = _join_with_neighbour(joined, following)
    return joined


def _append_gap(joined: list[SectionPart], part: SectionPart) -> None:
    if joined and not joined[-1].is_stable:
        part = _union(joined.pop(), part)
    joined.append(SectionPart(part.span, part.tokens, is_stable=False))


def _join_with_neighbour(joined: list[SectionPart], following: SectionPart | None) -> bool:
    """Join the last gap with the part before it; True to join it with the next part instead."""
    before = joined[-2] if len(joined) > 1 else None
    if before is None or (following is not None and following.tokens < before.tokens):
        return following is not None
    gap = joined.pop()
    joined.pop()
    _append_gap(joined, _union(before, gap))
    return False


def _union(first: SectionPart, second: SectionPart) -> SectionPart:
    span = first.span[0], second.span[1]
    return SectionPart(span, first.tokens + second.tokens, is_stable=False)
