"""Formulas within the text of a document: their size, place and painting. Qt thread.

A formula is an image in the HTML, named by its LaTeX. Its baseline is that of the text around it: a
low one reaches into the space below the line, a tall one takes as much below the middle as above.
"""

import html
import math
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, unquote

from PySide6.QtCore import QByteArray, QMimeData, QObject, QPointF, QRect, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetrics,
    QFontMetricsF,
    QImage,
    QPainter,
    QPixmap,
    QPixmapCache,
    QPyTextObject,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QTextBrowser, QWidget

from desktop_rag.ui.foundation.clipboard_data import clipboard_data
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.formula_drawing import COLOUR, PADDING_EM, Drawing

OBJECT = "\ufffc"
_SCHEME = "formula"
_IMAGE = re.compile(r'<img src="(formula:[^"]*)"[^>]*>')
# A descent in em that fits below a line without moving the next one.
_LOW_EM = 0.45
# The height of an x in the font of formulas, in em: both fonts are set equally high.
_X_HEIGHT = 0.473
_LEAST_FIT, _MOST_FIT = 1.0, 1.25
# Room left for lists and quotes beside a formula wider than the column.
_INDENTS_PX = 44


def formula_name(latex: str, is_display: bool) -> str:
    """The name of a formula's image."""
    return f"{_SCHEME}:{'display' if is_display else 'inline'}:{quote(latex, safe='')}"


def formula_source(name: str) -> str:
    """The LaTeX of an image with its delimiters; "" for any other image."""
    scheme, _, rest = name.partition(":")
    kind, _, latex = rest.partition(":")
    mark = "$$" if kind == "display" else "$"
    return f"{mark}{unquote(latex)}{mark}" if scheme == _SCHEME else ""


def formula_image(latex: str, is_display: bool, drawing: Drawing) -> str:
    """The HTML of a drawn formula."""
    name = html.escape(formula_name(latex, is_display))
    return f'<img src="{name}" style="vertical-align:{vertical_place(drawing)};">'


def vertical_place(drawing: Drawing) -> str:
    """The CSS value that aligns a formula with the text."""
    return "baseline" if drawing.descent <= _LOW_EM else "middle"


def text_with_formulas(selection: QTextCursor) -> str:
    """The selected text, with formulas as LaTeX."""
    text = selection.selection().toPlainText()
    if OBJECT not in text:
        return text
    parts = text.split(OBJECT)
    sources = [formula_source(name) for name in _names(selection)]
    return parts[0] + "".join(s + part for s, part in zip(sources, parts[1:], strict=True))


def html_with_formulas(document: str) -> str:
    """The HTML of a document, with formulas as LaTeX instead of images."""
    return _IMAGE.sub(lambda m: html.escape(formula_source(html.unescape(m[1]))), document)


def formula_beside(place: QTextCursor) -> str:
    """The source of the formula before or after a place in a text; "" for none."""
    for step in (0, 1):
        beside = QTextCursor(place)
        beside.movePosition(QTextCursor.MoveOperation.NextCharacter, n=step)
        if beside.charFormat().isImageFormat():
            return formula_source(beside.charFormat().toImageFormat().name())
    return ""


def _names(selection: QTextCursor) -> Iterator[str]:
    cursor = QTextCursor(selection.document())
    document, end = selection.document(), selection.selectionEnd()
    at = document.find(OBJECT, selection.selectionStart())
    while not at.isNull() and at.selectionEnd() <= end:
        cursor.setPosition(at.selectionEnd())
        yield cursor.charFormat().toImageFormat().name()
        at = document.find(OBJECT, at.selectionEnd())


