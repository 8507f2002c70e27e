"""Opens a PDF file with PDFium, with one of its passwords if it needs one.

Runs in the parser process.
"""

from typing import TYPE_CHECKING

from desktop_rag.ingest.read.foundation.encryption import encrypted
from desktop_rag.ingest.read.foundation.source_file import SourceFile

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_PASSWORD_ERROR = 4
_NO_PDF = b"no PDF"


def open_pdf(source: SourceFile) -> "tuple[PdfDocument, bool]":
    """The opened file, and True when it took a password.

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
