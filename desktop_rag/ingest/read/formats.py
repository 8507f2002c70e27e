"""Which reader reads a file: its content decides, then its name.

Importing this imports no format library, so the parent may ask for `supported_suffixes`; reading
happens in the parser process only.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable

from desktop_rag.core.domain import ParsedDocument
from desktop_rag.ingest.read import ole
from desktop_rag.ingest.read.draft import Draft, LimitReached
from desktop_rag.ingest.read.encoding import NotTextError, looks_like_text
from desktop_rag.ingest.read.source import SourceFile, Unreadable

PDF = "PDF"
WORD = "Word"
SPREADSHEET = "spreadsheet"
MARKDOWN = "Markdown"
HTML = "HTML"
CSV = "CSV"
TEXT = "text"

_SUFFIXES = {
    PDF: ".pdf",
    WORD: ".docx .docm",
    SPREADSHEET: ".xlsx .xlsm .xlsb .xls .ods",
    MARKDOWN: ".md .markdown .mdown .mkd",
    HTML: ".html .htm .xhtml",
    CSV: ".csv .tsv .tab",
    TEXT: (
        ".txt .text .log .rst .adoc .asciidoc .org .tex .json .jsonl .xml .yaml .yml .toml .ini"
        " .cfg .conf .properties .env .srt .vtt .py .pyi .js .mjs .ts .jsx .tsx .java .kt .kts .c"
        " .h .cc .cpp .cxx .hpp .cs .go .rs .rb .php .pl .pm .lua .r .m .swift .scala .clj .hs .ml"
        " .erl .ex .exs .dart .sql .sh .bash .zsh .fish .bat .cmd .ps1 .css .scss .less .vue"
        " .svelte .tf .gradle .cmake .diff .patch .bib .proto .graphql"
    ),
}
_FORMAT_OF_SUFFIX = {
    suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}
# Text to the eye, but not as it stands.
_UNSUPPORTED_TEXT = {
    ".eml": "e-mail", ".mbox": "mailbox", ".mht": "web archive", ".mhtml": "web archive",
    ".ipynb": "notebook", ".svg": "picture", ".eps": "picture", ".ps": "PostScript",
}  # fmt: skip
_MAGIC = (
    (b"{\\rtf", "Rich Text"), (b"\x89PNG\r\n", "picture"), (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"), (b"II*\0", "picture"), (b"MM\0*", "picture"), (b"BM", "picture"),
    (b"\x1f\x8b", "archive"), (b"7z\xbc\xaf\x27\x1c", "archive"), (b"Rar!\x1a\x07", "archive"),
    (b"BZh", "archive"), (b"\xfd7zXZ\0", "archive"), (b"\x28\xb5\x2f\xfd", "archive"),
    (b"ID3", "audio or video"), (b"OggS", "audio or video"), (b"fLaC", "audio or video"),
    (b"RIFF", "audio or video"), (b"\x1a\x45\xdf\xa3", "audio or video"), (b"MZ", "program"),
    (b"\x7fELF", "program"), (b"SQLite format 3\0", "database"), (b"!BDN", "Outlook mailbox"),
)  # fmt: skip
# Short enough to begin a text by chance; only believed if the rest is no text either.
_WEAK_MAGIC = {b"BM", b"MZ", b"BZh", b"ID3", b"RIFF", b"GIF8"}
_OLE_KINDS = {
    "workbook": SPREADSHEET, "book": SPREADSHEET, "worddocument": "Word 97-2003",
    "powerpoint document": "PowerPoint 97-2003", "__properties_version1.0": "Outlook message",
}  # fmt: skip
# The begin-of-file record of an Excel workbook with the record for its password right behind.
_BIFF_PASSWORD = re.compile(rb"\x09\x08\x10\x00\x00\x06.{14}\x2f\x00", re.DOTALL)
_PDF_START = re.compile(rb"\A[\s\0\xef\xbb\xbf]*%PDF-")
_PDF_HEADER_BYTES = 1024
_HTML_START = re.compile(
    rb"[\s\xef\xbb\xbf\xff\xfe]*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_PEEK_BYTES = 4000
_MIMETYPE_BYTES = 200
_OFFICE_FOLDERS = {"word/": WORD, "xl/": SPREADSHEET, "ppt/": "PowerPoint", "visio/": "Visio"}
_MIMETYPES = {
    "application/vnd.oasis.opendocument.spreadsheet": SPREADSHEET,
    "application/vnd.oasis.opendocument.text": "OpenDocument text",
    "application/vnd.oasis.opendocument.presentation": "OpenDocument slides",
    "application/epub+zip": "EPUB",
}
_BINARY_FORMATS = {PDF, WORD, SPREADSHEET}


def supported_suffixes() -> frozenset[str]:
    """The suffixes, in lower case with their dot, of files worth reading."""
    return frozenset(_FORMAT_OF_SUFFIX)


def detect(source: SourceFile) -> str:
    """The format of a file we can read. Raises Unreadable, with what it is, for any other."""
    data = source.data
    if not data:
        raise Unreadable("empty", "Empty file")
    is_named_pdf = _FORMAT_OF_SUFFIX.get(source.suffix) == PDF
    header = data[:_PDF_HEADER_BYTES]
    if _PDF_START.match(header) or (is_named_pdf and b"%PDF-" in header):
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _supported(_kind_of_archive(source))
    if data.startswith(ole.MAGIC):
        return _supported(_kind_of_ole(source))
    is_text = looks_like_text(data)
    for magic, kind in _MAGIC:
        if data.startswith(magic) and not (is_text and magic in _WEAK_MAGIC):
            return _supported(kind)
    return _kind_of_text(source) if is_text else _refuse_binary(source)


def read_as(
    format_name: str, source: SourceFile, max_chars: int, *, is_safe: bool = False
) -> ParsedDocument:
    """Read a file whose format was detected. Raises Unreadable if there is nothing to have.

    With `is_safe` only readers that run no native code on the file's bytes are used, if there is
    a choice.
    """
    draft = Draft(max_chars)
    expected = _FORMAT_OF_SUFFIX.get(source.suffix, format_name)
    if expected != format_name:
        draft.warn(f"The content is {format_name}, though the name ends in {source.suffix}.")
    try:
        title = _reader(format_name, is_safe=is_safe)(source, draft)
    except LimitReached:
        title = ""
    except NotTextError as exc:
        raise Unreadable("unsupported", "Not a text file") from exc
    return draft.finish(format_name, title or draft.first_heading or source.stem)


def _reader(format_name: str, *, is_safe: bool) -> Callable[[SourceFile, Draft], str]:
    """The function that reads the format; its library is loaded at its first file."""
    match format_name:
        case "PDF":
            from desktop_rag.ingest.read import pdf

            return pdf.read_with_pypdf if is_safe else pdf.read
        case "Word":
            from desktop_rag.ingest.read import word as reader
        case "spreadsheet":
            from desktop_rag.ingest.read import spreadsheet as reader
        case "Markdown":
            from desktop_rag.ingest.read import markdown as reader
        case "HTML":
            from desktop_rag.ingest.read import web_page as reader
        case "CSV":
            from desktop_rag.ingest.read import delimited as reader
        case _:
            from desktop_rag.ingest.read import plain_text as reader
    return reader.read


def _supported(kind: str) -> str:
    if kind in _SUFFIXES:
        return kind
    raise Unreadable("unsupported", f"Not supported: {kind}")


def _kind_of_text(source: SourceFile) -> str:
    if source.suffix in _UNSUPPORTED_TEXT:
        return _supported(_UNSUPPORTED_TEXT[source.suffix])
    named = _FORMAT_OF_SUFFIX.get(source.suffix)
    # Without its zeros UTF-16 reads like ASCII, as far as markup goes.
    is_page = _HTML_START.match(source.data[:_PEEK_BYTES].replace(b"\0", b""))
    if is_page and (named in _BINARY_FORMATS or source.suffix in {"", ".txt", ".text"}):
        return HTML
    return TEXT if named is None or named in _BINARY_FORMATS else named


def _refuse_binary(source: SourceFile) -> str:
    named = _FORMAT_OF_SUFFIX.get(source.suffix)
    if named in _BINARY_FORMATS:
        raise Unreadable("damaged", "The file is damaged", f"Its content is no {named} file.")
    raise Unreadable("unsupported", "Not a text file")


def _kind_of_archive(source: SourceFile) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            names = archive.namelist()
            if "mimetype" in names:
                with archive.open("mimetype") as file:
                    mimetype = file.read(_MIMETYPE_BYTES).decode("ascii", "replace").strip()
                return _MIMETYPES.get(mimetype, "archive")
    except (zipfile.BadZipFile, RuntimeError, zlib.error) as exc:
        raise Unreadable("damaged", "The file is damaged", "It is cut short or altered.") from exc
    if any(name.lower() == "[content_types].xml" for name in names):
        for folder, kind in _OFFICE_FOLDERS.items():
            if any(name.lower().startswith(folder) for name in names):
                return kind
        return _FORMAT_OF_SUFFIX.get(source.suffix, "Office file")
    return "Apple iWork" if any(name.endswith(".iwa") for name in names) else "archive"


def _kind_of_ole(source: SourceFile) -> str:
    names = {name.lower() for name in ole.root_names(source.data)}
    if "encryptedpackage" in names or _BIFF_PASSWORD.search(source.data):
        raise Unreadable("encrypted", "Encrypted: a password is needed")
    return next((_OLE_KINDS[name] for name in _OLE_KINDS if name in names), "old Office file")
