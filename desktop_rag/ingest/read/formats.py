"""Reads a file, and the files inside it, into one document with its parts.

The face of this room: the parser process asks it for documents. Importing it loads no format
library.
"""

import logging
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.anchors import HEADING_SEPARATOR
from desktop_rag.core.domain import OPENED_BY_PASSWORD
from desktop_rag.core.parsed import ParsedDocument, ParsedPart
from desktop_rag.ingest.read.detection import detect
from desktop_rag.ingest.read.foundation.document_draft import (
    DocumentDraft,
    EmbeddedFile,
    LimitReached,
    one_line,
)
from desktop_rag.ingest.read.foundation.encoding import NotTextError
from desktop_rag.ingest.read.foundation.encryption import decrypted
from desktop_rag.ingest.read.foundation.format_names import format_of_name
from desktop_rag.ingest.read.foundation.format_table import (
    FORMAT_BY_NAME,
    HTML,
    PDF,
    WEB_PAGE,
)
from desktop_rag.ingest.read.foundation.language import language_of
from desktop_rag.ingest.read.foundation.ocr import Ocr
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.readers import reader_of

__all__ = ["PDF", "decrypted", "detect", "read_as"]

log = logging.getLogger(__name__)

_MAX_DEPTH = 3
_MAX_PARTS = 200


def read_as(
    format_name: str,
    source: SourceFile,
    max_chars: int,
    *,
    is_safe: bool = False,
    is_web_page: bool = False,
    ocr: Ocr | None = None,
) -> ParsedDocument:
    """Read a file whose format was detected. Raises Unreadable if it has no text.

    With `is_safe` only readers that run no native code on the file's bytes are used, if there is
    a choice. `is_web_page` is for a page from the web: of HTML only the main text is taken. What
    is attached to the file becomes parts, all in one list; together they have `max_chars`. `ocr`
    reads pictures of text.
    """
    if is_web_page and format_name == HTML:
        format_name = WEB_PAGE
    reading = _Reading(max_chars, ocr, source.passwords, is_safe=is_safe)
    return reading.document(format_name, source, depth=0)


class _Reading:
    """One file with all that is inside it, within limits for the whole."""

    def __init__(
        self, max_chars: int, ocr: Ocr | None, passwords: tuple[str, ...], *, is_safe: bool
    ) -> None:
        self._ocr = ocr
        self._passwords = passwords
        self._chars_left = max_chars
        self._parts_left = _MAX_PARTS
        self._is_safe = is_safe

    def document(
        self, format_name: str, source: SourceFile, depth: int, inside: str = ""
    ) -> ParsedDocument:
        """The document of a file that lies `depth` files deep, with its parts.

        `inside` is the name that leads to it in the outermost file.
        """
        draft = DocumentDraft(self._chars_left, self._ocr, inside)
        title = self._fill(draft, format_name, source)
        self._chars_left -= draft.length
        parts = self._parts(draft, depth + 1, inside)
        try:
            document = draft.finish(format_name, title or draft.first_heading or source.stem)
        except Unreadable:
            if not any(part.document for part in parts):
                raise
            # A letter with nothing but its attachment is found by its name.
            draft.add(source.stem)
            document = draft.finish(format_name, title or source.stem)
        return replace(document, language=language_of(document.text), parts=tuple(parts))

    def _fill(self, draft: DocumentDraft, format_name: str, source: SourceFile) -> str:
        """Run the reader; returns the title."""
        if source.is_unlocked:
            draft.warn(OPENED_BY_PASSWORD)
        expected = format_of_name(source.path.name)
        if expected not in {None, format_name} and format_name != WEB_PAGE:
            named = f"ends in {source.suffix}" if source.suffix else f"is {source.path.name}"
            draft.warn(f"The content is {format_name}, though the name {named}.")
        try:
            return reader_of(FORMAT_BY_NAME[format_name], is_safe=self._is_safe)(source, draft)
        except LimitReached:
            return ""
        except NotTextError as exc:
            raise Unreadable("unsupported", "Not a text file") from exc
        except Unreadable as exc:
            if exc.reason == "no text" and draft.attachments:
                return ""
            raise

    def _parts(self, draft: DocumentDraft, depth: int, inside: str) -> list[ParsedPart]:
        parts: list[ParsedPart] = []
        taken: set[str] = set()
        for attachment in draft.attachments:
            if self._parts_left <= 0:
                draft.warn(f"Only {_MAX_PARTS} of the files inside it were read.")
                break
            self._parts_left -= 1
            name = _unused(attachment.name, taken)
            taken.add(name)
            part = self._part(replace(attachment, name=name), depth, inside)
            inner = part.document.parts if part.document else ()
            if part.document and inner:
                part = replace(part, document=replace(part.document, parts=()))
            parts.append(part)
            parts += (replace(p, name=f"{name}{HEADING_SEPARATOR}{p.name}") for p in inner)
        return parts

    def _part(self, attachment: EmbeddedFile, depth: int, inside: str) -> ParsedPart:
        """The attached file, or why it is not read. Its failure never fails the file around it."""
        refusal = ""
        if depth > _MAX_DEPTH:
            refusal = "nested too deep"
        elif self._chars_left <= 0:
            refusal = "the file it is in has too much text"
        if refusal:
            return ParsedPart(attachment.name, refusal=refusal)
        passwords = self._passwords
        try:
            source = decrypted(SourceFile(Path(attachment.name), attachment.data, passwords))
            place = f"{inside}{HEADING_SEPARATOR}{attachment.name}"
            return ParsedPart(attachment.name, self.document(detect(source), source, depth, place))
        except Unreadable as exc:
            return ParsedPart(attachment.name, refusal=exc.title)
        except (MemoryError, GeneratorExit, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as exc:
            # A library may raise anything about a damaged file, and those written in Rust raise
            # what is no Exception.
            log.exception("reading an attachment failed")
            hint = one_line(f"{type(exc).__name__}: {exc}")
            return ParsedPart(attachment.name, refusal=f"The file can't be read: {hint}")


def _unused(name: str, taken: set[str]) -> str:
    """The name, numbered if a file beside it has the same: `report (2).pdf`."""
    path = Path(name)
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{path.stem} ({number}){path.suffix}"
    return candidate
