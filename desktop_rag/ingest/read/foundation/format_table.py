"""The table of formats: everything the app knows of a kind of file stands in its row.

Imports no format library, so the parent reads it too. A new format is a row here and its reader, or
the same in an installed package, whose entry point in `desktop_rag.readers` is the row.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Literal

from desktop_rag.core.recordings import (
    RECORDING,
    RECORDING_START,
    RECORDING_SUFFIXES,
    RECORDING_WEAK_START,
)

log = logging.getLogger(__name__)

# Where a source in a file of the format opens. The place of a message is its subject.
Place = Literal["page", "heading", "slide", "cells", "message", "line", "time"]

PDF = "PDF"
HTML = "HTML"
WEB_PAGE = "web page"
EPUB = "EPUB"
MAIL = "e-mail"
MAILBOX = "mailbox"
WEB_ARCHIVE = "web archive"
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Signature:
    """The marks by which content that is not plain text is recognised.

    `start` matches the first bytes. `weak_start` does too, but is so short that a text may begin
    with it by chance, so it counts only where the content is not text. The other fields name what
    a container holds: the type that an OpenDocument or EPUB archive states, the folder of an
    Office archive, the streams of an old Office container.
    """

    start: re.Pattern[bytes] | None = None
    weak_start: re.Pattern[bytes] | None = None
    mimetypes: tuple[str, ...] = ()
    office_folder: str = ""
    ole_streams: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file.

    `name` is stored with each document; `kind` is what a person calls such files in a list.
    `suffixes` are in lower case with their dot. `reader` is a function as `module:name`, imported
    at the first file of the format; `safe_reader` runs no native code on the bytes. A format
    without `signature` is text, recognised by the name of the file, or by `text_start` where the
    name says nothing. `extra` is the optional extra without which its files have no text; text
    of what `is_transcribed` comes from a server.
    """

    name: str
    kind: str
    suffixes: tuple[str, ...]
    place: Place
    reader: str
    safe_reader: str = ""
    signature: Signature | None = None
    text_start: re.Pattern[bytes] | None = None
    extra: str = ""
    is_transcribed: bool = False


def _suffixes(written: str) -> tuple[str, ...]:
    return tuple(written.split())


_READ = "desktop_rag.ingest.read"
_CARDS = f"{_READ}.markup.calendar_card"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
_PICTURE_START = rb"\x89PNG\r\n|\xff\xd8\xff|II\*\0|MM\0\*|RIFF.{4}WEBP|BM.{4}\0{4}"
_HTML_START = rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b"

