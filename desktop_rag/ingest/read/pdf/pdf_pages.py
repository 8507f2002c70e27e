"""The pages of a PDF as PDFium sees them: text, label, and whether there is more to see than read.

Native code on foreign bytes; runs in the parser process.
"""

import ctypes
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.encryption import encrypted
from desktop_rag.ingest.read.foundation.ocr import MAX_SIDE_PX, Ocr, OcrFailedError
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.pdf.glyphs import (
    BOXES,
    Glyphs,
    Placed,
    addresses,
    filled_in,
    raised_digits,
)
from desktop_rag.ingest.read.pdf.layers import HIDDEN_LAYER
from desktop_rag.ingest.read.pdf.legibility import SecondReader, is_legible
from desktop_rag.ingest.read.pdf.page_layout import (
    Run,
    edited,
    empty_cells,
    runs_of,
    spaced_letters,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage


# One sign stands for the letter lam with an alef behind it; the two come out the wrong way round.
_SWAPPED = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
_SEAM = re.compile(
    "(?<=[A-Za-z0-9])(?=[\u0590-\u06ff])|(?<=[\u0590-\u065f\u066a-\u06ef])(?=[A-Za-z0-9])"
)


def in_written_order(text_page: "PdfTextPage", text: str) -> str:
    """The page's text, as long as before, with the two letters of an Arabic sign put right.

    An article is spelled like the swapped letters, but its two letters stand side by side.
    """
    letters: list[str] | None = None
    for match in _SWAPPED.finditer(text):
        if _are_one_sign(text_page, text, match.start()):
            letters = letters or list(text)
            letters[match.start()], letters[match.start() + 1] = match[0][1], match[0][0]
    return "".join(letters) if letters else text


def parted(text: str) -> str:
    """The text with a space between scripts, which lines of both run together."""
    return _SEAM.sub(" ", text)


def _are_one_sign(text_page: "PdfTextPage", text: str, offset: int) -> bool:
    import pypdfium2.raw as pdfium

    # PDFium counts halves of surrogate pairs.
    unit = len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2
    places = [
        pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, unit + step) for step in range(2)
    ]
    return min(places) >= 0 and text_page.get_charbox(places[0]) == text_page.get_charbox(places[1])


_MAX_NOTE_BYTES = 200_000
_HIDDEN = 2


def note_of(annotation: object, kind: int) -> str:
    """The text of a comment or form value as a line of the page, "" if none or hidden."""
    import pypdfium2.raw as pdfium

    if pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
        return ""
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        # Of a box to tick the value is a name.
        is_typed = pdfium.FPDFAnnot_GetValueType(annotation, b"V") == pdfium.FPDF_OBJECT_STRING
        return _value(annotation, b"V") if is_typed else ""
    text = _value(annotation, b"Contents")
    # What they say of a link or a file is its name.
    if not text or kind in {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_FILEATTACHMENT}:
        return ""
    return text if kind == pdfium.FPDF_ANNOT_FREETEXT else f"[Comment: {text}]"


def _box(annotation: object) -> str:
    """The state of a box to tick, "" for other fields and hidden ones."""
    import pypdfium2.raw as pdfium

    state = _value(annotation, b"AS")
    is_hidden = pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN
    return BOXES[state != "Off"] if state and not is_hidden else ""


def unseen(notes: Iterable[str], text: str) -> list[str]:
    """The notes whose words the text of the page lacks."""
    shown = " ".join(text.split())
    found = dict.fromkeys(notes)
    return [n for n in found if n and n.removeprefix("[Comment: ").removesuffix("]") not in shown]


def _value(annotation: object, key: bytes) -> str:
    import pypdfium2.raw as pdfium

    size = min(pdfium.FPDFAnnot_GetStringValue(annotation, key, None, 0), _MAX_NOTE_BYTES)
    if size <= ctypes.sizeof(ctypes.c_ushort):
        return ""
    buffer = ctypes.create_string_buffer(size)
    units = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    pdfium.FPDFAnnot_GetStringValue(annotation, key, units, size)
    return " ".join(buffer.raw[: size - 2].decode("utf-16-le", "replace").split())


