"""The kinds of documents that people sort files by, and the heads of messages. Pure; any thread.

The library and the search filter by the same kinds, under the same names.
"""

import re
from collections.abc import Collection
from enum import StrEnum

from desktop_rag.core.domain import Document
from desktop_rag.core.language.translation import tr


class DocumentKind(StrEnum):
    """The kinds of documents, in the order in which they are listed."""

    PDF = "PDF"
    WORD = "Word document"
    SPREADSHEET = "Spreadsheet"
    SLIDES = "Presentation"
    MAIL = "E-mail"
    WEB = "Web page"
    TEXT = "Text, Markdown"
    BOOK = "E-book"
    PICTURE = "Picture"
    RECORDING = "Recording"
    CODE = "Code and data"
    OTHER = "Other"


_WORDS = {
    DocumentKind.WORD: tr("Word document"),
    DocumentKind.SPREADSHEET: tr("Spreadsheet"),
    DocumentKind.SLIDES: tr("Presentation"),
    DocumentKind.MAIL: tr("E-mail"),
    DocumentKind.WEB: tr("Web page"),
    DocumentKind.TEXT: tr("Text, Markdown"),
    DocumentKind.BOOK: tr("E-book"),
    DocumentKind.PICTURE: tr("Picture"),
    DocumentKind.RECORDING: tr("Recording"),
    DocumentKind.CODE: tr("Code and data"),
    DocumentKind.OTHER: tr("Other"),
}


def kind_in_words(kind: DocumentKind) -> str:
    """The name of the kind."""
    return _WORDS.get(kind, kind.value)


# The formats that the readers name.
_TEXT = "text"
_BY_FORMAT = {
    "PDF": DocumentKind.PDF,
    "Word": DocumentKind.WORD,
    "Word 97-2003": DocumentKind.WORD,
    "OpenDocument text": DocumentKind.WORD,
    "Rich Text": DocumentKind.WORD,
    "spreadsheet": DocumentKind.SPREADSHEET,
    "CSV": DocumentKind.SPREADSHEET,
    "slides": DocumentKind.SLIDES,
    "OpenDocument slides": DocumentKind.SLIDES,
    "PowerPoint 97-2003": DocumentKind.SLIDES,
    "recording": DocumentKind.RECORDING,
    "e-mail": DocumentKind.MAIL,
    "mailbox": DocumentKind.MAIL,
    "Outlook message": DocumentKind.MAIL,
    "winmail.dat": DocumentKind.MAIL,
    "web archive": DocumentKind.WEB,
    "web page": DocumentKind.WEB,
    "HTML": DocumentKind.WEB,
    "EPUB": DocumentKind.BOOK,
    "FB2": DocumentKind.BOOK,
    "picture": DocumentKind.PICTURE,
    "Markdown": DocumentKind.TEXT,
    "reStructuredText": DocumentKind.TEXT,
    "AsciiDoc": DocumentKind.TEXT,
    "Org": DocumentKind.TEXT,
    "LaTeX": DocumentKind.TEXT,
    "calendar": DocumentKind.TEXT,
    "contacts": DocumentKind.TEXT,
    "subtitles": DocumentKind.TEXT,
    "BibTeX": DocumentKind.TEXT,
    "Evernote": DocumentKind.TEXT,
    "OPML": DocumentKind.TEXT,
    "JSON": DocumentKind.CODE,
    "XML": DocumentKind.CODE,
    "notebook": DocumentKind.CODE,
}
# For files that were not read, or whose format says little.
_SUFFIXES = {
    DocumentKind.PDF: "pdf",
    DocumentKind.WORD: "docx docm dotx dotm doc dot odt ott rtf pages wpd",
    DocumentKind.SPREADSHEET: (
        "xlsx xlsm xlsb xls xlt xltx xltm ods ots csv tsv tab numbers parquet"
    ),
    DocumentKind.SLIDES: "pptx pptm ppsx ppsm potx potm ppt pps pot odp otp key",
    DocumentKind.MAIL: "eml emlx msg mbox mbx tnef pst",
    DocumentKind.WEB: "html htm xhtml xht mhtml mht",
    DocumentKind.TEXT: (
        "txt text md markdown mdown mkd rst rest adoc asciidoc org tex ltx latex log nfo"
        " ics ical vcf vcard vtt srt bib enex opml"
    ),
    DocumentKind.BOOK: "epub fb2 mobi azw azw3 djvu",
    DocumentKind.PICTURE: ("png jpg jpeg tif tiff bmp webp gif svg heic heif psd ico raw wmf emf"),
    DocumentKind.CODE: (
        "py js ts c h cc cpp hpp cs java kt go rs rb php pl sh bat ps1 sql css scss lua r swift"
        " json jsonl geojson xml yaml yml toml ini cfg conf ipynb har webmanifest vue m mm v vhd"
        " jsx tsx mjs hs ml mli jl clj ex exs erl dart zig nim pas f90 f95 asm s vb fs fsx groovy"
        " gradle cmake make mk tcl psm1 psd1 zsh fish awk sass less proto graphql tf hcl svelte"
        " ejs mustache sbt csproj sln vcxproj dockerfile diff patch"
    ),
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}


