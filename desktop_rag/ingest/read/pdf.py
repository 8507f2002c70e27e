"""PDF: the text of each page. PDFium first, pypdf when it fails.

PDFium runs native code on foreign bytes, so a bad file can take the process down; the parent then
asks once more for pypdf. Runs in the parser process.
"""

import io
import logging
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from desktop_rag.core.domain import Anchor
from desktop_rag.ingest.read.draft import Draft, one_line
from desktop_rag.ingest.read.source import SourceFile, Unreadable

if TYPE_CHECKING:
    from pypdf import PdfReader
    from pypdfium2 import PdfDocument, PdfPage

log = logging.getLogger(__name__)

_PASSWORD_ERROR = 4
_PAGE_BREAK = "\n\n"
# PDFium writes U+FFFE for a hyphen at a line's end and joins the line below.
_JOINT = re.compile(r"(\w*)(?:\ufffe|\u00ad\n?)(\w*)")
_WORD = re.compile(r"\w+(?:-\w+)*")
_MACHINE_MADE = re.compile(
    r"^(?:untitled|document\d*|title|slide \d+)$|^[\W\d_]*$"
    r"|^\S+\.(?:docx?|pdf|indd|tex|dvi|pptx?|xlsx?|qxd|rtf)$",
    re.IGNORECASE,
)
_APPLICATION = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ", re.IGNORECASE)
_MIN_TITLE_CHARS = 3
_MAX_LISTED = 20
_MAX_BOOKMARKS = 5000
_MAX_LEVEL = 6
_MAX_ANNOTATIONS = 1000


def read(source: SourceFile, draft: Draft) -> str:
    """Fill the draft with PDFium, or with pypdf if PDFium can't open the file."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(source.data)
    except pypdfium2.PdfiumError as exc:
        if exc.err_code == _PASSWORD_ERROR:
            raise _encrypted() from exc
        return read_with_pypdf(source, draft)
    with document:
        pages = _collected(draft, _pdfium_pages(document))
        _write(draft, pages, _pdfium_outline(document))
        return _sensible(str(document.get_metadata_value("Title")))


def read_with_pypdf(source: SourceFile, draft: Draft) -> str:
    """Fill the draft without native code: slower, and forgiving."""
    import pypdf
    from pypdf.errors import FileNotDecryptedError

    # It remarks on everything that is odd; what matters becomes a warning of the document.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(source.data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise _encrypted()
        pages = _collected(draft, _pypdf_pages(reader))
    except FileNotDecryptedError as exc:
        raise _encrypted() from exc
    except (Unreadable, MemoryError):
        raise
    except Exception as exc:  # pypdf lets any error of a damaged file through
        raise Unreadable("damaged", "The file is damaged", "It is no valid PDF.") from exc
    title = _pypdf_title(reader)
    _write(draft, pages, ())
    return title


def _encrypted() -> Unreadable:
    return Unreadable("encrypted", "Encrypted: a password is needed")


def _pdfium_pages(document: "PdfDocument") -> Iterator[str | None]:
    """The text of each page, None for one that can't be read."""
    import pypdfium2.raw as pdfium
    from pypdfium2 import PdfiumError

    for index in range(len(document)):
        try:
            page = document[index]
            if _has_fields(page) and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY):
                # What is filled in is part of the page from now on, once it is loaded again.
                page.close()
                page = document[index]
            text_page = page.get_textpage()
            # Not get_text_bounded: that loses line breaks, and with them borders of words.
            yield text_page.get_text_range().replace("\r\n", "\n")
            text_page.close()
            page.close()
        except PdfiumError:
            yield None


def _has_fields(page: "PdfPage") -> bool:
    """Whether the page has form fields or typed notes, which hold text of their own."""
    import pypdfium2.raw as pdfium

    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        pdfium.FPDFPage_CloseAnnot(annotation)
        if kind in {pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT}:
            return True
    return False


