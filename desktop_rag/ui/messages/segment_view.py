"""One segment of an answer as rich text, sized to its height. Qt thread.

It loads no resources: any image in the text is empty.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import cast

from PySide6.QtCore import (
    QEvent,
    QMimeData,
    QPoint,
    QPointF,
    QRectF,
    QSizeF,
    Qt,
    QUrl,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextFormat,
    QTextLine,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QTextEdit, QToolTip, QWidget

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import tr
from desktop_rag.core.quotes.cited_quotes import quoting
from desktop_rag.ui.foundation.clipboard_data import clipboard_data
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import found_spans
from desktop_rag.ui.markdown.cited_places import cited_places, sentence_before
from desktop_rag.ui.markdown.claim_marks import claim_index, verdict_in_words
from desktop_rag.ui.markdown.copied_blocks import Block
from desktop_rag.ui.markdown.formula_drawing import Drawing
from desktop_rag.ui.markdown.formula_object import (
    OBJECT,
    FormulaObject,
    formula_beside,
    html_with_formulas,
    text_with_formulas,
)
from desktop_rag.ui.markdown.markdown_html import cited_number, safe_address
from desktop_rag.ui.markdown.table_widths import TableWidths
from desktop_rag.ui.messages.citation_tip import citation_tip
from desktop_rag.ui.messages.copy_buttons import CopyButtons, moved_px
from desktop_rag.ui.widgets.controls import plain_tooltip

_INDENT_PX = 22
_NO_DRAWINGS: Mapping[str, Drawing] = MappingProxyType({})


class SegmentView(QTextBrowser):
    """Read-only text with citations as pills. Links are emitted as signals, never followed.

    `citation_clicked` carries the source, quoting what supports the sentence that cites it.
    """

    citation_clicked = Signal(object)
    claim_clicked = Signal(int)
    address_clicked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._sources: dict[int, SourceRef] = {}
        self._claims: Sequence[Claim] = ()
        self._pills: list[tuple[int, int]] = []
        self._found: QTextCursor | None = None
        # The pills' rectangles, cached until the text or its width changes.
        self._rects: list[QRectF] | None = None
        self._tables = TableWidths(self.document())
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Answer"))
        self.document().setDocumentMargin(0)
        self._fit_indent()
        self.viewport().setAutoFillBackground(False)
        self._formulas = FormulaObject(self._theme, self)
        layout = self.document().documentLayout()
        self._copies = CopyButtons(self._theme, self)
        layout.registerHandler(QTextFormat.ObjectTypes.ImageObject.value, self._formulas)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_indent()
            self._fit_tables()

    def _fit_tables(self) -> None:
        self._tables.measure()
        self._tables.fit(self.viewport().width())

    def _fit_indent(self) -> None:
        """Leave room for the number of an item in large text too."""
        number_px = self.fontMetrics().horizontalAdvance("99. ")
        self.document().setIndentWidth(max(_INDENT_PX, number_px))

    def _connect(self) -> None:
        self.anchorClicked.connect(self._on_anchor_clicked)
        self.document().documentLayout().documentSizeChanged.connect(self._on_size_changed)
        self.horizontalScrollBar().valueChanged.connect(self._on_scrolled)

    def show_html(
        self,
        html: str,
        sources: Sequence[SourceRef],
        claims: Sequence[Claim] = (),
        drawings: Mapping[str, Drawing] = _NO_DRAWINGS,
    ) -> None:
        """Replace the text. `html` must come from `render_html`; `drawings` by name of image."""
        # The new text has other blocks and words.
        self._found = None
        self.setExtraSelections([])
        self._copies.show_blocks(())
        self._formulas.set_drawings(drawings)
        self._claims = claims
        self._sources = {source.n: source for source in sources}
        self._tables.forget()
        self.setHtml(html)
        self._fit_tables()
        # A screen reader finds no words in a drawing.
        self.setAccessibleDescription(self.text_of() if drawings else "")
        self._pills = cited_places(self.document())
        self._rects = None

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Offer to copy these blocks of the text."""
        self._copies.show_blocks(blocks)

    def mark_words(self, words: str, current: int) -> int:
        """Mark words; `current` is the index of the hit the person is at. Returns their number."""
        text = self.toPlainText()
        spans = found_spans(text, words)
        marks: list[QTextEdit.ExtraSelection] = []
        self._found = None
        for n, (start, end) in enumerate(spans):
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self.document())
            mark.cursor.setPosition(_units(text, start))
            mark.cursor.setPosition(_units(text, end), QTextCursor.MoveMode.KeepAnchor)
            role = "accent" if n == current else "accent_soft"
            mark.format.setBackground(self._theme.colour(role))
            mark.format.setForeground(self._theme.colour(f"{role}_text"))
            marks.append(mark)
            if n == current:
                self._found = QTextCursor(mark.cursor)
        self.setExtraSelections(marks)
        return len(spans)

    def found_place(self) -> QPoint | None:
        """Where the current hit is in this widget, if it is here."""
        return self.cursorRect(self._found).topLeft() if self._found else None

    def text_of(self, cursor: QTextCursor | None = None) -> str:
        """The selected text, or all of it, with formulas as LaTeX."""
        if cursor is None:
            cursor = QTextCursor(self.document())
            cursor.select(QTextCursor.SelectionType.Document)
        return text_with_formulas(cursor)

    def createMimeDataFromSelection(self) -> QMimeData:
        copied = super().createMimeDataFromSelection()
        if OBJECT in self.textCursor().selectedText():
            html = html_with_formulas(copied.html())
            return clipboard_data(self.text_of(self.textCursor()), html)
        return copied

    def loadResource(self, kind: int, name: QUrl | str) -> QImage:
        # With None, Qt would read the file itself.
        return QImage()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._rects = None
        self._tables.fit(self.viewport().width())
        super().resizeEvent(event)
        self._copies.place()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta()
        if abs(turned.x()) > abs(turned.y()):
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("accent_soft"))
        if self._rects is None:
            self._rects = [self._pill_rect(start, end) for start, end in self._pills]
        moved = moved_px(self)
        painter.translate(-moved, 0)
        shown = QRectF(event.rect()).translated(moved, 0)
        for rect in self._rects:
            if rect.intersects(shown):
                painter.drawRoundedRect(rect, rect.height() / 3, rect.height() / 3)
        painter.end()
        super().paintEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_tooltip(event)
            return True
        return super().event(event)

    def _show_tooltip(self, event: QHelpEvent) -> None:
        href = self.anchorAt(self.viewport().mapFromGlobal(event.globalPos()))
        place = self.cursorForPosition(self.viewport().mapFromGlobal(event.globalPos()))
        source = self._sources.get(cited_number(href) or 0)
        text = citation_tip(quoting(source, sentence_before(place))) if source else href
        if (index := claim_index(href, self._claims)) is not None:
            text = tr(
                "{verdict_in_words}. Click for details.",
                verdict_in_words=verdict_in_words(self._claims[index].verdict),
            )
        text = text or formula_beside(place)
        QToolTip.showText(event.globalPos(), plain_tooltip(text), self)

    def pills(self) -> list[QRectF]:
        """Where the citations are, once they were painted."""
        return list(self._rects or ())

    def _pill_rect(self, start: int, end: int) -> QRectF:
        block = self.document().findBlock(start)
        line = block.layout().lineForTextPosition(start - block.position())
        if not line.isValid():
            return QRectF()
        origin = self.document().documentLayout().blockBoundingRect(block).topLeft()
        cursor = QTextCursor(self.document())
        cursor.setPosition(start + 1)
        metrics = QFontMetricsF(cursor.charFormat().font())
        # Edges of each character: at a change of direction, one place has two of them.
        edges = (QTextLine.Edge.Leading, QTextLine.Edge.Trailing)
        places = range(start - block.position(), end - block.position())
        xs = [_x_of(line.cursorToX(place, edge)) for place in places for edge in edges]
        left, right = min(xs), max(xs)
        baseline = line.y() + line.ascent()
        top, height = baseline - metrics.ascent() - 0.5, metrics.height() + 1
        return QRectF(origin + QPointF(left, top), QSizeF(right - left, height))

    @Slot(QUrl)
    def _on_anchor_clicked(self, url: QUrl) -> None:
        href = url.toString()
        if source := self._sources.get(cited_number(href) or 0):
            # The press has set the cursor there, and so does the keyboard.
            self.citation_clicked.emit(quoting(source, sentence_before(self.textCursor())))
        elif (index := claim_index(href, self._claims)) is not None:
            self.claim_clicked.emit(index)
        elif address := safe_address(href):
            self.address_clicked.emit(address)

    @Slot(QSizeF)
    def _on_size_changed(self, size: QSizeF) -> None:
        is_wide = math.floor(size.width()) > self.viewport().width()
        bar_px = self.horizontalScrollBar().sizeHint().height() if is_wide else 0
        self.setFixedHeight(max(1, math.ceil(size.height())) + bar_px)
        self._copies.place()

    @Slot()
    def _on_scrolled(self) -> None:
        self._copies.place()


def _units(text: str, offset: int) -> int:
    """The offset of a character as Qt counts, in units of UTF-16."""
    return offset if text.isascii() else len(text[:offset].encode("utf-16-le")) // 2


def _x_of(position: object) -> float:
    """The x of a `cursorToX` result, which is a pair despite its declared type."""
    return position[0] if isinstance(position, tuple | list) else cast("float", position)
