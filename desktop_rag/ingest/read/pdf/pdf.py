"""PDF: the text of each page. PDFium first, pypdf when it fails.

PDFium runs native code on foreign bytes, so a bad file can take the process down; the parent then
asks once more for pypdf. Runs in the parser process.
"""

import logging
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

import regex

from desktop_rag.core.domain import OPENED_BY_PASSWORD
from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.blocks import SAMPLE_ROWS, header_row
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, day_of, one_line
from desktop_rag.ingest.read.foundation.encryption import encrypted
from desktop_rag.ingest.read.foundation.ocr import READ_FROM_PICTURES, ocr_hint
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.pdf.layers import without_hidden_layers
from desktop_rag.ingest.read.pdf.legibility import SecondReader, is_legible, pypdf_reader
from desktop_rag.ingest.read.pdf.page_layout import Run
from desktop_rag.ingest.read.pdf.pdf_pages import (
    MAX_PAGES,
    PageState,
    PageText,
    attach_files,
    open_pdf,
    outline_of,
    pages_of,
)

if TYPE_CHECKING:
    from pypdf import PdfReader

log = logging.getLogger(__name__)

# PDFium writes U+FFFE for a hyphen at a line's end and joins the line below.
_JOINT = re.compile(r"(\w*)(?P<hyphen>\ufffe|\u00ad\n?)(\w*)")
_WORD = re.compile(r"\w+(?:-\w+)*")
# PDFium leaves the hyphen after a digit, and the end of its line.
_CODE_END = re.compile(r"(?<=\d-)\r?\n(?=\w)")
_CODE = regex.compile(r"\d-\w|\w-\d|\p{L}-\p{Lu}")
_MACHINE_MADE = re.compile(
    r"^(?:untitled|document\d*|title|slide \d+|\((?:anonymous|unspecified)\))$|^[\W\d_]*$"
    r"|^\S+\.(?:docx?|pdf|indd|tex|dvi|pptx?|xlsx?|qxd|rtf)$",
    re.IGNORECASE,
)
_APPLICATION = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ", re.IGNORECASE)
_MIN_TITLE_CHARS = 3


def find_line(page: str, title: str) -> int | None:
    """The offset at which the title stands on lines of its own, None without such a place."""
    words = r"\s+".join(re.escape(word) for word in title.split())
    found = re.search(rf"^[ \t]*{words}[ \t]*$", page, re.MULTILINE | re.IGNORECASE)
    return found.start() if found else None


def joined_words(pages: list[str]) -> list[str]:
    """Join words that are broken at the end of a line, or keep their hyphen where it belongs.

    The rest of the document decides, and no other document: `touch-based` stays if it, or `touch`
    and `based`, occur, unless `touchbased` does. A hyphen beside a digit or before a capital is
    part of a code or name: ZX-4471-B, Nord-Ostsee.
    """
    pages = [_CODE_END.sub("", text) for text in pages]
    if not any(_JOINT.search(text) for text in pages):
        return pages
    known = {word.casefold() for text in pages for word in _WORD.findall(_JOINT.sub(" ", text))}

    def join(match: re.Match[str]) -> str:
        first, second = match[1], match[3]
        whole = (first + second).casefold()
        hyphenated = f"{first}-{second}".casefold()
        are_words = first.casefold() in known and second.casefold() in known
        joint = f"{first[-1:]}-{second[:1]}"
        if match["hyphen"] == "\ufffe":
            are_words |= _CODE.fullmatch(joint) is not None
        if whole not in known and (hyphenated in known or are_words):
            return f"{first}-{second}"
        return first + second

    return [_JOINT.sub(join, text) for text in pages]


def sensible_title(title: str) -> str:
    """The title, or nothing if a program made it up."""
    title = _APPLICATION.sub("", one_line(title))
    if len(title) < _MIN_TITLE_CHARS or _MACHINE_MADE.match(title):
        return ""
    return title


_PAGE_BREAK = "\n\n"
_CELL_BORDER = " | "
_MAX_LISTED = 20
_UNREAD = {PageState.PICTURE, PageState.GARBLED}


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft with PDFium, or with pypdf if PDFium can't open the file."""
    import pypdfium2

    try:
        document, is_unlocked = open_pdf(source)
        shown = without_hidden_layers(source)
        if shown is not source:
            document.close()
            document, _ = open_pdf(shown)
    except pypdfium2.PdfiumError:
        return read_with_pypdf(source, draft)
    with document:
        if is_unlocked:
            draft.warn(OPENED_BY_PASSWORD)
        attach_files(document, draft)
        second = SecondReader(shown, has_hidden_layers=shown is not source)
        pages = _collected(draft, pages_of(document, draft, second))
        _write(draft, pages, outline_of(document))
        draft.made = day_of(str(document.get_metadata_value("CreationDate")).removeprefix("D:"))
        return sensible_title(str(document.get_metadata_value("Title")))


