"""Who reads a format. A reader and its libraries are loaded at its first file.

A reader fills the draft from the bytes of a file and returns the title, or "" if there is none.
Runs in the parser process.
"""

from collections.abc import Callable

from desktop_rag.ingest.read import names
from desktop_rag.ingest.read.draft import Draft
from desktop_rag.ingest.read.source import SourceFile

Reader = Callable[[SourceFile, Draft], str]


def reader_of(format_name: str, *, is_safe: bool) -> Reader:
    """The reader of a format, plain text for an unknown one.

    With `is_safe` it runs no native code on the file's bytes, if there is a choice.
    """
    if format_name == names.PDF:
        from desktop_rag.ingest.read import pdf

        return pdf.read_with_pypdf if is_safe else pdf.read
    return _office_reader(format_name) or _packed_reader(format_name) or _text_reader(format_name)


def _office_reader(format_name: str) -> Reader | None:
    match format_name:
        case names.WORD:
            from desktop_rag.ingest.read.word import read
        case names.SPREADSHEET:
            from desktop_rag.ingest.read.spreadsheet import read
        case names.SLIDES:
            from desktop_rag.ingest.read.slides import read
        case names.OPEN_TEXT:
            from desktop_rag.ingest.read.open_document import read_text as read
        case names.OPEN_SLIDES:
            from desktop_rag.ingest.read.open_document import read_slides as read
        case names.RICH_TEXT:
            from desktop_rag.ingest.read.rich_text import read
        case names.OLD_WORD:
            from desktop_rag.ingest.read.old_word import read
        case names.OLD_SLIDES:
            from desktop_rag.ingest.read.old_slides import read
        case _:
            return None
    return read


def _packed_reader(format_name: str) -> Reader | None:
    """Readers of what holds several texts, and of pictures."""
    match format_name:
        case names.EPUB:
            from desktop_rag.ingest.read.book import read
        case names.MAIL:
            from desktop_rag.ingest.read.mail import read
        case names.MAILBOX:
            from desktop_rag.ingest.read.mailbox import read
        case names.OUTLOOK:
            from desktop_rag.ingest.read.outlook import read
        case names.NOTEBOOK:
            from desktop_rag.ingest.read.notebook import read
        case names.PICTURE:
            from desktop_rag.ingest.read.picture import read
        case _:
            return None
    return read


def _text_reader(format_name: str) -> Reader:
    match format_name:
        case names.MARKDOWN:
            from desktop_rag.ingest.read.markdown import read
        case names.HTML:
            from desktop_rag.ingest.read.web_page import read
        case names.WEB_PAGE:
            from desktop_rag.ingest.read.main_text import read
        case names.CSV:
            from desktop_rag.ingest.read.delimited import read
        case names.XML:
            from desktop_rag.ingest.read.xml_text import read
        case names.JSON:
            from desktop_rag.ingest.read.json_text import read
        case _ if format_name in names.MARKUP:
            from desktop_rag.ingest.read import markup

            read = markup.READERS[format_name]
        case _:
            from desktop_rag.ingest.read.plain_text import read
    return read
