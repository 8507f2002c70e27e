"""Raised and lowered digits of a PDF page, which its text joins to the number before them.

A digit counts as raised or lowered when it is drawn smaller than the letter before it, and higher
or lower. PDFium also begins a new line behind it. Runs in the parser process.
"""

import ctypes
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from desktop_rag.ingest.read.foundation.looks import lowered, raised

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

_RUN = re.compile(r"(?<=\S)[0-9+\N{MINUS SIGN}-]+")
_BREAK = "\r\n"
# Shares of the size of the letter before it.
_SMALLER, _SHIFT = 0.85, 0.1
_LEAST_SHIFT_PT = 0.3


def with_raised_digits(text_page: "PdfTextPage", text: str) -> str:
    """The text of the page with the raised and lowered digits of Unicode, and without breaks."""
    glyphs = _Glyphs(text_page, text)
    parts: list[str] = []
    done = 0
    for run in _RUN.finditer(text):
        base = run.start() - 1
        shift = glyphs.shift(run.end() - 1, base)
        if not shift:
            continue
        start = run.end() - 1
        while start > run.start() and glyphs.shift(start - 1, base) == shift:
            start -= 1
        shown = text[start : run.end()]
        parts += [text[done:start], raised(shown) if shift > 0 else lowered(shown)]
        done = run.end()
        if text.startswith(_BREAK, done) and glyphs.is_on_line(done + len(_BREAK), base):
            done += len(_BREAK)
    return "".join([*parts, text[done:]]) if parts else text


class _Glyphs:
    """Sizes and places of the characters of a page, by their offsets in its text."""

    def __init__(self, text_page: "PdfTextPage", text: str) -> None:
        self._page = text_page
        # PDFium counts halves of surrogate pairs.
        self._wide = [place for place, letter in enumerate(text) if letter > "\uffff"]
        self._length = len(text)
        self._left, self._up = ctypes.c_double(), ctypes.c_double()

    def shift(self, offset: int, base: int) -> int:
        """1 for a small character above the line of another, -1 for one below, else 0."""
        rise = self._height(offset) - self._height(base)
        # Most digits are on the line: their size need not be looked up.
        if abs(rise) < _LEAST_SHIFT_PT:
            return 0
        size, own_size = self._size(base), self._size(offset)
        if not 0 < own_size < _SMALLER * size or abs(rise) < _SHIFT * size:
            return 0
        return 1 if rise > 0 else -1

    def is_on_line(self, offset: int, base: int) -> bool:
        """True when a character is on the line of another."""
        if offset >= self._length:
            return False
        return abs(self._height(offset) - self._height(base)) < _SHIFT * self._size(base)

    def _height(self, offset: int) -> float:
        """The height of the line that a character stands on, in points."""
        import pypdfium2.raw as pdfium

        pdfium.FPDFText_GetCharOrigin(self._page, self._index(offset), self._left, self._up)
        return self._up.value

    def _size(self, offset: int) -> float:
        """The size in which a character is drawn, in points."""
        import pypdfium2.raw as pdfium

        index, matrix = self._index(offset), pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._page, index, matrix)
        return pdfium.FPDFText_GetFontSize(self._page, index) * (matrix.b**2 + matrix.d**2) ** 0.5

    def _index(self, offset: int) -> int:
        import pypdfium2.raw as pdfium

        unit = offset + bisect_left(self._wide, offset) if self._wide else offset
        return pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, unit)