class FormulaObject(QPyTextObject):
    """Measures and paints the formulas of one document; any other image is empty."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._drawings: Mapping[str, Drawing] = {}

    def set_drawings(self, drawings: Mapping[str, Drawing]) -> None:
        """Set the drawings by the names of their images."""
        self._drawings = drawings

    def intrinsicSize(self, doc: QTextDocument, position: int, format: QTextFormat) -> QSizeF:  # noqa: A002 - Qt's names
        name = format.toImageFormat().name()
        if (drawing := self._drawings.get(name)) is None:
            return QSizeF(0, 0)
        em, font = self._em(doc, format, drawing), format.toCharFormat().font()
        ascent, descent = em * drawing.ascent, em * drawing.descent
        if vertical_place(drawing) == "baseline":
            return QSizeF(em * drawing.width, max(ascent, 1.0))
        half_x = QFontMetrics(font).xHeight() / 2
        return QSizeF(em * drawing.width, max(2 * ascent - half_x, 2 * descent + half_x))

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, doc: QTextDocument, position: int, format: QTextFormat  # noqa: A002, E501 - Qt's names
    ) -> None:  # fmt: skip
        name, rect = format.toImageFormat().name(), QRectF(rect)
        if (drawing := self._drawings.get(name)) is None:
            return
        em = self._em(doc, format, drawing)
        baseline = rect.bottom()
        if vertical_place(drawing) == "middle":
            half_x = QFontMetrics(format.toCharFormat().font()).xHeight() / 2
            baseline = rect.top() + (rect.height() + half_x) / 2
        padding = em * PADDING_EM
        size = QSizeF(
            em * drawing.width + 2 * padding, em * (drawing.ascent + drawing.descent) + 2 * padding
        )
        corner = QPointF(rect.left() - padding, baseline - em * drawing.ascent - padding)
        brush = format.toCharFormat().foreground()
        is_plain = brush.style() is Qt.BrushStyle.NoBrush
        colour = self._theme.colour("text") if is_plain else brush.color()
        _print(name, drawing, QRectF(corner, size), colour, painter)

    def _em(self, doc: QTextDocument, format: QTextFormat, drawing: Drawing) -> float:  # noqa: A002
        """The size in px at which the formula fits the text and the column."""
        font = format.toCharFormat().font()
        size = QFontInfo(font).pixelSize() * _fit(font)
        room = doc.textWidth() - _INDENTS_PX
        return min(size, room / drawing.width) if room > 0 else size


class InertBrowser(QTextBrowser):
    """Rich text that loads no resources and follows no links; formulas are copied as LaTeX."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.formulas = FormulaObject(theme, self)
        layout = self.document().documentLayout()
        layout.registerHandler(QTextFormat.ObjectTypes.ImageObject.value, self.formulas)

    def createMimeDataFromSelection(self) -> QMimeData:
        copied = super().createMimeDataFromSelection()
        if OBJECT not in self.textCursor().selectedText():
            return copied
        html = html_with_formulas(copied.html())
        return clipboard_data(text_with_formulas(self.textCursor()), html)

    def loadResource(self, kind: int, name: QUrl | str) -> QImage:
        # With None, Qt would read the file itself.
        return QImage()


def _fit(font: QFont) -> float:
    share = QFontMetricsF(font).xHeight() / max(1, QFontInfo(font).pixelSize())
    return min(_MOST_FIT, max(_LEAST_FIT, share / _X_HEIGHT))


def _print(name: str, drawing: Drawing, place: QRectF, colour: QColor, painter: QPainter) -> None:
    """Draw a formula on whole pixels of the device, so that thin strokes stay even."""
    ratio = painter.device().devicePixelRatioF()
    size = place.size() * ratio
    key = f"{name} {size.width():.2f} {size.height():.2f} {colour.name()}"
    pixmap = QPixmap()
    if not QPixmapCache.find(key, pixmap):
        pixmap = QPixmap(math.ceil(size.width()), math.ceil(size.height()))
        pixmap.fill(Qt.GlobalColor.transparent)
        svg = drawing.svg.replace(COLOUR, colour.name())
        inner = QPainter(pixmap)
        QSvgRenderer(QByteArray(svg.encode())).render(inner, QRectF(QPointF(0, 0), size))
        inner.end()
        pixmap.setDevicePixelRatio(ratio)
        QPixmapCache.insert(key, pixmap)
    x, y = (round(at * ratio) / ratio for at in (place.left(), place.top()))
    painter.drawPixmap(QPointF(x, y), pixmap)
