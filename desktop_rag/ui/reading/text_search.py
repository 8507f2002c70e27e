"""Finds words in the text of a document. Pure; any thread."""

import re
from collections.abc import Iterator

from desktop_rag.ui.passages.snippet import marked_words
from desktop_rag.ui.viewers.document_span import Span

MAX_HITS = 10_000
# Python's threads take turns only between two searches, so none may take long.
_SLICE_CHARS = 500_000
_OVERLAP_CHARS = 2_000
# Of the words of a query those this near to a passage are marked.
_NEAR_CHARS = 50_000


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


def spans_around(text: str, query: str, passage: Span) -> tuple[Span, ...]:
    """The words of a query near a passage, as they are marked where the passage is listed."""
    start = max(0, passage[0] - _NEAR_CHARS)
    piece = text[start : passage[1] + _NEAR_CHARS]
    return tuple((start + a, start + b) for a, b in marked_words(piece, query))


def _spans(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    done = 0
    for start in range(0, len(text), _SLICE_CHARS):
        stop = min(len(text), start + _SLICE_CHARS + _OVERLAP_CHARS)
        for hit in pattern.finditer(text, max(start, done), stop):
            if hit.start() >= start + _SLICE_CHARS:
                break
            done = hit.end()
            yield hit.span()
