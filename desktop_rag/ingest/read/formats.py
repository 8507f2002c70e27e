"""Reads a file, and the files inside it, into one document with its parts.

The face of this room: the parser process asks it for documents. Importing it loads no format
library.
"""

import importlib
import io
import logging
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import cast

from desktop_rag.core.domain import OPENED_BY_PASSWORD
from desktop_rag.core.markup.own_words import is_exported
from desktop_rag.core.parsed import HEADING_SEPARATOR, ParsedDocument, ParsedPart
from desktop_rag.ingest.read.foundation import ole
from desktop_rag.ingest.read.foundation.document_draft import (
    DocumentDraft,
    EmbeddedFile,
    LimitReached,
)
from desktop_rag.ingest.read.foundation.encoding import NotTextError, looks_like_text
from desktop_rag.ingest.read.foundation.encryption import decrypted, encrypted
from desktop_rag.ingest.read.foundation.format_names import format_of_name
from desktop_rag.ingest.read.foundation.format_table import (
    EPUB,
    FORMAT_BY_NAME,
    FORMATS,
    HTML,
    MAIL,
    MAILBOX,
    PDF,
    TEXT,
    WEB_ARCHIVE,
    WEB_PAGE,
    Format,
)
from desktop_rag.ingest.read.foundation.language import language_of
from desktop_rag.ingest.read.foundation.ocr import Ocr
from desktop_rag.ingest.read.foundation.source_file import (
    POWERPOINT_95,
    TOO_OLD,
    SourceFile,
    Unreadable,
    too_old,
)

log = logging.getLogger(__name__)

# Where a file says that the app exported it.
_HEAD_BYTES = 1_000

# Fills the draft from the bytes of a file and returns the title, or "" if there is none.
Reader = Callable[[SourceFile, DocumentDraft], str]


def reader_of(row: Format, *, is_safe: bool) -> Reader:
    """The reader of a format, imported with its libraries at the first file.

    With `is_safe` it runs no native code on the bytes of the file, where there is a choice.
    """
    written = (is_safe and row.safe_reader) or row.reader
    module, _, function = written.partition(":")
    return cast("Reader", getattr(importlib.import_module(module), function))


_HEADER_BYTES = 1024
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_MIMETYPE_BYTES = 200
# The begin-of-file record of an Excel workbook with the record for its password right behind.
_BIFF_PASSWORD = re.compile(rb"\x09\x08\x10\x00\x00\x06.{14}\x2f\x00", re.DOTALL)
# Recognised only to tell the person what the file is: by first bytes, …
_UNREAD_STARTS = (
    (b"\x1f\x8b", "archive"), (b"7z\xbc\xaf\x27\x1c", "archive"), (b"Rar!\x1a\x07", "archive"),
    (b"\xfd7zXZ\0", "archive"), (b"\x28\xb5\x2f\xfd", "archive"), (b"\x7fELF", "program"),
    (b"SQLite format 3\0", "database"), (b"!BDN", "Outlook mailbox"),
    (b"\xffWPC", "WordPerfect"),
    *((start, kind) for kind, starts in TOO_OLD.items() for start in starts),
)  # fmt: skip
# … by first bytes that a text may begin with too, …
_UNREAD_WEAK_STARTS = (
    (b"BZh", "archive"), (b"RIFF", "audio or video"), (b"MZ", "program"),
)  # fmt: skip
# … by what a container holds, …
_UNREAD_MIMETYPES = {"application/vnd.oasis.opendocument.graphics": "drawing"}
_IWORK_09 = "buildversionhistory.plist"
_UNREAD_FOLDERS = {"visio/": "Visio"}
_UNREAD_STREAMS = {"visiodocument": "Visio", "quill": "Publisher", "pp40": POWERPOINT_95}
# … or by name, where it is text to the eye.
_UNREAD_TEXT = {".svg": "drawing", ".eps": "drawing", ".ps": "PostScript"}
_PEEK_BYTES = 16_000
_MAIL_LINE = re.compile(rb"([A-Za-z][A-Za-z0-9-]{1,60}):")
_MAIL_SENDERS = {b"from", b"received", b"return-path", b"message-id"}
_MAIL_STAMPS = {b"date", b"received", b"message-id", b"mime-version", b"return-path"}
_MAIL_HEADERS = _MAIL_SENDERS | _MAIL_STAMPS | {b"to", b"cc", b"subject", b"delivered-to"}
_MIN_MAIL_HEADERS = 3
_MULTIPART = re.compile(rb"^content-type:\s*multipart/", re.IGNORECASE | re.MULTILINE)
# Names that say too little: the content of such a text is looked at.
_VAGUE_SUFFIXES = {"", ".txt", ".text"}
_MAIL_KINDS = {MAIL, MAILBOX, WEB_ARCHIVE}
# Keys that are text: passages may be sent to an endpoint.
_SECRET = re.compile(rb"\s*-----BEGIN (?:[A-Z0-9 ]+ )?PRIVATE KEY")
# The source of a PDF without its first line.
_PDF_OBJECT = re.compile(rb"\d \d+ obj\b.*?\b(?:endobj|stream|trailer)\b", re.DOTALL)
_SIGNATURES = {row.name: row.signature for row in FORMATS if row.signature}
_STARTS = [(sign.start, name) for name, sign in _SIGNATURES.items() if sign.start]
_WEAK_STARTS = [(sign.weak_start, name) for name, sign in _SIGNATURES.items() if sign.weak_start]
_MIMETYPES = _UNREAD_MIMETYPES | {
    mimetype: name for name, sign in _SIGNATURES.items() for mimetype in sign.mimetypes
}
_OFFICE_FOLDERS = {
    sign.office_folder: name for name, sign in _SIGNATURES.items() if sign.office_folder
} | _UNREAD_FOLDERS
_OLE_STREAMS = {
    stream: name for name, sign in _SIGNATURES.items() for stream in sign.ole_streams
} | _UNREAD_STREAMS
_TEXT_STARTS = [(row.text_start, row.name) for row in FORMATS if row.text_start]


