"""Who reads a format. A reader and its libraries are loaded at its first file.

A reader fills the draft from the bytes of a file and returns the title, or "" if there is none.
Runs in the parser process.
"""

from collections.abc import Callable

from desktop_rag.ingest.read.foundation import format_names
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile

Reader = Callable[[SourceFile, DocumentDraft], str]


def reader_of(format_name: str, *, is_safe: bool) -> Reader:
    """The reader of a format, plain text for an unknown one.

    With `is_safe` it runs no native code on the file's bytes, if there is a choice.
    """
    if format_name == format_names.PDF:
        from desktop_rag.ingest.read.pdf import pdf

        return pdf.read_with_pypdf if is_safe else pdf.read
    return _office_reader(format_name) or _packed_reader(format_name) or _text_reader(format_name)


def _office_reader(format_name: str) -> Reader | None:
    match format_name:
        case format_names.WORD:
            from desktop_rag.ingest.read.office.word import read
        case format_names.SPREADSHEET:
            from desktop_rag.ingest.read.office.spreadsheet import read
        case format_names.SLIDES:
            from desktop_rag.ingest.read.office.slides import read
        case format_names.OPEN_TEXT:
            from desktop_rag.ingest.read.office.open_document import read_text as read
        case format_names.OPEN_SLIDES:
            from desktop_rag.ingest.read.office.open_document import read_slides as read
        case format_names.RICH_TEXT:
            from desktop_rag.ingest.read.old_office.rich_text import read
        case format_names.OLD_WORD:
            from desktop_rag.ingest.read.old_office.old_word import read
        case format_names.OLD_SLIDES:
            from desktop_rag.ingest.read.old_office.old_slides import read
        case _:
            return None
    return read


def _packed_reader(format_name: str) -> Reader | None:
    """Readers of what holds several texts, and of pictures."""
    match format_name:
        case format_names.EPUB:
            from desktop_rag.ingest.read.markup.epub import read
        case format_names.MAIL:
            from desktop_rag.ingest.read.mail.eml import read
        case format_names.MAILBOX:
            from desktop_rag.ingest.read.mail.mailbox import read
        case format_names.OUTLOOK:
            from desktop_rag.ingest.read.mail.outlook import read
        case format_names.NOTEBOOK:
            from desktop_rag.ingest.read.markup.notebook import read
        case format_names.PICTURE:
            from desktop_rag.ingest.read.pdf.picture import read
        case _:
            return None
    return read


def _text_reader(format_name: str) -> Reader:
    match format_name:
        case format_names.MARKDOWN:
            from desktop_rag.ingest.read.markup.markdown import read
        case format_names.HTML:
            from desktop_rag.ingest.read.markup.web_page import read
        case format_names.WEB_PAGE:
            from desktop_rag.ingest.read.markup.main_text import read
        case format_names.CSV:
            from desktop_rag.ingest.read.office.delimited import read
        case format_names.XML:
            from desktop_rag.ingest.read.markup.xml_text import read
        case format_names.JSON:
            from desktop_rag.ingest.read.markup.json_text import read
        case _ if format_name in format_names.MARKUP:
            from desktop_rag.ingest.read.markup import light_markup

            read = light_markup.READERS[format_name]
        case _:
            from desktop_rag.ingest.read.markup.plain_text import read
    return read
