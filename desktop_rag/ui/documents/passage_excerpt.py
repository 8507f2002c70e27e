"""What a card shows of a passage: the text around the marked places, or its beginning. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from desktop_rag.core.quotes.quote_alignment import Span

MOST_CHARS = 280
# Rows of a table and of a list are short.
MOST_LINES = 10
_LEAD_CHARS = 90
# Of several places each has less room.
_SHORT_LEAD_CHARS = 30
_FEW_LINES = 4
_MOST_PLACES = 4
_NEAR_CHARS = 60
_CUT = " …"


class Excerpt(NamedTuple):
    """A text, and the places in it that are marked."""

    text: str
    marked: list[Span]


def excerpt(passage: str, marked: Sequence[Span]) -> Excerpt:
    """The passage cut at words around the marked places, with … where something is left out.

    `marked` are in order and do not overlap. Of many lines the first ones are shown, even if a
    marked place goes on.
    """
    if len(marked) > 1:
        places = _joined([_short(passage, place) for place in marked[:_MOST_PLACES]])
    else:
        places = [_around(passage, marked[0] if marked else (0, 0))]
    return _written(passage, places, marked)


def _around(passage: str, place: Span) -> Span:
    """A place with what is before it, and what follows up to the length of an excerpt."""
    at, stop = place
    start = _word_start(passage, at - _LEAD_CHARS, at)
    end = min(len(passage), max(start + MOST_CHARS, stop))
    if end < len(passage):
        space = passage.rfind(" ", max(start, stop), end)
        end = space if space > 0 else end
    return _in_lines(passage, (start, end), at, MOST_LINES)


def _short(passage: str, place: Span) -> Span:
    """A place with a few words before it on its line."""
    at, end = place
    line = passage.rfind("\n", 0, at) + 1
    start = _word_start(passage, max(line, at - _SHORT_LEAD_CHARS), at)
    return _in_lines(passage, (start, end), at, _FEW_LINES)


def _word_start(passage: str, start: int, at: int) -> int:
    if start <= 0:
        return 0
    space = passage.find(" ", start, at)
    return space + 1 if space >= 0 else start


def _in_lines(passage: str, span: Span, at: int, most: int) -> Span:
    start, end = span
    if passage.count("\n", start, end) < most:
        return span
    start = max(start, passage.rfind("\n", 0, at) + 1)
    return start, start + len("\n".join(passage[start:end].split("\n")[:most]))


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Spans that are near each other are one."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and start - joined[-1][1] < _NEAR_CHARS:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _written(passage: str, places: Sequence[Span], marked: Sequence[Span]) -> Excerpt:
    text = ""
    shown: list[Span] = []
    for start, end in places:
        text += "… " if start and not text else " … " if text else ""
        shift = len(text) - start
        text += passage[start:end]
        kept = ((max(first, start), min(last, end)) for first, last in marked)
        shown += [(first + shift, last + shift) for first, last in kept if first < last]
    return Excerpt(text + (_CUT if places[-1][1] < len(passage) else ""), shown)
