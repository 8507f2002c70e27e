"""The places of a document's text, and how the store keeps them. Pure."""

from collections.abc import Sequence

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.parsed import Heading, Mark, ParsedDocument, TableHeader


class Places:
    """The anchors of a document, by offset."""

    def __init__(self, marks: Sequence[Mark], headings: Sequence[Heading]) -> None:
        self._marks = marks
        self._headings = headings

    def anchor(self, start: int, end: int) -> Anchor:
        """The exact place of the text [start, end)."""
        return next((m.anchor for m in reversed(self._marks) if m.offset <= start), Anchor())


def places_to_json(document: ParsedDocument) -> str:
    """Marks, headings and table headers as one text."""
    return ""


def places_from_json(
    text: str,
) -> tuple[tuple[Mark, ...], tuple[Heading, ...], tuple[TableHeader, ...]]:
    """The inverse of `places_to_json`; of an empty text nothing."""
    return (), (), ()
