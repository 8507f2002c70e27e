"""Finds the code in a Markdown text, which must stay as it is. Pure."""

import re
from bisect import bisect_right

_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_TICKS = re.compile(r"`+")


def code_spans(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of fenced blocks and inline code, in order.

    An unclosed block runs to the end, as while an answer streams. Indentation alone is no code:
    models indent lists more often than code.
    """
    spans: list[tuple[int, int]] = []
    paragraph = start = 0
    fence = ""
    at = 0
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line.rstrip("\r\n"))
        if fence:
            if line.strip(" \t\r\n>").startswith(fence) and not line.strip(" \t\r\n>" + fence[0]):
                spans.append((start, at + len(line)))
                fence = ""
            paragraph = at + len(line)
        elif match:
            spans += _inline(text, paragraph, at)
            start, fence = at, match[1]
        elif not line.strip():
            spans += _inline(text, paragraph, at)
            paragraph = at + len(line)
        at += len(line)
    return spans + ([(start, at)] if fence else _inline(text, paragraph, at))


def _inline(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Code between two equal runs of backticks in the paragraph [start, end)."""
    runs = [match.span() for match in _TICKS.finditer(text, start, end)]
    by_length: dict[int, list[int]] = {}
    for index, (first, last) in enumerate(runs):
        by_length.setdefault(last - first, []).append(index)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        first, last = runs[index]
        equal = by_length[last - first]
        position = bisect_right(equal, index)
        if position < len(equal):
            index = equal[position]
            spans.append((first, runs[index][1]))
        index += 1
    return spans