def _pypdf_pages(reader: "PdfReader") -> Iterator[str | None]:
    for index in range(len(reader.pages)):
        try:
            yield reader.pages[index].extract_text()
        except Exception:  # as with a damaged page
            log.info("page %s can't be read", index + 1, exc_info=True)
            yield None


def _pypdf_title(reader: "PdfReader") -> str:
    try:
        return _sensible(str((reader.metadata and reader.metadata.title) or ""))
    except Exception:  # and of damaged metadata
        log.info("the metadata can't be read", exc_info=True)
        return ""


def _collected(draft: Draft, pages: Iterator[str | None]) -> list[str]:
    """The pages until there is more than enough text. Raises Unreadable if there is none."""
    texts: list[str] = []
    failed: list[int] = []
    chars = 0
    for number, text in enumerate(pages, start=1):
        if text is None:
            failed.append(number)
        texts.append(text or "")
        chars += len(texts[-1])
        if chars > draft.max_chars:
            break
    if failed and len(failed) == len(texts):
        raise Unreadable("damaged", "The file is damaged", "None of its pages can be read.")
    if failed:
        draft.warn(f"Pages that can't be read: {', '.join(map(str, failed[:_MAX_LISTED]))}")
    blank = sum(not text.strip() for text in texts) - len(failed)
    if blank == len(texts):
        raise Unreadable("no text", "No text found", "Its pages may be scanned pictures.")
    if blank:
        draft.warn(f"{blank} of {len(texts)} pages hold no text; they may be scanned pictures.")
    return texts


def _write(draft: Draft, pages: list[str], outline: Iterable[tuple[int, int, str]]) -> None:
    pages = _joined_words(pages)
    starts = [0, *accumulate(len(text) + len(_PAGE_BREAK) for text in pages)]
    headings: dict[int, tuple[int, str]] = {}
    for index, level, title in outline:
        offset = _find_line(pages[index], title) if index < len(pages) else None
        if offset is not None:
            headings.setdefault(starts[index] + offset, (level, title))
    for offset in sorted(headings):
        draft.add_heading(*headings[offset], offset)
    for number, text in enumerate(pages, start=1):
        if number > 1:
            draft.add(_PAGE_BREAK)
        draft.mark(Anchor(page=number))
        draft.add(text)


def _pdfium_outline(document: "PdfDocument") -> Iterator[tuple[int, int, str]]:
    """(page from 0, level, title) of the document's own table of contents."""
    for bookmark in islice(document.get_toc(max_depth=_MAX_LEVEL), _MAX_BOOKMARKS):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        title = one_line(bookmark.get_title())
        if index is not None and title:
            yield index, bookmark.level + 1, title


def _find_line(page: str, title: str) -> int | None:
    """Where the page has the title as its own line or lines; elsewhere it is no heading for us."""
    words = r"\s+".join(re.escape(word) for word in title.split())
    found = re.search(rf"^[ \t]*{words}[ \t]*$", page, re.MULTILINE | re.IGNORECASE)
    return found.start() if found else None


def _joined_words(pages: list[str]) -> list[str]:
    """Words broken at a line's end put together, or their hyphen put back where it belongs.

    The rest of the document knows: `touch-based` stays if it, or `touch` and `based`, stand there.
    """
    if not any(_JOINT.search(text) for text in pages):
        return pages
    known = {word.casefold() for text in pages for word in _WORD.findall(_JOINT.sub(" ", text))}

    def join(match: re.Match[str]) -> str:
        first, second = match[1], match[2]
        whole = (first + second).casefold()
        hyphenated = f"{first}-{second}".casefold()
        are_words = first.casefold() in known and second.casefold() in known
        if hyphenated in known or (whole not in known and are_words):
            return f"{first}-{second}"
        return first + second

    return [_JOINT.sub(join, text) for text in pages]


def _sensible(title: str) -> str:
    """The title if a person may have written it, otherwise nothing."""
    title = _APPLICATION.sub("", one_line(title))
    if len(title) < _MIN_TITLE_CHARS or _MACHINE_MADE.match(title):
        return ""
    return title
