"""Finds the words of a query around a passage of a document. Pure; any thread."""

from desktop_rag.core.markup.snippet import marked_words
from desktop_rag.ui.viewers.document_span import Span

# Of the words of a query those this near to a passage are marked.
_NEAR_CHARS = 50_000


def spans_around(text: str, query: str, passage: Span) -> tuple[Span, ...]:
    """The words of a query near a passage, as they are marked where the passage is listed."""
    start = max(0, passage[0] - _NEAR_CHARS)
    piece = text[start : passage[1] + _NEAR_CHARS]
    return tuple((start + a, start + b) for a, b in marked_words(piece, query))
