"""A picture of one page of a PDF, and where a quote stands on it.

Native code on foreign bytes; runs in the parser process.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from desktop_rag.core.anchors import Box, PageView
from desktop_rag.core.quote_alignment import locate
from desktop_rag.ingest.read.foundation.png import encode_png
from desktop_rag.ingest.read.foundation.read_limits import (
    MAX_BOXES,
    MAX_VIEW_HEIGHT_PX,
    MAX_VIEW_PX,
    PageViewRequest,
)
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.pdf.pdf_file import open_pdf
from desktop_rag.ingest.read.pdf.pdf_pages import load_page, raw_text

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

# PDFium gives whole pixels: of a picture so large that they are fine enough.
_FINE_PX = 1_000_000
# As long as before, so that places in the text stay: ends of lines, and hyphens that join.
_PLAIN = str.maketrans({"\r": " ", "\n": " ", "\ufffe": "-", "\u00ad": "-"})


def view_page(source: SourceFile, wish: PageViewRequest) -> PageView:
    """Render the page. Raises Unreadable if there is no such page."""
    import pypdfium2

    try:
        document, _ = open_pdf(source)
    except pypdfium2.PdfiumError as exc:
        raise Unreadable("damaged", "The file is damaged", "It can't be shown.") from exc
    with document:
        count = len(document)
        if not 1 <= wish.page <= count:
            pages = "1 page" if count == 1 else f"{count} pages"
            raise Unreadable("missing", f"There is no page {wish.page}", f"The file has {pages}.")
        try:
            return _view(document, wish)
        except pypdfium2.PdfiumError as exc:
            raise Unreadable("damaged", f"Page {wish.page} can't be shown", str(exc)) from exc


def _view(document: "PdfDocument", wish: PageViewRequest) -> PageView:
    import pypdfium2.raw as pdfium

    page = load_page(document, wish.page - 1)
    width, height = (max(side, 1.0) for side in page.get_size())
    # The picture of a strip of paper becomes narrower instead of too tall.
    width_px = max(1, min(wish.width_px, MAX_VIEW_PX, int(MAX_VIEW_HEIGHT_PX * width / height)))
    bitmap = page.render(
        # Sides are rounded up to whole pixels.
        scale=(width_px - 0.01) / width,  # pyright: ignore[reportArgumentType]  it takes fractions
        rev_byteorder=True,
        force_bitmap_format=pdfium.FPDFBitmap_BGR,
    )
    rgb, stride = bytes(bitmap.buffer), bitmap.stride
    size_px = bitmap.width, bitmap.height
    bitmap.close()
    boxes = tuple(_boxes(page, wish.quote))
    png = encode_png(rgb, *size_px, stride)
    return PageView(wish.page, len(document), png, *size_px, boxes)


def _boxes(page: "PdfPage", quote: str) -> Iterator[Box]:
    """The rectangles around the quote's lines; none if it is not in the page's text."""
    import pypdfium2.raw as pdfium

    text_page = page.get_textpage()
    text = raw_text(text_page)
    span = locate(quote, text.translate(_PLAIN)) if quote.strip() else None
    if span is None:
        return
    first, count = _characters(text_page, text, *span)
    for index in range(min(pdfium.FPDFText_CountRects(text_page, first, count), MAX_BOXES)):
        if box := _on_page(page, *text_page.get_rect(index)):
            yield box


def _characters(text_page: "PdfTextPage", text: str, start: int, end: int) -> tuple[int, int]:
    """PDFium's number of the first character of a span of the text, and how many there are."""
    import pypdfium2.raw as pdfium

    # It counts halves of surrogate pairs, and characters that it leaves out of the text.
    from_unit = len(text[:start].encode("utf-16-le", "surrogatepass")) // 2
    to_unit = from_unit + len(text[start:end].encode("utf-16-le", "surrogatepass")) // 2
    first = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, from_unit)
    last = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, to_unit - 1)
    return max(0, first), max(0, last - first + 1)


def _on_page(page: "PdfPage", left: float, bottom: float, right: float, top: float) -> Box | None:
    """A rectangle of the page's own space as fractions of what is seen: turned and cropped."""
    corners = [_seen(page, left, top), _seen(page, right, bottom)]
    x = sorted(min(1.0, max(0.0, corner[0])) for corner in corners)
    y = sorted(min(1.0, max(0.0, corner[1])) for corner in corners)
    return Box(x[0], y[0], x[1], y[1]) if x[0] < x[1] and y[0] < y[1] else None


def _seen(page: "PdfPage", x: float, y: float) -> tuple[float, float]:
    import ctypes

    import pypdfium2.raw as pdfium

    device_x, device_y = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, _FINE_PX, _FINE_PX, 0, x, y, device_x, device_y)
    return device_x.value / _FINE_PX, device_y.value / _FINE_PX