MAX_PAGES = 100_000
_MAX_ANNOTATIONS = 1000
_MAX_BOOKMARKS = 5000
_MAX_LEVEL = 6
_MAX_OBJECTS = 2000
_MAX_FORM_DEPTH = 5
# A letter is drawn with ten or twenty; a line and a frame with two and five.
_MIN_SEGMENTS = 60
_MAX_FAILED_IN_A_ROW = 2000
_MAX_ATTACHED_BYTES = 200_000_000
_POINTS_PER_INCH = 72
_MAX_ADDRESS_BYTES = 4000
_MAX_NAME_CHARS = 200
_OCR_DPI = 200


class PageState(Enum):
    """The outcome of reading a page."""

    TEXT = "text"
    BLANK = "blank"
    PICTURE = "picture"
    GARBLED = "garbled"
    WORDLESS = "picture without words"
    READ = "read from its picture"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's text. `label` is what is printed on it where that is not its number."""

    text: str
    state: PageState
    label: str = ""
    tables: tuple[Run, ...] = ()


@dataclass(slots=True)
class _Around:
    """What is pinned to a page: files, which become the draft's, the texts of annotations and
    fields, links that lead out of the file, and what was filled in.
    """

    draft: DocumentDraft
    notes: list[str] = field(default_factory=list[str])
    links: list[Placed] = field(default_factory=list[Placed])
    fields: list[Placed] = field(default_factory=list[Placed])


def pages_of(
    document: "PdfDocument", draft: DocumentDraft, second: SecondReader
) -> Iterator[PageText]:
    """Every page in turn; its attachments become the draft's.

    Where PDFium finds nothing legible, the `second` reader is tried, then the draft's OCR.
    """
    from pypdfium2 import PdfiumError

    failed_in_a_row = 0
    for index in range(min(len(document), MAX_PAGES)):
        try:
            found = _page_text(document, index, draft, second)
            failed_in_a_row = 0
        except PdfiumError:
            failed_in_a_row += 1
            if failed_in_a_row > _MAX_FAILED_IN_A_ROW:
                return
            text = second.text(index)
            found = PageText(text, PageState.TEXT if text else PageState.FAILED)
        yield found


def _page_text(
    document: "PdfDocument", index: int, draft: DocumentDraft, second: SecondReader
) -> PageText:
    """One page. Raises PdfiumError."""
    around = _Around(draft)
    page = load_page(document, index, around)
    if second.has_hidden_layers:
        _leave_out_hidden(page)
    text, tables = _text(page, around)
    state = _state(page, text)
    if state is not PageState.TEXT:
        text = second.text(index)
        state = PageState.TEXT if text else state
    if draft.ocr is not None and state in {PageState.PICTURE, PageState.GARBLED}:
        text, state = _recognised(page, index, draft.ocr, draft) or (text, state)
    page.close()
    if missing := unseen(around.notes, text):
        text = "\n".join(filter(None, [text.rstrip(), *missing]))
        state = PageState.TEXT if state is PageState.BLANK else state
    return PageText(text, state, _label(document, index), tables)


def _leave_out_hidden(page: "PdfPage") -> None:
    """Take what stands on hidden layers from a page."""
    import pypdfium2.raw as pdfium

    size = ctypes.c_ulong()
    buffer = ctypes.create_string_buffer(2 * _MAX_NAME_CHARS)
    units = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    for item in list(_objects(page)):
        for number in range(pdfium.FPDFPageObj_CountMarks(item)):
            mark = pdfium.FPDFPageObj_GetMark(item, number)
            if pdfium.FPDFPageObjMark_GetParamStringValue(mark, b"Name", units, len(buffer), size):
                name = buffer.raw[: max(size.value, 2) - 2].decode("utf-16-le", "replace")
                if name == HIDDEN_LAYER:
                    pdfium.FPDFPageObj_SetIsActive(item, False)


def load_page(document: "PdfDocument", index: int, around: "_Around | None" = None) -> "PdfPage":
    """A page (from 0) with what was filled in and typed onto it. Raises PdfiumError."""
    import pypdfium2.raw as pdfium

    page = document[index]
    has_fields = _has_fields(page, around)
    if has_fields and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY):
        # Form values become part of the page once it is loaded again.
        page.close()
        page = document[index]
    return page


