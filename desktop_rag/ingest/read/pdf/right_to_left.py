"""Mends what PDFium makes of Arabic script: letters in the wrong order, words that run together.

Runs in the parser process.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

# One sign stands for the letter lam with an alef behind it; the two come out the wrong way round.
_SWAPPED = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
_SEAM = re.compile(
    "(?<=[A-Za-z0-9])(?=[\u0590-\u06ff])|(?<=[\u0590-\u065f\u066a-\u06ef])(?=[A-Za-z0-9])"
)


def in_written_order(text_page: "PdfTextPage", text: str) -> str:
    """The page's text, as long as before, with the two letters of one sign put right.

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
