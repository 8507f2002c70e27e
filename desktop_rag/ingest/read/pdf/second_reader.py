"""Reads with pypdf the pages on which PDFium finds nothing, or nothing legible.

Each knows files that the other does not. Runs in the parser process.
"""

import io
import logging
from typing import TYPE_CHECKING

from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.pdf.legibility import is_legible

if TYPE_CHECKING:
    from pypdf import PdfReader

log = logging.getLogger(__name__)

# It is slow, and the pages of a scan have no text for any reader.
_MAX_BYTES = 32_000_000
_MAX_IN_VAIN = 8


class SecondReader:
    """The other reader of one file, opened when the first page asks for it."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._reader: PdfReader | None = None
        self._left = _MAX_IN_VAIN if len(source.data) <= _MAX_BYTES else 0

    def text(self, index: int) -> str:
        """The text of a page (from 0); "" if it finds none either, or none that is legible."""
        if not self._left:
            return ""
        try:
            text = self._opened().pages[index].extract_text()
        except Exception:  # pypdf lets any error of a damaged file through, also of memory
            log.info("page %s can't be read by the second reader", index + 1, exc_info=True)
            text = ""
        if text.strip() and is_legible(text):
            self._left = _MAX_IN_VAIN
            return text
        self._left -= 1
        return ""

    def _opened(self) -> "PdfReader":
        if self._reader is None:
            import pypdf

            logging.getLogger("pypdf").setLevel(logging.CRITICAL)
            reader = pypdf.PdfReader(io.BytesIO(self._source.data), strict=False)
            if reader.is_encrypted:
                any(map(reader.decrypt, ("", *self._source.passwords)))
            self._reader = reader
        return self._reader