def raw_text(text_page: "PdfTextPage") -> str:
    """The text that PDFium extracts, its length unchanged."""
    # Not get_text_bounded: that loses line breaks, and with them borders of words.
    return in_written_order(text_page, text_page.get_text_range())


def attach_files(document: "PdfDocument", draft: DocumentDraft) -> None:
    """Attach the files that the document carries to the draft."""
    import pypdfium2.raw as pdfium

    for index in range(min(pdfium.FPDFDoc_GetAttachmentCount(document), _MAX_ANNOTATIONS)):
        _attach(pdfium.FPDFDoc_GetAttachment(document, index), document, draft)


def outline_of(document: "PdfDocument") -> Iterator[tuple[int, int, str]]:
    """(page from 0, level, title) of the document's own table of contents."""
    for bookmark in islice(document.get_toc(max_depth=_MAX_LEVEL), _MAX_BOOKMARKS):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        title = one_line(bookmark.get_title())
        if index is not None and title:
            yield index, bookmark.level + 1, title


def _text(page: "PdfPage", around: _Around) -> tuple[str, tuple[Run, ...]]:
    text_page = page.get_textpage()
    raw = raw_text(text_page)
    glyphs = Glyphs(text_page, raw)
    runs = runs_of(glyphs, raw)
    columns = [run for run in runs if run.is_prose]
    tables = [run for run in runs if not run.is_prose]
    edits = sorted(
        [
            *raised_digits(glyphs, raw), *spaced_letters(glyphs, raw),
            *addresses(glyphs, raw, around.links), *filled_in(glyphs, raw, around.fields),
            *chain.from_iterable(map(empty_cells, tables)),
        ]
    )  # fmt: skip
    text_page.close()
    text = edited(raw, edits, columns)
    shown = (replace(run, shown=tuple(map(parted, run.edited_lines(edits)))) for run in tables)
    return parted(text.replace("\r\n", "\n")), tuple(shown)


def _state(page: "PdfPage", text: str) -> PageState:
    if not text.strip():
        return PageState.PICTURE if _is_drawn_on(page) else PageState.BLANK
    return PageState.TEXT if is_legible(text) else PageState.GARBLED


def _is_drawn_on(page: "PdfPage") -> bool:
    """True when the page has a picture, or lines that may be the outlines of letters."""
    import pypdfium2.raw as pdfium

    segments = 0
    for item in islice(_objects(page), _MAX_OBJECTS):
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            segments += pdfium.FPDFPath_CountSegments(item)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE or segments >= _MIN_SEGMENTS:
            return True
    return False


