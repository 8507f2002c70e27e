"""How a document is shown, by its format. Pure; any thread."""

from enum import StrEnum

from desktop_rag.core.domain import Document


class ContentKind(StrEnum):
    """The ways to show a document."""

    PAGES = "pages"
    SHEETS = "sheets"
    SLIDES = "slides"
    MAIL = "mail"
    CODE = "code"
    MARKDOWN = "Markdown"
    SECTIONS = "sections"
    PLAIN = "plain"


_BY_FORMAT = {
    "PDF": ContentKind.PAGES,
    "spreadsheet": ContentKind.SHEETS,
    "CSV": ContentKind.SHEETS,
    "slides": ContentKind.SLIDES,
    "OpenDocument slides": ContentKind.SLIDES,
    "PowerPoint 97-2003": ContentKind.SLIDES,
    "e-mail": ContentKind.MAIL,
    "Outlook message": ContentKind.MAIL,
    "Markdown": ContentKind.MARKDOWN,
    "notebook": ContentKind.MARKDOWN,
    "text": ContentKind.CODE,
    "JSON": ContentKind.CODE,
    "picture": ContentKind.PLAIN,
    "recording": ContentKind.PLAIN,
    "subtitles": ContentKind.PLAIN,
    "contacts": ContentKind.PLAIN,
    "calendar": ContentKind.PLAIN,
}
_PROSE = frozenset({
    *("", ".txt", ".text", ".log", ".srt", ".vtt", ".nfo", ".textile", ".wiki", ".mediawiki"),
    *(".ics", ".vcf"),
})  # fmt: skip


def kind_of(document: Document) -> ContentKind:
    """How this document is shown; a PDF inside another file as text, since it has no file."""
    kind = _BY_FORMAT.get(document.format, ContentKind.SECTIONS)
    if kind is ContentKind.PAGES and document.part:
        return ContentKind.PLAIN
    if kind is ContentKind.CODE and document.format == "text":
        name = document.part or document.path.name
        is_prose = f".{name.rpartition('.')[2].lower()}" in _PROSE if "." in name else True
        return ContentKind.PLAIN if is_prose else ContentKind.CODE
    return kind
