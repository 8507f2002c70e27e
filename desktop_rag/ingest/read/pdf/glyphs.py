"""Where the letters of a PDF page stand: sizes and places, raised and lowered ones, links.

PDFium joins a raised digit to the number before it, and begins a new line behind it. A digit
counts as raised or lowered when it is drawn smaller than the letter before it, and higher or lower.
Runs in the parser process.
"""

import ctypes
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from desktop_rag.ingest.read.foundation.addresses import behind as behind_words
from desktop_rag.ingest.read.foundation.looks import lowered, raised

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

# Digits; and letters as the marks of notes, behind which PDFium begins a line.
_RUN = re.compile(r"(?<=\S)(?:[0-9+\N{MINUS SIGN}-]+(?:[.,][0-9]+)*|[a-z*†‡§¶](?=\r\n))")
_BREAK = "\r\n"
_REST = re.compile(r"(?<=\w)\w+")
# Shares of the size of the letter before it.
_SMALLER, _SHIFT = 0.85, 0.1
_LEAST_SHIFT_PT = 0.3


_WORD = re.compile(r"\S+")
# Boxes that are empty or ticked.
BOXES = ("☐", "☒")
_OVERLAP_PT = 2
# As far above a field may its label stand.
_LABEL_PT = 12
_LINK_BYTES = 4000
_MAX_PLACES = 300


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """What stands between two offsets of the text of a page, instead of what PDFium gives."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Placed:
    """The address of a link, or the value of a field, and its place on the page in points."""

    text: str
    left: float
    bottom: float
    right: float
    top: float


def raised_digits(glyphs: "Glyphs", text: str) -> Iterator[Edit]:
    """The raised and lowered digits of Unicode, without breaks behind them."""
    for run in _RUN.finditer(text):
        base = run.start() - 1
        shift = glyphs.shift(run.end() - 1, base)
        if not shift:
            continue
        start = run.end() - 1
        while start > run.start() and glyphs.shift(start - 1, base) == shift:
            start -= 1
        shown = text[start : run.end()]
        end = run.end()
        if text.startswith(_BREAK, end) and glyphs.is_on_line(end + len(_BREAK), base):
            end += len(_BREAK)
        yield Edit(start, end, raised(shown) if shift > 0 else lowered(shown))


def addresses(glyphs: "Glyphs", text: str, links: Sequence[Placed]) -> Iterator[Edit]:
    """The address of each link behind its words; behind the last of several lines."""
    placed: dict[int, tuple[int, str]] = {}
    for link in links:
        if span := glyphs.within(link, text):
            placed.setdefault(span[0], (span[1], link.text))
    waiting = ""
    for start, later in pairwise([*sorted(placed), len(text)]):
        end, address = placed[start]
        waiting += text[start:end]
        is_more = later in placed and placed[later][1] == address
        if is_more and not text[end:later].strip():
            continue
        if shown := behind_words(waiting, address):
            yield Edit(end, end, shown)
        waiting = ""


def filled_in(glyphs: "Glyphs", text: str, fields: Sequence[Placed]) -> Iterator[Edit]:
    """The values of fields behind their labels, those of boxes before them if that is nearer.

    PDFium gives them at the end of the page. Fields without a label on their line stay there.
    """
    drawn = {field: glyphs.within(field, text) for field in fields}
    spans = list(filter(None, drawn.values()))
    words = [
        (glyphs.left(start), glyphs.right(end - 1), glyphs.height(start), start, end)
        for start, end in (word.span() for word in (_WORD.finditer(text) if fields else ()))
        if not any(first <= start < last for first, last in spans)
    ]
    added: dict[int, str] = {}
    for field in sorted(fields, key=lambda field: field.left):
        level = [word for word in words if field.bottom <= word[2] <= field.top]
        before = max(
            ((w[1], w[4]) for w in level if w[1] <= field.left + _OVERLAP_PT), default=None
        )
        behind = min(
            ((w[0], w[3]) for w in level if w[0] >= field.right - _OVERLAP_PT), default=None
        )
        is_before = before and (not behind or field.left - before[0] < behind[0] - field.right)
        if behind and not is_before and field.text in BOXES:
            added[behind[1]] = f"{added.get(behind[1], '')}{field.text} "
        elif before or (before := _label_above(field, words)):
            added[before[1]] = f"{added.get(before[1], '')} {field.text}"
        else:
            continue
        if span := drawn[field]:
            yield Edit(*span, "")
    for offset, said in added.items():
        yield Edit(offset, offset, said)


def _label_above(
    field: Placed, words: Sequence[tuple[float, float, float, int, int]]
) -> tuple[float, int] | None:
    """The last word, as its right side and end, of the nearest line that stands over a field."""
    near = field.top + _LABEL_PT
    over = [word for word in words if field.top < word[2] <= near]
    over = [w for w in over if field.left - _OVERLAP_PT <= w[0] < field.right]
    lowest = min((word[2] for word in over), default=0.0)
    return max(((w[1], w[4]) for w in over if w[2] <= lowest + _OVERLAP_PT), default=None)


class Glyphs:
    """Sizes and places of the characters of a page, by their offsets in its text."""

    def __init__(self, text_page: "PdfTextPage", text: str) -> None:
        self._page = text_page
        # PDFium counts halves of surrogate pairs.
        has_wide = max(text, default="") > "\uffff"
        self._wide = [n for n, letter in enumerate(text) if letter > "\uffff"] if has_wide else []
        self._length = len(text)
        # Else the text lacks characters that PDFium counts.
        self._is_whole = not self._wide and text_page.count_chars() == self._length
        self._left, self._up = ctypes.c_double(), ctypes.c_double()
        self._right, self._down = ctypes.c_double(), ctypes.c_double()

    def shift(self, offset: int, base: int) -> int:
        """1 for a small character above the line of another, -1 for one below, else 0."""
        rise = self.height(offset) - self.height(base)
        # Most digits are on the line: their size need not be looked up.
        if abs(rise) < _LEAST_SHIFT_PT:
            return 0
        size, own_size = self.size(base), self.size(offset)
        if not 0 < own_size < _SMALLER * size or abs(rise) < _SHIFT * size:
            return 0
        return 1 if rise > 0 else -1

    def is_on_line(self, offset: int, base: int) -> bool:
        """True when a character is on the line of another."""
        if offset >= self._length:
            return False
        return abs(self.height(offset) - self.height(base)) < _SHIFT * self.size(base)

    def within(self, link: Placed, text: str) -> tuple[int, int] | None:
        """The span of the text at the place of a link, to the end of its last word."""
        import pypdfium2.raw as pdfium

        buffer = (ctypes.c_ushort * _LINK_BYTES)()
        count = pdfium.FPDFText_GetBoundedText(
            self._page, link.left, link.top, link.right, link.bottom, buffer, _LINK_BYTES
        )
        words = bytes(buffer)[: 2 * count].decode("utf-16-le", "replace").strip("\0 \r\n")
        pattern = r"\s+".join(map(re.escape, words.split()))
        for found in islice(re.finditer(pattern, text) if words else (), _MAX_PLACES):
            first = found.start()
            is_across = link.left <= (self.left(first) + self.right(first)) / 2 <= link.right
            if is_across and link.bottom <= self.height(first) <= link.top:
                rest = _REST.match(text, found.end())
                return first, rest.end() if rest else found.end()
        return None

    def left(self, offset: int) -> float:
        """Where a character begins on the page, in points."""
        self._look_up_box(offset)
        return self._left.value

    def right(self, offset: int) -> float:
        """Where a character ends on the page, in points."""
        self._look_up_box(offset)
        return self._right.value

    def gap(self, offset: int) -> float:
        """The distance in points between the characters around the one here."""
        right = self.right(offset - 1)
        self._look_up_box(offset + 1)
        return self._left.value - right

    def _look_up_box(self, offset: int) -> None:
        import pypdfium2.raw as pdfium

        index = self._index(offset)
        pdfium.FPDFText_GetCharBox(self._page, index, self._left, self._right, self._down, self._up)

    def height(self, offset: int) -> float:
        """The height of the line that a character stands on, in points."""
        import pypdfium2.raw as pdfium

        pdfium.FPDFText_GetCharOrigin(self._page, self._index(offset), self._left, self._up)
        return self._up.value

    def size(self, offset: int) -> float:
        """The size in which a character is drawn, in points."""
        import pypdfium2.raw as pdfium

        index, matrix = self._index(offset), pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._page, index, matrix)
        return pdfium.FPDFText_GetFontSize(self._page, index) * (matrix.b**2 + matrix.d**2) ** 0.5

    def _index(self, offset: int) -> int:
        import pypdfium2.raw as pdfium

        if self._is_whole:
            return offset
        unit = offset + bisect_left(self._wide, offset) if self._wide else offset
        return pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, unit)
