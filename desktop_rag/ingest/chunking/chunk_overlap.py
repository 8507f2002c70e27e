"""How much of what stands before a chunk is in the chunk too. Pure.

It depends on the text before the chunk only, not on where else borders are: an edit far from a
border changes nothing there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.ingest.chunking.text_splitting import (
    CountTokens,
    Span,
    Split,
    counted,
    split_few_words,
    split_lines,
    split_sentences,
)

# A token has about four characters; further back than this nothing would fit.
_TOKEN_CHARACTERS = 6
BY_SENTENCES: Sequence[Split] = (split_sentences, split_lines)
BY_WORDS: Sequence[Split] = (split_few_words,)


@dataclass(frozen=True, slots=True)
class Seam:
    """Where one chunk's own text began and that of the next begins, which has `room` tokens."""

    before: int
    start: int
    room: int


def shared_starts(
    text: str, seams: Sequence[Seam], count_tokens: CountTokens, units: Sequence[Split]
) -> dict[int, int]:
    """Where the chunk at each seam starts, by its own start; only those that share something.

    Shared are whole units that fit, those of the next kind where none of the first does.
    """
    starts: dict[int, int] = {}
    for split in units:
        open_seams = [seam for seam in seams if seam.room > 0 and seam.start not in starts]
        tails = [_tail(text, seam, split) for seam in open_seams]
        counts = iter(counted(text, [unit for tail in tails for unit in tail], count_tokens))
        for seam, tail in zip(open_seams, tails, strict=True):
            costs = [next(counts) for _ in tail]
            start = _start(tail, costs, seam)
            if start < seam.start:
                starts[seam.start] = start
    return starts


def _tail(text: str, seam: Seam, split: Split) -> list[Span]:
    """The units before a seam, without one that is cut, and never all of the chunk before."""
    low = max(seam.before, seam.start - _TOKEN_CHARACTERS * seam.room)
    return [unit for unit in split(text, (low, seam.start)) if unit[0] > low]


def _start(tail: Sequence[Span], costs: Sequence[int], seam: Seam) -> int:
    start, room = seam.start, seam.room
    for (unit_start, _), cost in zip(reversed(tail), reversed(costs), strict=True):
        room -= cost
        if room < 0:
            break
        start = unit_start
    return start
