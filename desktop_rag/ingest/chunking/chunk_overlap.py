"""Decides how much text neighbouring chunks share. Pure.

The overlap depends only on the text before the chunk, not on other boundaries, so an edit elsewhere
does not change it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.ingest.chunking.text_splitting import (
    CountTokens,
    Span,
    Split,
    count_spans,
    split_few_words,
    split_lines,
    split_sentences,
)

# A token has about four characters; text further back than this cannot fit.
_TOKEN_CHARACTERS = 6
BY_SENTENCES: Sequence[Split] = (split_sentences, split_lines)
BY_WORDS: Sequence[Split] = (split_few_words,)


@dataclass(frozen=True, slots=True)
class ChunkBoundary:
    """The boundary between two chunks: the starts of their own texts, and `room` in tokens."""

    before: int
    start: int
    room: int


def shared_starts(
    text: str,
    boundaries: Sequence[ChunkBoundary],
    count_tokens: CountTokens,
    units: Sequence[Split],
) -> dict[int, int]:
    """The start of each chunk that shares text with the previous one, by its own start.

    Only whole units are shared; the next kind of unit is tried where none of the first fits.
    """
    starts: dict[int, int] = {}
    for split in units:
        open_boundaries = [
            boundary
            for boundary in boundaries
            if boundary.room > 0 and boundary.start not in starts
        ]
        tails = [_tail(text, boundary, split) for boundary in open_boundaries]
        counts = iter(count_spans(text, [unit for tail in tails for unit in tail], count_tokens))
        for boundary, tail in zip(open_boundaries, tails, strict=True):
            costs = [next(counts) for _ in tail]
            start = _start(tail, costs, boundary)
            if start < boundary.start:
                starts[boundary.start] = start
    return starts


def _tail(text: str, boundary: ChunkBoundary, split: Split) -> list[Span]:
    """The units before a boundary, without a cut one, and never the whole previous chunk."""
    low = max(boundary.before, boundary.start - _TOKEN_CHARACTERS * boundary.room)
    return [unit for unit in split(text, (low, boundary.start)) if unit[0] > low]


def _start(tail: Sequence[Span], costs: Sequence[int], boundary: ChunkBoundary) -> int:
    start, room = boundary.start, boundary.room
    for (unit_start, _), cost in zip(reversed(tail), reversed(costs), strict=True):
        room -= cost
        if room < 0:
            break
        start = unit_start
    return start
