"""Prints the report of a set into a PDF. Any thread: what is laid out here is shown nowhere."""

from pathlib import Path

from PySide6.QtCore import QMarginsF
from PySide6.QtGui import QPageLayout, QPageSize, QPdfWriter, QTextDocument

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr

_MARGIN_MM = 14.0
_DPI = 120


def write_pdf(html: str, file: Path) -> None:
    """Write or replace the file. AppError when it can't be written.

    `html` is our own report, in which all foreign text is escaped and nothing is loaded.
    """
    writer = QPdfWriter(str(file))
    writer.setResolution(_DPI)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM)
    writer.setPageMargins(margins, QPageLayout.Unit.Millimeter)
    document = QTextDocument()
    document.setHtml(html)
    document.setPageSize(writer.pageLayout().paintRectPixels(_DPI).size().toSizeF())
    document.print_(writer)
    del writer
    if not file.is_file() or not file.stat().st_size:
        raise AppError(tr("The PDF could not be written."), str(file))
