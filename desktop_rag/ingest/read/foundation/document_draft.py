"""The document that a reader writes, clean and within the limits. Runs in the parser process."""

import re
import string
from dataclasses import dataclass, replace
from datetime import date
from email.utils import parsedate_to_datetime

from desktop_rag.core.parsed import (
    HEADING_SEPARATOR,
    Anchor,
    EncodingHints,
    Heading,
    Mark,
    ParsedDocument,
    TableHeader,
)
from desktop_rag.ingest.read.foundation.encoding import decode
from desktop_rag.ingest.read.foundation.machine_text import moving_data_out
from desktop_rag.ingest.read.foundation.ocr import Ocr
from desktop_rag.ingest.read.foundation.source_file import MAX_HEADINGS, MAX_MARKS, Unreadable

# From here on marks keep a distance, so that text of any length has a bounded number of them.
_DENSE_MARKS = 50_000
_SPARSE_CHARS = 1000
_TITLE_CHARS = 300
_MAX_WARNINGS = 20
_HEADER_CHARS = 500
_MAX_ATTACHMENTS = 1000
_MAX_ATTACHED_BYTES = 200_000_000
# The line that dates a mail, a letter or minutes.
_DATE_LINE = re.compile(r"(?im)^\W{0,4}(?:date|datum|sent|gesendet):\W{0,4}(\w.{4,60})$")
_HEAD_CHARS = 1_000
_YEAR_FIRST = re.compile(r"(\d{4})(?:(\d\d)(\d\d)|[-/.](\d{1,2})[-/.](\d{1,2})(?!\d))")
_DAY_FIRST = re.compile(r"(\d\d?)\.\s?(\d\d?)\.\s?(\d{4})")
# A database takes neither NULs nor halves of surrogate pairs.
_FORBIDDEN = re.compile("[\\0\ud800-\udfff]")
# White space, and what stands for letters that could not be read.
_BLANK = string.whitespace + "\N{REPLACEMENT CHARACTER}\N{NO-BREAK SPACE}\N{ZERO WIDTH SPACE}\ufeff"


@dataclass(frozen=True, slots=True)
class EmbeddedFile:
    """A file inside the file: its name as a person would call it, and its bytes."""

    name: str
    data: bytes


class LimitReached(Exception):  # noqa: N818  it ends the reading, what was read stays
    """The text has reached its limit."""


def cleaned(text: str) -> str:
    """The text, its length kept, with characters replaced that databases refuse."""
    if text.isascii() and "\0" not in text:
        return text
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    """A title or name: cleaned, white space collapsed, not too long."""
    return " ".join(cleaned(text).split())[:_TITLE_CHARS]


def day_of(written: str) -> str:
    """The day of a date as computers, mails and letters write it, ISO; "" for another text."""
    text = written.strip()
    try:
        if found := _YEAR_FIRST.match(text):
            return date(*map(int, filter(None, found.groups()))).isoformat()
        if found := _DAY_FIRST.match(text):
            return date(*map(int, reversed(found.groups()))).isoformat()
        # Where the time is missing.
        return parsedate_to_datetime(f"{text} 00:00:00").date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