def detect(source: SourceFile) -> str:
    """The format of a file by its content, then its name. Raises Unreadable for any other kind."""
    data = source.data
    if not data:
        raise Unreadable("empty", "Empty file")
    header = data[:_HEADER_BYTES]
    if format_of_name(source.path.name) == PDF and b"%PDF-" in header:
        return PDF
    if data.startswith(_ZIP_STARTS):
        return _readable(_kind_of_archive(source))
    if data.startswith(ole.MAGIC):
        return _readable(_kind_of_ole(source))
    kind = _kind_of_start(header, _STARTS, _UNREAD_STARTS)
    is_doubtful = format_of_name(source.path.name) is None
    is_text = not kind and (
        bool(source.hints.chosen) or looks_like_text(data, is_doubtful=is_doubtful)
    )
    if not kind and not is_text:
        kind = _kind_of_start(header, _WEAK_STARTS, _UNREAD_WEAK_STARTS)
    if kind:
        return _readable(kind)
    if not is_text and b"%PDF-" in header:
        return PDF
    return _kind_of_text(source) if is_text else _refuse_binary(source)


def _kind_of_start(
    header: bytes,
    formats: Iterable[tuple[re.Pattern[bytes], str]],
    unread: Iterable[tuple[bytes, str]],
) -> str:
    """The kind of content with this start, "" for none of them."""
    by_format = next((name for start, name in formats if start.match(header)), "")
    return by_format or next((kind for start, kind in unread if header.startswith(start)), "")


def _readable(kind: str) -> str:
    if kind in FORMAT_BY_NAME:
        return kind
    if kind in TOO_OLD:
        raise too_old(kind)
    raise Unreadable("unsupported", f"Not supported: {kind}")


def _kind_of_text(source: SourceFile) -> str:
    if source.suffix in _UNREAD_TEXT:
        return _readable(_UNREAD_TEXT[source.suffix])
    if _SECRET.match(source.data):
        raise Unreadable("unsupported", "Not supported: private key")
    named = format_of_name(source.path.name)
    is_misnamed = named is None or named in _SIGNATURES
    if (is_misnamed or named == PDF) and _PDF_OBJECT.search(source.data[:_PEEK_BYTES]):
        # Its syntax is no text; what there is of the file is for the tolerant reader.
        return PDF
    found = _kind_of_vague_text(source.data)
    if not is_misnamed and source.suffix not in _VAGUE_SUFFIXES and found not in _MAIL_KINDS:
        # Any source code may begin like a page.
        found = ""
    elif named in _MAIL_KINDS and found in _MAIL_KINDS:
        found = named
    if found:
        return found
    return TEXT if named is None or is_misnamed else named


def _kind_of_vague_text(data: bytes) -> str:
    """The kind of a text by its first lines, "" for nothing in particular."""
    # Without its zeros UTF-16 reads like ASCII, as far as markup goes.
    peek = data[:_PEEK_BYTES].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    peek = peek.replace(b"\r\n", b"\n")
    by_start = next((name for start, name in _TEXT_STARTS if start.match(peek)), "")
    if by_start:
        return by_start
    return MAIL if _begins_with_mail_headers(peek) else ""


