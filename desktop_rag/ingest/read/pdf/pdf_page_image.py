"""A picture of one page of a PDF, and where words stand on it.

Native code on foreign bytes; runs in the parser process.
"""

import re
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from desktop_rag.core.parsed import Box, PageView, PageWish, PageWord
from desktop_rag.core.quotes import locate
from desktop_rag.ingest.read.foundation.addresses import without_addresses
from desktop_rag.ingest.read.foundation.source_file import (
    MAX_BOXES,
    MAX_PAGE_POINTS,
    MAX_PAGE_SIZES,
    MAX_PAGE_WORDS,
    MAX_VIEW_HEIGHT_PX,
    MAX_VIEW_PX,
    MAX_WORD_CHARS,
    SourceFile,
    Unreadable,
)
from desktop_rag.ingest.read.pdf.pdf_pages import load_page, open_pdf, raw_text

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS_RGB = bytes([8, 2, 0, 0, 0])
# Pages are mostly white; more effort makes them hardly smaller.
_EFFORT = 2


def encode_png(rgb: bytes, width_px: int, height_px: int, stride_bytes: int) -> bytes:
    """A PNG of rows of red, green and blue bytes from the top, `stride_bytes` apart."""
    row_bytes = 3 * width_px
    # Each row begins with the number of its filter: none.
    rows = b"".join(
        b"\0" + rgb[start : start + row_bytes]
        for start in range(0, stride_bytes * height_px, stride_bytes)
    )
    header = width_px.to_bytes(4, "big") + height_px.to_bytes(4, "big") + _EIGHT_BITS_RGB
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, _EFFORT)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return len(content).to_bytes(4, "big") + kind + content + checksum.to_bytes(4, "big")


# PDFium gives whole pixels: of a picture so large that they are fine enough.
_FINE_PX = 1_000_000
# As long as before, so that places in the text stay: ends of lines, and hyphens that join.
_PLAIN = str.maketrans({"\r": " ", "\n": " ", "\ufffe": "-", "\u00ad": "-"})


def view_page(source: SourceFile, wish: PageWish) -> PageView:
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


def _view(document: "PdfDocument", wish: PageWish) -> PageView:
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
    png = encode_png(rgb, *size_px, stride)
    is_marked = wish.with_words or wish.quote.strip() or wish.find.strip()
    words = _Words(page) if is_marked else None
    return PageView(
        wish.page, len(document), png, *size_px,
        words.of_quote(wish.quote) if words else (),
        words.of_hits(wish.find) if words else (),
        _sizes(document) if wish.with_sizes else (),
        tuple(words.all()) if words and wish.with_words else (),
    )  # fmt: skip


def _sizes(document: "PdfDocument") -> tuple[tuple[float, float], ...]:
    """The sizes of the pages as they are seen, in points."""
    sizes = map(document.get_page_size, range(min(len(document), MAX_PAGE_SIZES)))
    return tuple((_points(width), _points(height)) for width, height in sizes)


def _points(side: float) -> float:
    return round(min(max(side, 1.0), MAX_PAGE_POINTS), 2)


class _Words:
    """The text of a page, and where it stands."""

    def __init__(self, page: "PdfPage") -> None:
        self._page = page
        self._text_page = page.get_textpage()
        self._text = raw_text(self._text_page)
        self._plain = self._text.translate(_PLAIN)

    def of_quote(self, quote: str) -> tuple[Box, ...]:
        """The rectangles around the quote's lines; none if it is not in the page's text."""
        attempts = (quote, without_addresses(quote)) if quote.strip() else ()
        span = next(filter(None, (locate(words, self._plain) for words in attempts)), None)
        return tuple(self._boxes(*span)) if span else ()

    def of_hits(self, words: str) -> tuple[tuple[Box, ...], ...]:
        """The rectangles of each place where these words stand; white space is all alike.

        With line breaks, each line is a word that is found as a whole.
        """
        if not words.strip():
            return ()
        pattern = r"\s+".join(map(re.escape, words.split()))
        if "\n" in words:
            pattern = rf"\b(?:{'|'.join(map(re.escape, words.split()))})\b"
        found: list[tuple[Box, ...]] = []
        left = MAX_BOXES
        for hit in re.finditer(pattern, self._plain, re.IGNORECASE):
            found.append(boxes := tuple(self._boxes(*hit.span())))
            left -= len(boxes) + 1
            if left <= 0:
                break
        return tuple(found)

    def all(self) -> Iterator[PageWord]:
        """Each word in the order of the text; of one that is broken over lines its first part."""
        for word in islice(re.finditer(r"\S+", self._plain), MAX_PAGE_WORDS):
            box = next(self._boxes(*word.span()), None)
            if box:
                after = self._text[word.end() : word.end() + 2]
                yield PageWord(word[0][:MAX_WORD_CHARS], box, "\n" in after or "\r" in after)

    def _boxes(self, start: int, end: int) -> Iterator[Box]:
        import pypdfium2.raw as pdfium

        first, count = _characters(self._text_page, self._text, start, end)
        lines = pdfium.FPDFText_CountRects(self._text_page, first, count)
        for index in range(min(lines, MAX_BOXES)):
            if box := _on_page(self._page, *self._text_page.get_rect(index)):
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
