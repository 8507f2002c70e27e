"""What a file is: its content decides, then its name.

Looks at a few kilobytes, and at the list of parts of a container. Runs in the parser process.
"""

import io
import re
import zipfile
import zlib

from desktop_rag.ingest.read.foundation import format_names as names
from desktop_rag.ingest.read.foundation import ole
from desktop_rag.ingest.read.foundation.encoding import looks_like_text
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable

_PDF_START = re.compile(rb"\A[\s\0\xef\xbb\xbf]*%PDF-")
_PDF_HEADER_BYTES = 1024
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_MAGIC = (
    (b"{\\rtf", names.RICH_TEXT),
    (b"\x89PNG\r\n", names.PICTURE), (b"\xff\xd8\xff", names.PICTURE), (b"GIF8", names.PICTURE),
    (b"II*\0", names.PICTURE), (b"MM\0*", names.PICTURE), (b"BM", names.PICTURE),
    (b"\x1f\x8b", "archive"), (b"7z\xbc\xaf\x27\x1c", "archive"), (b"Rar!\x1a\x07", "archive"),
    (b"BZh", "archive"), (b"\xfd7zXZ\0", "archive"), (b"\x28\xb5\x2f\xfd", "archive"),
    (b"ID3", "audio or video"), (b"OggS", "audio or video"), (b"fLaC", "audio or video"),
    (b"RIFF", "audio or video"), (b"\x1a\x45\xdf\xa3", "audio or video"), (b"MZ", "program"),
    (b"\x7fELF", "program"), (b"SQLite format 3\0", "database"), (b"!BDN", "Outlook mailbox"),
    (b"\x78\x9f\x3e\x22", "winmail.dat"), (b"\x09\x02\x06\x00", "workbook of Excel 3"),
    (b"\x09\x04\x06\x00", "workbook of Excel 4"),
)  # fmt: skip
# Short enough to begin a text by chance; only believed if the rest is no text either.
_WEAK_MAGIC = {b"BM", b"MZ", b"BZh", b"ID3", b"RIFF", b"GIF8"}
_WEBP = re.compile(rb"RIFF.{4}WEBP", re.DOTALL)
_BITMAP = re.compile(rb"BM.{4}\0{4}", re.DOTALL)
# Text to the eye, but not as it stands.
_UNSUPPORTED_TEXT = {
    ".mht": "web archive", ".mhtml": "web archive", ".svg": "drawing", ".eps": "drawing",
    ".ps": "PostScript",
}  # fmt: skip
_OLE_KINDS = {
    "__properties_version1.0": names.OUTLOOK, "workbook": names.SPREADSHEET,
    "book": names.SPREADSHEET, "worddocument": names.OLD_WORD,
    "powerpoint document": names.OLD_SLIDES, "visiodocument": "Visio", "quill": "Publisher",
}  # fmt: skip
# The begin-of-file record of an Excel workbook with the record for its password right behind.
_BIFF_PASSWORD = re.compile(rb"\x09\x08\x10\x00\x00\x06.{14}\x2f\x00", re.DOTALL)
_OFFICE_FOLDERS = {
    "word/": names.WORD, "xl/": names.SPREADSHEET, "ppt/": names.SLIDES, "visio/": "Visio",
}  # fmt: skip
_MIMETYPE_BYTES = 200
_MIMETYPES = {
    "application/vnd.oasis.opendocument.spreadsheet": names.SPREADSHEET,
    "application/vnd.oasis.opendocument.text": names.OPEN_TEXT,
    "application/vnd.oasis.opendocument.text-master": names.OPEN_TEXT,
    "application/vnd.oasis.opendocument.presentation": names.OPEN_SLIDES,
    "application/vnd.oasis.opendocument.graphics": "drawing",
    "application/epub+zip": names.EPUB,
}
_PEEK_BYTES = 16_000
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_XML_START = re.compile(rb"\s*<(?:\?xml|!DOCTYPE)\s", re.IGNORECASE)
_MAIL_LINE = re.compile(rb"([A-Za-z][A-Za-z0-9-]{1,60}):")
_MAIL_SENDERS = {b"from", b"received", b"return-path", b"message-id"}
_MAIL_STAMPS = {b"date", b"received", b"message-id", b"mime-version", b"return-path"}
_MAIL_HEADERS = _MAIL_SENDERS | _MAIL_STAMPS | {b"to", b"cc", b"subject", b"delivered-to"}
_MIN_MAIL_HEADERS = 3
_MULTIPART = re.compile(rb"^content-type:\s*multipart/", re.IGNORECASE | re.MULTILINE)
_MAILBOX_START = re.compile(rb"From \S[^\n]* (?:19|20)\d\d[^\n]*\n(?=[A-Za-z][A-Za-z0-9-]*:)")
# Names that say so little that the content of a text is looked at.
_VAGUE_SUFFIXES = {"", ".txt", ".text"}
_BINARY_FORMATS = {
    names.PDF, names.WORD, names.SPREADSHEET, names.SLIDES, names.OPEN_TEXT, names.OPEN_SLIDES,
    names.RICH_TEXT, names.OLD_WORD, names.OLD_SLIDES, names.EPUB, names.OUTLOOK, names.PICTURE,
}  # fmt: skip


