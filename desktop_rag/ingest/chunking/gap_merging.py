"""Which kept spans are given up after all, so that no crumbs are left between them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.ingest.chunking.text_splitting import Span

# A gap that would fill less than this share of a chunk is cut together with a neighbour.
_CRUMB_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a section: a span that stays a chunk's own, or a gap that is cut anew."""

    span: Span
    tokens: int
    is_kept: bool


def without_crumbs(stretches: Sequence[Stretch], capacity: int) -> list[Stretch]:
    """The stretches with each gap that is a crumb joined to the smaller of its neighbours.

    What is kept but no longer fits the capacity becomes a gap; gaps side by side become one.
    """
    joined: list[Stretch] = []
    gives_up_next = False
    for index, stretch in enumerate(stretches):
        gives_up = gives_up_next or stretch.tokens > capacity
        gives_up_next = False
        if stretch.is_kept and not gives_up:
            joined.append(stretch)
            continue
        _append_gap(joined, stretch)
        if joined[-1].tokens < _CRUMB_SHARE * capacity:
            following = stretches[index + 1] if index + 1 < len(stretches) else None
            gives_up_next = _join_crumb(joined, following)
    return joined


def _append_gap(joined: list[Stretch], stretch: Stretch) -> None:
    if joined and not joined[-1].is_kept:
        stretch = _union(joined.pop(), stretch)
    joined.append(Stretch(stretch.span, stretch.tokens, is_kept=False))


def _join_crumb(joined: list[Stretch], following: Stretch | None) -> bool:
    """Join the last gap to what is kept before it; True if it is to be joined to what follows."""
    before = joined[-2] if len(joined) > 1 else None
    if before is None or (following is not None and following.tokens < before.tokens):
        return following is not None
    crumb = joined.pop()
    joined.pop()
    _append_gap(joined, _union(before, crumb))
    return False


def _union(first: Stretch, second: Stretch) -> Stretch:
    span = first.span[0], second.span[1]
    return Stretch(span, first.tokens + second.tokens, is_kept=False)