def read_with_pypdf(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft without native code: slower, and tolerant of damage."""
    from pypdf.errors import FileNotDecryptedError

    try:
        reader, is_unlocked = pypdf_reader(source)
        if is_unlocked:
            draft.warn(OPENED_BY_PASSWORD)
        pages = _collected(draft, _pypdf_pages(reader))
    except FileNotDecryptedError as exc:
        raise encrypted() from exc
    except (Unreadable, MemoryError):
        raise
    except Exception as exc:  # pypdf lets any error of a damaged file through
        raise Unreadable("damaged", "The file is damaged", "It is no valid PDF.") from exc
    title = _pypdf_title(reader)
    _write(draft, pages, ())
    return title


def _pypdf_pages(reader: "PdfReader") -> Iterator[PageText]:
    labels = _pypdf_labels(reader)
    for index in range(min(len(reader.pages), MAX_PAGES)):
        try:
            text = reader.pages[index].extract_text()
        except Exception:  # as with a damaged page
            log.info("page %s can't be read", index + 1, exc_info=True)
            yield PageText("", PageState.FAILED)
            continue
        # It does not tell cheaply whether anything is drawn there.
        state = PageState.TEXT if text.strip() else PageState.PICTURE
        if not is_legible(text):
            text, state = "", PageState.GARBLED
        yield PageText(text, state, labels.get(index, ""))


def _pypdf_labels(reader: "PdfReader") -> dict[int, str]:
    try:
        labels = enumerate(reader.page_labels) if "/PageLabels" in reader.root_object else ()
        return {index: label for index, label in labels if label != str(index + 1)}
    except Exception:  # and of damaged labels
        log.info("the page labels can't be read", exc_info=True)
        return {}


def _pypdf_title(reader: "PdfReader") -> str:
    try:
        return sensible_title(str((reader.metadata and reader.metadata.title) or ""))
    except Exception:  # and of damaged metadata
        log.info("the metadata can't be read", exc_info=True)
        return ""


def _collected(draft: DocumentDraft, found: Iterator[PageText]) -> list[PageText]:
    """Pages up to the limit of text. Raises Unreadable if there is none."""
    pages: list[PageText] = []
    chars = 0
    for page in found:
        pages.append(page)
        chars += len(page.text)
        if chars > draft.max_chars:
            break
    if not any(page.text.strip() for page in pages):
        raise _without_text(draft, {page.state for page in pages})
    _warn(draft, pages)
    return pages


def _without_text(draft: DocumentDraft, states: set[PageState]) -> Unreadable:
    if states <= {PageState.FAILED}:
        return Unreadable("damaged", "The file is damaged", "None of its pages can be read.")
    return Unreadable("no text", "No text found", _why_no_text(draft, states))


def _why_no_text(draft: DocumentDraft, states: set[PageState]) -> str:
    if PageState.WORDLESS in states and not states & _UNREAD:
        return "There is none in the pictures on its pages either."
    if not states & _UNREAD:
        return "Its pages are blank."
    reads_pictures = draft.ocr is not None and draft.ocr.is_installed
    if reads_pictures and draft.warnings:
        return " ".join(draft.warnings)
    if PageState.GARBLED in states:
        why = "The file does not tell which characters the letters on its pages are."
    else:
        why = "Its pages may be scanned pictures."
    return f"{why} {'They were not read.' if reads_pictures else ocr_hint()}"


def _warn(draft: DocumentDraft, pages: list[PageText]) -> None:
    if failed := _numbers(pages, {PageState.FAILED}):
        draft.warn(f"Pages that can't be read: {failed}.")
    if garbled := _numbers(pages, {PageState.GARBLED}):
        draft.warn(f"Pages whose text is unreadable: {garbled}.")
    if pictures := _numbers(pages, {PageState.PICTURE}):
        draft.warn(f"Pages without text that may be scanned pictures: {pictures}.")
    if garbled or pictures:
        if draft.ocr is not None and draft.ocr.is_spent:
            draft.warn("The file has more pictures than are read.")
        elif draft.ocr is None or not draft.ocr.is_installed:
            draft.warn(ocr_hint())
    if read_pages := _numbers(pages, {PageState.READ}):
        draft.warn(f"{READ_FROM_PICTURES} Pages: {read_pages}.")


def _numbers(pages: list[PageText], states: set[PageState]) -> str:
    """The pages in these states, as `2, 5-9, 12`."""
    ranges: list[list[int]] = []
    for number, page in enumerate(pages, start=1):
        if page.state not in states:
            continue
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in ranges[:_MAX_LISTED]]
    return ", ".join([*shown, "…"] if len(ranges) > _MAX_LISTED else shown)


def _write(
    draft: DocumentDraft, pages: list[PageText], outline: Iterable[tuple[int, int, str]]
) -> None:
    texts = joined_words([page.text for page in pages])
    starts = [0, *accumulate(len(text) + len(_PAGE_BREAK) for text in texts)]
    headings: dict[int, tuple[int, str]] = {}
    for index, level, title in outline:
        offset = find_line(texts[index], title) if index < len(texts) else None
        if offset is not None:
            headings.setdefault(starts[index] + offset, (level, title))
    for offset in sorted(headings):
        draft.add_heading(*headings[offset], offset)
    before: Run | None = None
    head = ""
    for number, (page, text) in enumerate(zip(pages, texts, strict=True), start=1):
        if number > 1:
            draft.add(_PAGE_BREAK)
        draft.mark(Anchor(page=number, page_label=page.label or None))
        done = 0
        for table in page.tables:
            found = header_row(table.rows()[:SAMPLE_ROWS])
            if found is not None:
                head = _CELL_BORDER.join(filter(None, found[1]))
            elif not table.continues(before):
                head = ""
            before = table
            start, end = _place_of(table, found[0] + 1 if found else 0, text, done)
            if head and end > start:
                draft.add(text[done:start])
                place = draft.length
                draft.add(text[start:end])
                draft.add_table_header(place, head)
                done = end
        before = before if page.tables else None
        draft.add(text[done:])


def _place_of(table: Run, first: int, text: str, begin: int) -> tuple[int, int]:
    """The span of the page's text from a line of the table to its last, empty without them."""
    lines = table.shown[first:]
    start = text.find(lines[0], begin) if lines else -1
    end = text.find(lines[-1], start) if start >= 0 else -1
    return (start, end + len(lines[-1])) if end >= 0 else (begin, begin)