def detect(source: SourceFile) -> str:
    """The format of a file we can read. Raises Unreadable, with what it is, for any other."""
    data = source.data
    if not data:
        raise Unreadable("empty", "Empty file")
    is_named_pdf = names.format_of_name(source.path.name) == names.PDF
    header = data[:_PDF_HEADER_BYTES]
    if _PDF_START.match(header) or (is_named_pdf and b"%PDF-" in header):
        return names.PDF
    if data.startswith(_ZIP_STARTS):
        return _supported(_kind_of_archive(source))
    if data.startswith(ole.MAGIC):
        return _supported(_kind_of_ole(source))
    if _WEBP.match(data) or _BITMAP.match(data):
        return names.PICTURE
    is_text = looks_like_text(data)
    for magic, kind in _MAGIC:
        if data.startswith(magic) and not (is_text and magic in _WEAK_MAGIC):
            return _supported(kind)
    return _kind_of_text(source) if is_text else _refuse_binary(source)


def _supported(kind: str) -> str:
    if names.is_supported(kind):
        return kind
    raise Unreadable("unsupported", f"Not supported: {kind}")


def _kind_of_text(source: SourceFile) -> str:
    if source.suffix in _UNSUPPORTED_TEXT:
        return _supported(_UNSUPPORTED_TEXT[source.suffix])
    named = names.format_of_name(source.path.name)
    if named is None or named in _BINARY_FORMATS or source.suffix in _VAGUE_SUFFIXES:
        found = _kind_of_vague_text(source.data)
        if found:
            return found
    return names.TEXT if named is None or named in _BINARY_FORMATS else named


def _kind_of_vague_text(data: bytes) -> str:
    """What the text is by its first lines, "" for nothing in particular."""
    # Without its zeros UTF-16 reads like ASCII, as far as markup goes.
    peek = data[:_PEEK_BYTES].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    if _HTML_START.match(peek):
        return names.HTML
    if _XML_START.match(peek):
        return names.XML
    peek = peek.replace(b"\r\n", b"\n")
    envelope = _MAILBOX_START.match(peek)
    if envelope:
        return names.MAILBOX
    return names.MAIL if _begins_with_mail_headers(peek) else ""


def _begins_with_mail_headers(peek: bytes) -> bool:
    """Strict: nothing but header lines before the first blank one, and those that mail has."""
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
    if not found & _MAIL_SENDERS or not found & _MAIL_STAMPS:
        return False
    return len(found & _MAIL_HEADERS) >= _MIN_MAIL_HEADERS or bool(_MULTIPART.search(head))


def _refuse_binary(source: SourceFile) -> str:
    named = names.format_of_name(source.path.name)
    if named in _BINARY_FORMATS:
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
        return names.format_of_name(source.path.name) or "Office file"
    if "meta-inf/container.xml" in lowered:
        return names.EPUB
    return "Apple iWork" if any(part.endswith(".iwa") for part in lowered) else "archive"


def _kind_of_ole(source: SourceFile) -> str:
    found = {name.lower() for name in ole.root_names(source.data)}
    if "encryptedpackage" in found or _BIFF_PASSWORD.search(source.data):
        raise Unreadable("encrypted", "Encrypted: a password is needed")
    return next((_OLE_KINDS[name] for name in _OLE_KINDS if name in found), "old Office file")