# Where content fits two rows, the upper one holds.
_OWN = (
    Format(
        PDF, "PDF", (".pdf",), "page",
        f"{_READ}.pdf.pdf:read", safe_reader=f"{_READ}.pdf.pdf:read_with_pypdf",
        signature=Signature(start=re.compile(rb"[\s\0\xef\xbb\xbf]*%PDF-")),
    ),
    Format(
        "Word", "Word", _suffixes(".docx .docm .dotx .dotm"), "heading",
        f"{_READ}.office.word:read", signature=Signature(office_folder="word/"),
    ),
    Format(
        "spreadsheet", "Excel",
        _suffixes(".xlsx .xlsm .xlsb .xls .xlt .xltx .xltm .ods .ots"), "cells",
        f"{_READ}.office.spreadsheet:read",
        signature=Signature(
            mimetypes=(f"{_OPEN_DOCUMENT}.spreadsheet",), office_folder="xl/",
            ole_streams=("workbook", "book"),
        ),
    ),
    Format(
        "slides", "PowerPoint", _suffixes(".pptx .pptm .ppsx .ppsm .potx .potm"), "slide",
        f"{_READ}.office.slides:read", signature=Signature(office_folder="ppt/"),
    ),
    Format(
        "OpenDocument text", "OpenDocument", _suffixes(".odt .ott"), "heading",
        f"{_READ}.office.open_document:read_text",
        signature=Signature(
            mimetypes=(f"{_OPEN_DOCUMENT}.text", f"{_OPEN_DOCUMENT}.text-master")
        ),
    ),
    Format(
        "OpenDocument slides", "OpenDocument", _suffixes(".odp .otp"), "slide",
        f"{_READ}.office.open_document:read_slides",
        signature=Signature(mimetypes=(f"{_OPEN_DOCUMENT}.presentation",)),
    ),
    Format(
        "Outlook message", "e-mail", (".msg",), "message", f"{_READ}.mail.outlook:read",
        signature=Signature(ole_streams=("__properties_version1.0",)),
    ),
    Format(
        "Rich Text", "RTF", (".rtf",), "heading", f"{_READ}.old_office.rich_text:read",
        signature=Signature(start=re.compile(rb"\{\\rtf")),
    ),
    Format(
        "Word 97-2003", "Word", _suffixes(".doc .dot"), "heading",
        f"{_READ}.old_office.old_word:read", signature=Signature(ole_streams=("worddocument",)),
    ),
    Format(
        "PowerPoint 97-2003", "PowerPoint", _suffixes(".ppt .pps .pot"), "slide",
        f"{_READ}.old_office.old_slides:read",
        signature=Signature(ole_streams=("powerpoint document",)),
    ),
    Format(
        EPUB, "EPUB", (".epub",), "heading", f"{_READ}.markup.epub:read",
        signature=Signature(mimetypes=("application/epub+zip",)),
    ),
    Format(
        "picture", "images", _suffixes(".png .jpg .jpeg .tif .tiff .bmp .webp .gif"), "page",
        f"{_READ}.pdf.image_ocr:read", extra="ocr",
        signature=Signature(
            start=re.compile(_PICTURE_START, re.DOTALL), weak_start=re.compile(rb"BM|GIF8")
        ),
    ),
    # Its text comes from a server; this reader is for recordings inside other files.
    Format(
        RECORDING, "recordings", RECORDING_SUFFIXES, "time",
        f"{_READ}.formats:refuse_recording", is_transcribed=True,
        signature=Signature(start=RECORDING_START, weak_start=RECORDING_WEAK_START),
    ),
    Format(
        HTML, "HTML", _suffixes(".html .htm .xhtml .xht"), "heading",
        f"{_READ}.markup.web_page:read",
        text_start=re.compile(_HTML_START, re.IGNORECASE | re.DOTALL),
    ),
    # The main text of an HTML file that was fetched.
    Format(WEB_PAGE, "web pages", (), "heading", f"{_READ}.markup.main_text:read"),
    Format(
        "Markdown", "Markdown", _suffixes(".md .markdown .mdown .mkd"), "heading",
        f"{_READ}.markup.markdown:read",
    ),
    Format(
        MAILBOX, "e-mail", _suffixes(".mbox .mbx"), "message",
        f"{_READ}.mail.mail_message:read_mailbox",
        text_start=re.compile(
            rb"From \S[^\n]* (?:19|20)\d\d[^\n]*\n(?=[A-Za-z][A-Za-z0-9-]*:)"
            # Programs leave out the date, or the sender too.
            rb"|From \S+[ \t]*\n(?=(?:From|Date|Received|Return-Path|Message-ID|MIME-Version"
            rb"|X-[A-Za-z0-9-]+|Delivered-To|Subject|To):)"
        ),
    ),
    Format(MAIL, "e-mail", (".eml", ".emlx"), "message", f"{_READ}.mail.mail_message:read"),
    Format(
        WEB_ARCHIVE, "web pages", (".mht", ".mhtml"), "heading",
        f"{_READ}.mail.mail_message:read_web_archive",
    ),
    Format(
        "winmail.dat", "e-mail", (".tnef",), "message", f"{_READ}.mail.outlook:read_winmail",
        signature=Signature(start=re.compile(rb"\x78\x9f\x3e\x22")),
    ),
    Format(
        "calendar", "calendars", (".ics", ".ical"), "heading", f"{_CARDS}:read",
        text_start=re.compile(rb"BEGIN:VCALENDAR\b"),
    ),
    Format(
        "contacts", "contacts", (".vcf", ".vcard"), "heading", f"{_CARDS}:read",
        text_start=re.compile(rb"BEGIN:VCARD\b"),
    ),
    Format(
        "subtitles", "subtitles", (".vtt", ".srt"), "line", f"{_READ}.markup.subtitles:read",
        text_start=re.compile(rb"WEBVTT\b"),
    ),
    Format("BibTeX", "BibTeX", (".bib",), "heading", f"{_READ}.markup.bibtex:read"),
    Format("Evernote", "Evernote", (".enex",), "heading", f"{_READ}.markup.evernote:read"),
    Format("FB2", "FB2", (".fb2",), "heading", f"{_READ}.markup.xml_text:read"),
    Format("OPML", "OPML", (".opml",), "line", f"{_READ}.markup.xml_text:read_outline"),
    Format("notebook", "notebooks", (".ipynb",), "heading", f"{_READ}.markup.notebook:read"),
    Format(
        "reStructuredText", "reStructuredText", _suffixes(".rst .rest"), "heading",
        f"{_READ}.markup.light_markup:read_restructured_text",
    ),
    Format(
        "AsciiDoc", "AsciiDoc", _suffixes(".adoc .asciidoc"), "heading",
        f"{_READ}.markup.light_markup:read_asciidoc",
    ),
    Format("Org", "Org", (".org",), "heading", f"{_READ}.markup.light_markup:read_org"),
    Format(
        "LaTeX", "LaTeX", _suffixes(".tex .ltx .latex"), "heading",
        f"{_READ}.markup.light_markup:read_latex",
    ),
    Format(
        "CSV", "CSV", _suffixes(".csv .tsv .tab"), "cells",
        f"{_READ}.office.spreadsheet:read_delimited",
    ),
    Format(
        "JSON", "JSON", _suffixes(".json .geojson .jsonld .webmanifest .har"), "line",
        f"{_READ}.markup.json_text:read",
    ),
    Format(
        "XML", "XML",
        _suffixes(
            ".xml .nxml .dita .ditamap .docbook .dbk .tei .rss .atom .xbrl .rdf .owl"
            " .xlf .xliff .tmx .ttml .fodt .fodp .fods"
        ),
        "line", f"{_READ}.markup.xml_text:read",
        text_start=re.compile(rb"\s*<(?:\?xml|!DOCTYPE)\s", re.IGNORECASE),
    ),
    # The names that Pygments knows as source code come on top.
    Format(
        TEXT, "plain text",
        _suffixes(
            ".txt .text .log .conf .zsh .svelte .mdx .rmd .qmd .textile .wiki .mediawiki"
            " .nfo .dockerfile .sty .bbl .ejs .mustache .sbt .csproj .sln .vcxproj"
        ),
        "line", f"{_READ}.markup.plain_text:read",
    ),
)  # fmt: skip
READERS = "desktop_rag.readers"


def _installed() -> Iterator[Format]:
    """The rows of installed packages, without the suffixes that others have already."""
    taken = {suffix for row in _OWN for suffix in row.suffixes}
    for entry in entry_points(group=READERS):
        try:
            row: Format = entry.load()
            yield replace(row, suffixes=tuple(s for s in row.suffixes if s not in taken))
        except Exception:
            # The fault of another package, without which all else is read.
            log.exception("the reader %s can't be loaded", entry.name)


FORMATS = (*_OWN, *_installed())
FORMAT_BY_NAME: Mapping[str, Format] = MappingProxyType({row.name: row for row in FORMATS})


def kinds_read() -> tuple[str, ...]:
    """The kinds of files that are read without any extra or server, as a person calls them."""
    kinds = (row.kind for row in FORMATS if not row.extra and not row.is_transcribed)
    return (*dict.fromkeys(kinds), "source code")