def _objects(page: "PdfPage") -> Iterator[Any]:
    """The objects on a page, with those inside groups."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFPage_CountObjects(page)
    return _flat((pdfium.FPDFPage_GetObject(page, index) for index in range(count)), depth=0)


def _flat(objects: Iterable[Any], depth: int) -> Iterator[Any]:
    import pypdfium2.raw as pdfium

    for item in objects:
        yield item
        if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_FORM and depth < _MAX_FORM_DEPTH:
            count = pdfium.FPDFFormObj_CountObjects(item)
            inner = (pdfium.FPDFFormObj_GetObject(item, index) for index in range(count))
            yield from _flat(inner, depth + 1)


def _recognised(
    page: "PdfPage", index: int, ocr: Ocr, draft: DocumentDraft
) -> tuple[str, PageState] | None:
    """The text in the page's picture, or nothing if it can't be read or waits."""
    if ocr.is_spent or not ocr.is_installed:
        return None
    try:
        text = ocr.read(draft.place(index + 1), partial(_picture, page))
    except OcrFailedError as exc:
        draft.warn(f"Reading text from pictures failed: {exc}")
        return None
    if text is None:
        return None
    return text, PageState.READ if text.strip() else PageState.WORDLESS


def _picture(page: "PdfPage") -> "NDArray[np.uint8]":
    import numpy as np
    import pypdfium2.raw as pdfium

    width, height = page.get_size()
    side = max(width, height, 1)
    scale = min(_OCR_DPI / _POINTS_PER_INCH, MAX_SIDE_PX / side)
    bitmap = page.render(
        scale=scale,  # pyright: ignore[reportArgumentType]  it takes fractions
        force_bitmap_format=pdfium.FPDFBitmap_BGR,
    )
    # A copy: what PDFium drew on goes with the bitmap.
    picture = np.array(bitmap.to_numpy())
    bitmap.close()
    return picture


def _label(document: "PdfDocument", index: int) -> str:
    label = one_line(str(document.get_page_label(index)))
    return "" if label == str(index + 1) else label


def _has_fields(page: "PdfPage", around: _Around | None) -> bool:
    """True when the page has form fields or typed notes, which hold text of their own."""
    import pypdfium2.raw as pdfium

    found = False
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        found = found or kind in {pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT}
        if around is not None:
            _note_down(annotation, kind, page, around)
        pdfium.FPDFPage_CloseAnnot(annotation)
    return found


def _note_down(annotation: object, kind: int, page: "PdfPage", around: _Around) -> None:
    import pypdfium2.raw as pdfium

    around.notes.append(note_of(annotation, kind))
    if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT:
        _attach(pdfium.FPDFAnnot_GetFileAttachment(annotation), page.pdf, around.draft)
    elif kind == pdfium.FPDF_ANNOT_LINK:
        around.links += _links(annotation, page.pdf)
    elif kind == pdfium.FPDF_ANNOT_WIDGET:
        around.fields += _placed(annotation, _box(annotation) or around.notes[-1])


def _links(annotation: object, document: "PdfDocument | None") -> Iterator[Placed]:
    """The link of an annotation, if it leads to an address."""
    import pypdfium2.raw as pdfium

    action = pdfium.FPDFLink_GetAction(pdfium.FPDFAnnot_GetLink(annotation))
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return
    buffer = ctypes.create_string_buffer(_MAX_ADDRESS_BYTES)
    size = pdfium.FPDFAction_GetURIPath(document, action, buffer, _MAX_ADDRESS_BYTES)
    if size <= _MAX_ADDRESS_BYTES:
        yield from _placed(annotation, buffer.value.decode("utf-8", "replace"))


def _placed(annotation: object, text: str) -> Iterator[Placed]:
    import pypdfium2.raw as pdfium

    rect = pdfium.FS_RECTF()
    if text and pdfium.FPDFAnnot_GetRect(annotation, rect):
        yield Placed(text, rect.left, rect.bottom, rect.right, rect.top)


def _attach(raw: object, document: "PdfDocument", draft: DocumentDraft) -> None:
    """Attach a file, unless it is empty, damaged or too large to be unpacked."""
    import pypdfium2.raw as pdfium
    from pypdfium2 import PdfAttachment, PdfiumError

    if not raw:
        return
    size_bytes = ctypes.c_ulong()
    pdfium.FPDFAttachment_GetFile(raw, None, 0, size_bytes)
    if not 0 < size_bytes.value <= _MAX_ATTACHED_BYTES:
        return
    attachment = PdfAttachment(raw, document)
    try:
        draft.attach(str(attachment.get_name()), bytes(attachment.get_data()))
    except PdfiumError:
        draft.warn("A file inside it is damaged.")


_PASSWORD_ERROR = 4
_NO_PDF = b"no PDF"


def open_pdf(source: SourceFile) -> "tuple[PdfDocument, bool]":
    """The file opened with PDFium, and True when it took a password.

    Raises Unreadable when none of the passwords is right, and PdfiumError for a damaged file.
    """
    import pypdfium2

    # Many files are encrypted with an empty password, which only restricts printing.
    _forget_last_error()
    for password in (None, *source.passwords):
        try:
            return pypdfium2.PdfDocument(source.data, password), password is not None
        except pypdfium2.PdfiumError as exc:
            if exc.err_code != _PASSWORD_ERROR:
                raise
    raise encrypted()


def _forget_last_error() -> None:
    """Replace the last error, which PDFium keeps where a file fails without giving a reason.

    Without this a damaged file behind an encrypted one is called encrypted as well.
    """
    import pypdfium2.raw as pdfium

    pdfium.FPDF_LoadMemDocument(_NO_PDF, len(_NO_PDF), None)