class DocumentDraft:
    """The document being written, from front to back; offsets are indices into its text."""

    def __init__(
        self,
        max_chars: int,
        ocr: Ocr | None = None,
        part: str = "",
        hints: EncodingHints | None = None,
    ) -> None:
        """`part` names the document among those of its file; `hints` tell the encoding of texts."""
        self.ocr = ocr
        self._hints = hints or EncodingHints()
        self._part = part
        self.length = 0
        self.warnings: list[str] = []
        # What its properties tell counts less than what the text tells.
        self.dated = self.made = ""
        self.tags: tuple[str, ...] = ()
        self.is_by_app = False
        self.max_chars = max_chars
        self._pieces: list[str] = []
        self._marks: list[Mark] = []
        self._headings: list[Heading] = []
        self._table_headers: list[TableHeader] = []
        self.attachments: list[EmbeddedFile] = []
        self._attached_bytes = 0

    def decoded(self, data: bytes, declared: str = "") -> str:
        """The text of these bytes; a doubtful encoding becomes a warning.

        Raises NotTextError for bytes that are something else.
        """
        text, warning = decode(data, declared, self._hints)
        if warning:
            self.warn(warning)
        return text

    def fitting(self, text: str) -> str:
        """As much of a whole text as the limit allows; the rest is not worth parsing."""
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
        """Place the text from `offset` (or the end so far) on at `anchor`."""
        if len(self._marks) < MAX_MARKS:
            self._marks.append(Mark(self.length if offset is None else offset, anchor))

    def is_mark_due(self, offset: int) -> bool:
        """True unless there are many marks and the last one is near."""
        if len(self._marks) < _DENSE_MARKS:
            return True
        return offset - self._marks[-1].offset >= _SPARSE_CHARS

    def add_heading(self, level: int, title: str, offset: int | None = None) -> None:
        """Begin a section at `offset` (or the end so far). A heading without text is dropped."""
        title = one_line(title)
        if title and len(self._headings) < MAX_HEADINGS:
            self._headings.append(Heading(self.length if offset is None else offset, level, title))

    def add_table_header(self, start: int, text: str) -> None:
        """Record that the text added since `start` is rows under the header row `text`."""
        header = " ".join(cleaned(text).split())[:_HEADER_CHARS]
        if header and start < self.length and len(self._table_headers) < MAX_HEADINGS:
            self._table_headers.append(TableHeader(start, self.length, header))

    def attach(self, name: str, data: bytes) -> None:
        """Add a file inside this one, to become a document of its own. Too many are left out."""
        room = _MAX_ATTACHED_BYTES - self._attached_bytes
        if len(self.attachments) >= _MAX_ATTACHMENTS or len(data) > room:
            self.warn("It holds more attachments than are read.")
            return
        self.attachments.append(EmbeddedFile(one_line(name) or "attachment", data))
        self._attached_bytes += len(data)

    def place(self, page: int) -> str:
        """The key of a page within its file, for the text of the picture on it."""
        return f"{self._part}#{page}"

    def warn(self, text: str) -> None:
        """Add what the person should know about this file though it was read."""
        if text not in self.warnings and len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(one_line(text))

    @property
    def first_heading(self) -> str:
        """The title of the first heading, or nothing."""
        return self._headings[0].title if self._headings else ""

    def _warn_of_cut(self) -> None:
        self.warn(f"Only the first {self.max_chars:,} characters were read.")

    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def finish(self, format_name: str, title: str) -> ParsedDocument:
        """The finished document. Raises Unreadable when there is no text in it."""
        text, moved = moving_data_out(self.text())
        if not text.strip(_BLANK):
            raise Unreadable("no text", "No text found")
        marks = self._by_app() if self.is_by_app else self._marks
        line = _DATE_LINE.search(text, 0, _HEAD_CHARS)
        return ParsedDocument(
            format=format_name,
            title=one_line(title),
            text=text,
            marks=tuple(Mark(moved(mark.offset), mark.anchor) for mark in marks),
            headings=tuple(Heading(moved(h.offset), h.level, h.title) for h in self._headings),
            table_headers=tuple(
                TableHeader(moved(head.start), moved(head.end), head.text)
                for head in self._table_headers
            ),
            warnings=tuple(self.warnings),
            dated=self.dated or (day_of(line[1]) if line else "") or self.made,
            tags=self.tags,
        )

    def _by_app(self) -> list[Mark]:
        """The marks of a file that is the app's own from its beginning."""
        marks = [replace(mark, anchor=replace(mark.anchor, by_app=True)) for mark in self._marks]
        return marks if marks and not marks[0].offset else [Mark(0, Anchor(by_app=True)), *marks]


class HeadingPath:
    """The headings a place stands under, outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> str:
        """Pass a heading; returns the path from here on, as an anchor holds it."""
        self._open = [entry for entry in self._open if entry[0] < level]
        self._open.append((level, one_line(title)))
        return HEADING_SEPARATOR.join(entry[1] for entry in self._open)
