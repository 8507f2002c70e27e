"""The document a reader is writing: text, marks and headings, kept clean and within the limits.

Runs in the parser process.
"""

import re

from desktop_rag.core.domain import HEADING_SEPARATOR, Anchor, Heading, Mark, ParsedDocument
from desktop_rag.ingest.read.source import Unreadable
from desktop_rag.ingest.worker_protocol import MAX_HEADINGS, MAX_MARKS

# From here on marks keep a distance, so that text of any length has a bounded number of them.
_DENSE_MARKS = 50_000
_SPARSE_CHARS = 1000
_TITLE_CHARS = 300
_MAX_WARNINGS = 20
# A database takes neither NULs nor halves of surrogate pairs.
_FORBIDDEN = re.compile("[\\0\ud800-\udfff]")


class LimitReached(Exception):  # noqa: N818  it ends the reading, what was read stays
    """The text is as long as it may get."""


def cleaned(text: str) -> str:
    """The text without what no database takes; as long as before."""
    if text.isascii() and "\0" not in text:
        return text
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    """A title or name: cleaned, white space collapsed, not too long."""
    return " ".join(cleaned(text).split())[:_TITLE_CHARS]


class Draft:
    """Grows from front to back; offsets are indices into its text."""

    def __init__(self, max_chars: int) -> None:
        self.length = 0
        self.warnings: list[str] = []
        self.max_chars = max_chars
        self._pieces: list[str] = []
        self._marks: list[Mark] = []
        self._headings: list[Heading] = []

    def fitting(self, text: str) -> str:
        """As much of a whole text as may be added; the rest is not worth parsing."""
        if len(text) <= self.max_chars:
            return text
        self._warn_of_cut()
        return text[: self.max_chars]

    def add(self, text: str) -> None:
        """Append text. Raises LimitReached, with the text cut, when it gets too long."""
        room = self.max_chars - self.length
        piece = cleaned(text[:room])
        self._pieces.append(piece)
        self.length += len(piece)
        if len(text) > room:
            self._warn_of_cut()
            raise LimitReached

    def mark(self, anchor: Anchor, offset: int | None = None) -> None:
        """From `offset` (or the end so far) on, the text stands at `anchor`."""
        if len(self._marks) < MAX_MARKS:
            self._marks.append(Mark(self.length if offset is None else offset, anchor))

    def is_mark_due(self, offset: int) -> bool:
        """False while marks are so many that a fine one is better left out."""
        if len(self._marks) < _DENSE_MARKS:
            return True
        return offset - self._marks[-1].offset >= _SPARSE_CHARS

    def add_heading(self, level: int, title: str, offset: int | None = None) -> None:
        """A section begins at `offset` (or the end so far). A heading without text is none."""
        title = one_line(title)
        if title and len(self._headings) < MAX_HEADINGS:
            self._headings.append(Heading(self.length if offset is None else offset, level, title))

    def warn(self, text: str) -> None:
        """Something the person should know about this file though it was read."""
        if text not in self.warnings and len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(one_line(text))

    @property
    def first_heading(self) -> str:
        """The title of the first heading, or nothing."""
        return self._headings[0].title if self._headings else ""

    def _warn_of_cut(self) -> None:
        self.warn(f"Only the first {self.max_chars:,} characters were read.")

    def finish(self, format_name: str, title: str) -> ParsedDocument:
        """The finished document. Raises Unreadable when there is no text in it."""
        text = "".join(self._pieces)
        if not text.strip():
            raise Unreadable("no text", "No text found")
        return ParsedDocument(
            format=format_name,
            title=one_line(title),
            text=text,
            marks=tuple(self._marks),
            headings=tuple(self._headings),
            warnings=tuple(self.warnings),
        )


class HeadingPath:
    """The headings a place stands under, outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> str:
        """Pass a heading; returns the path from here on, as an anchor holds it."""
        self._open = [entry for entry in self._open if entry[0] < level]
        self._open.append((level, one_line(title)))
        return HEADING_SEPARATOR.join(entry[1] for entry in self._open)
