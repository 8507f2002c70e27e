"""Finds words in a text, whatever their case and white space. Pure; any thread."""

import re
from collections.abc import Iterator

Span = tuple[int, int]
MAX_HITS = 10_000
# A search blocks all other threads, so each is short.
_SLICE_CHARS = 500_000
_OVERLAP_CHARS = 2_000


def found_spans(text: str, words: str) -> tuple[Span, ...]:
    """The first MAX_HITS places of these words, whatever their case and white space."""
    if not words.strip():
        return ()
    pattern = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)
    found: list[Span] = []
    for span in _spans(text, pattern):
        found.append(span)
        if len(found) == MAX_HITS:
            break
    return tuple(found)


def qt_offset(text: str, offset: int) -> int:
    """An offset in code points as Qt counts, in UTF-16 units."""
    before = text[: max(0, offset)]
    return (
        len(before) if before.isascii() else len(before.encode("utf-16-le", "surrogatepass")) // 2
    )


def _spans(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    done = 0
    for start in range(0, len(text), _SLICE_CHARS):
        stop = min(len(text), start + _SLICE_CHARS + _OVERLAP_CHARS)
        for hit in pattern.finditer(text, max(start, done), stop):
            if hit.start() >= start + _SLICE_CHARS:
                break
            done = hit.end()
            yield hit.span()