def kind_of(document: Document) -> DocumentKind:
    """The kind of a document: by its format once it was read, else by its name."""
    if known := _BY_FORMAT.get(document.format):
        return known
    if document.url:
        return DocumentKind.WEB
    named = kind_of_name(document.part or document.path.name)
    if document.format == _TEXT:
        return DocumentKind.CODE if named is DocumentKind.CODE else DocumentKind.TEXT
    return named


def kind_of_name(name: str) -> DocumentKind:
    """The kind of a file, by the end of its name or path."""
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    return _BY_SUFFIX.get(suffix, DocumentKind.OTHER)


def kinds_of_format(name: str) -> tuple[DocumentKind, ...]:
    """The kinds that documents of a format may have; none for an unknown one."""
    if name == _TEXT:
        return DocumentKind.TEXT, DocumentKind.CODE
    return (_BY_FORMAT[name],) if name in _BY_FORMAT else ()


def types_of(kinds: Collection[DocumentKind]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types to filter by for documents of these kinds, and the types to leave out."""
    types = [name.lower() for name, kind in _BY_FORMAT.items() if kind in kinds]
    code = tuple(f"{_TEXT}/{suffix}" for suffix in _SUFFIXES[DocumentKind.CODE].split())
    if DocumentKind.TEXT in kinds:
        others = () if DocumentKind.CODE in kinds else code
        return (*types, _TEXT), others
    return (*types, *(code if DocumentKind.CODE in kinds else ())), ()


# Readers write the head of a message in English, and so it is stored.
_LINE = re.compile(r"(From|To|Cc|Date|Subject): (.*)\n?")


def head_line(text: str, at: int) -> re.Match[str] | None:
    """The line of a head at an offset: its name and its value."""
    return _LINE.match(text, at)


def head_name(name: str) -> str:
    """The translated name of a line: `Subject`."""
    return _named(name, "").rstrip().removesuffix(":")


def with_head_in_words(text: str, path: str, part: str = "") -> str:
    """A piece of a document; if it begins with the head of a message, that is translated."""
    if kind_of_name(part or path) is not DocumentKind.MAIL:
        return text
    lines: list[str] = []
    at = 0
    while found := head_line(text, at):
        lines.append(_named(found[1], found[2]) + found[0][len(found[1]) + 2 + len(found[2]) :])
        at = found.end()
    return "".join(lines) + text[at:]


def _named(name: str, value: str) -> str:
    match name:
        case "From":
            return tr("From: {value}", value=value)
        case "To":
            return tr("To: {value}", value=value)
        case "Cc":
            return tr("Cc: {value}", value=value)
        case "Date":
            return tr("Date: {value}", value=value)
        case _:
            return tr("Subject: {value}", value=value)