def _begins_with_mail_headers(peek: bytes) -> bool:
    """True when only header lines, of the kinds that mail has, stand before the first blank one."""
    head, blank, _ = peek.partition(b"\n\n")
    lines = head.split(b"\n")
    if not blank:
        # The headers are longer than what is looked at, and the last line is cut.
        if len(peek) < _PEEK_BYTES // 2:
            return False
        lines.pop()
    found: set[bytes] = set()
    for line in lines:
        match = _MAIL_LINE.match(line)
        if match:
            found.add(match[1].lower())
        elif not (found and line[:1] in {b" ", b"\t"}):
            return False
    if not found & _MAIL_SENDERS:
        return False
    if not found & _MAIL_STAMPS:
        # A list of recipients may be longer than what is looked at.
        return not blank and b"to" in found
    return len(found & _MAIL_HEADERS) >= _MIN_MAIL_HEADERS or bool(_MULTIPART.search(head))


def _refuse_binary(source: SourceFile) -> str:
    named = format_of_name(source.path.name)
    if named in _SIGNATURES:
        raise Unreadable("damaged", "The file is damaged", f"Its content is no {named} file.")
    raise Unreadable("unsupported", "Not a text file")


def _kind_of_archive(source: SourceFile) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            parts = archive.namelist()
            if "mimetype" in parts:
                with archive.open("mimetype") as file:
                    mimetype = file.read(_MIMETYPE_BYTES).decode("ascii", "replace").strip()
                return _MIMETYPES.get(mimetype.removesuffix("-template"), "archive")
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, OSError) as exc:
        raise Unreadable("damaged", "The file is damaged", "It is cut short or altered.") from exc
    lowered = [part.lower() for part in parts]
    if "[content_types].xml" in lowered:
        for folder, kind in _OFFICE_FOLDERS.items():
            if any(part.startswith(folder) for part in lowered):
                return kind
        return format_of_name(source.path.name) or "Office file"
    if "meta-inf/container.xml" in lowered:
        return EPUB
    # Of 2013 and later, and of before.
    is_iwork = any(part.endswith(".iwa") for part in lowered) or _IWORK_09 in lowered
    return "Apple iWork" if is_iwork else "archive"


def _kind_of_ole(source: SourceFile) -> str:
    found = {name.lower() for name in ole.root_names(source.data)}
    if "encryptedpackage" in found or _BIFF_PASSWORD.search(source.data):
        raise encrypted()
    return next((kind for name, kind in _OLE_STREAMS.items() if name in found), "old Office file")


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
    reading = _Reading(max_chars, ocr, source, is_safe=is_safe)
    return reading.document(format_name, source, depth=0)


class _Reading:
    """One file with all that is inside it, within limits for the whole."""

    def __init__(
        self, max_chars: int, ocr: Ocr | None, outermost: SourceFile, *, is_safe: bool
    ) -> None:
        self._ocr = ocr
        self._outermost = outermost
        self._chars_left = max_chars
        self._parts_left = _MAX_PARTS
        self._is_safe = is_safe

    def document(
        self, format_name: str, source: SourceFile, depth: int, inside: str = ""
    ) -> ParsedDocument:
        """The document of a file that lies `depth` files deep, with its parts.

        `inside` is the name that leads to it in the outermost file.
        """
        draft = DocumentDraft(self._chars_left, self._ocr, inside, source.hints)
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
        draft.is_by_app = is_exported(source.data[:_HEAD_BYTES].decode("utf-8", "replace"))
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
        if depth > _MAX_DEPTH:
            return ParsedPart(attachment.name, refusal="nested too deep")
        if self._chars_left <= 0:
            return ParsedPart(attachment.name, refusal="the file it is in has too much text")
        try:
            inner = replace(
                self._outermost, path=Path(attachment.name), data=attachment.data, is_unlocked=False
            )
            source = decrypted(inner)
            place = f"{inside}{HEADING_SEPARATOR}{attachment.name}"
            return ParsedPart(attachment.name, self.document(detect(source), source, depth, place))
        except Unreadable as exc:
            return ParsedPart(attachment.name, refusal=exc.title)
        except (MemoryError, GeneratorExit, KeyboardInterrupt, SystemExit):
            raise
        except BaseException:
            # A library may raise anything about a damaged file, and those written in Rust raise
            # what is no Exception.
            log.exception("reading an attachment failed")
            return ParsedPart(attachment.name, refusal="the file can't be read: it may be damaged")


def refuse_recording(_source: SourceFile, _draft: DocumentDraft) -> str:
    """Refuse a recording inside another file; one that is a file of its own is transcribed."""
    hint = "Recordings are transcribed where they are files in a folder of the library."
    raise Unreadable("unsupported", "Not supported: audio or video", hint)


def _unused(name: str, taken: set[str]) -> str:
    """The name, numbered if a file beside it has the same: `report (2).pdf`."""
    path = Path(name)
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{path.stem} ({number}){path.suffix}"
    return candidate
