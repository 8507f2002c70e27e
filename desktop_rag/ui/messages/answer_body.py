"""The text of an answer: a column of segments, rendered a few milliseconds at a time. Qt thread.

Streamed and stored answers are rendered alike. While text arrives, only the last block is rendered
again. Of a very long answer the beginning is shown until the person asks for the rest.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from PySide6.QtCore import (
    QEvent,
    QMimeData,
    QObject,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    QSizeF,
    Qt,
    QTimer,
    QUrl,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFocusEvent,
    QFontDatabase,
    QFontMetricsF,
    QGuiApplication,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextLine,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QToolTip, QWidget

from desktop_rag.core.claims import Claim
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.formulas import formulas, open_formula
from desktop_rag.core.markup.inert_markdown import safe_address
from desktop_rag.core.quotes import quoting
from desktop_rag.ui.foundation.clipboard_data import clipboard_data
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import found_spans, qt_offset
from desktop_rag.ui.markdown.claim_marks import (
    MARK,
    badges_in,
    claim_index,
    verdict_in_words,
    with_marks,
)
from desktop_rag.ui.markdown.formula_drawing import Drawing, FormulaDrawer
from desktop_rag.ui.markdown.formula_object import (
    InertBrowser,
    formula_beside,
    formula_name,
    text_with_formulas,
)
from desktop_rag.ui.markdown.markdown_html import (
    Block,
    BlockKind,
    MarkdownStyle,
    as_html_table,
    as_tabs,
    blocks_in,
    cited_number,
    cited_places,
    render_html,
    sentence_before,
)
from desktop_rag.ui.markdown.parsing import Segment, last_block_start, next_segment
from desktop_rag.ui.markdown.table_widths import TableWidths, tables_in
from desktop_rag.ui.messages.cited_text import citation_tip
from desktop_rag.ui.widgets.controls import TextButton, ToolButton, plain_tooltip
from desktop_rag.ui.widgets.layouts import drop, vertical
from desktop_rag.ui.widgets.marked_text import text_mark

_SAID_MS = 2_000
_GAP_PX = 4
_ICON_PX = 14
_NAMES = {BlockKind.CODE: tr("Copy code"), BlockKind.DIAGRAM: tr("Copy diagram source")}


class CopyButton(ToolButton):
    """A button that is painted only while it is revealed; the keyboard always reaches it."""

    def __init__(
        self, theme: Theme, name: str, copied: Callable[[], QMimeData], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self._copied = copied
        self._is_revealed = False
        self.setObjectName("copyButton")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(_ICON_PX, _ICON_PX))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._timer = QTimer(self, singleShot=True, interval=_SAID_MS)
        self._timer.timeout.connect(self._show_name)
        self.clicked.connect(self._on_clicked)
        self._show_name()

    def reveal(self, *, is_wanted: bool) -> None:
        """Paint the button, or stop painting it."""
        self._is_revealed = is_wanted
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._is_revealed or self.hasFocus() or self._timer.isActive():
            super().paintEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    @Slot()
    def _show_name(self) -> None:
        self._show_as(self._name, "copy:muted")

    @Slot()
    def _on_clicked(self) -> None:
        QGuiApplication.clipboard().setMimeData(self._copied())
        self._show_as(tr("Copied"), "check:success")
        self._timer.start()

    def _show_as(self, name: str, icon: str) -> None:
        self._theme.set_icon(self, icon)
        self.setText(name)
        self.setAccessibleName(name)
        self.setToolTip(plain_tooltip(name))


_Buttons = Sequence[CopyButton]


class CopyButtons(QObject):
    """The buttons over one text that copy a block of code or a table.

    They lie in room that the text leaves for them, so that nothing moves when they appear: under
    the pointer, or when the keyboard reaches one.
    """

    def __init__(self, theme: Theme, view: QTextEdit) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view
        self._placed: list[tuple[QTextTable, list[CopyButton]]] = []

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Give buttons to these blocks, which are the tables of the document."""
        for _, buttons in self._placed:
            drop(buttons)
        frames = tables_in(self._view.document().rootFrame()) if blocks else []
        pairs = zip(frames, blocks, strict=True) if len(frames) == len(blocks) else ()
        self._placed = [(frame, self._buttons_of(block)) for frame, block in pairs]
        self._view.viewport().removeEventFilter(self)
        if blocks:
            self._view.viewport().installEventFilter(self)
        before: QWidget = self._view
        for button in [button for _, buttons in self._placed for button in buttons]:
            QWidget.setTabOrder(before, button)
            before = button
        self.place()

    def place(self) -> None:
        """Move the buttons to their blocks, after the text was laid out."""
        layout = self._view.document().documentLayout()
        for frame, buttons in self._placed:
            if buttons:
                _place(layout, frame, buttons, moved_px(self._view))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.Enter, QEvent.Type.Leave}:
            is_over = event.type() is QEvent.Type.Enter
            for _, buttons in self._placed:
                for button in buttons:
                    button.reveal(is_wanted=is_over)
        return False

    def _buttons_of(self, block: Block) -> list[CopyButton]:
        if block.kind is BlockKind.QUOTE:
            return []
        if block.kind is BlockKind.TABLE:
            copies = {
                tr("Copy cells"): lambda: clipboard_data(
                    as_tabs(block.rows), as_html_table(block.rows)
                ),
                tr("Copy as Markdown"): lambda: clipboard_data(block.text),
            }
        else:
            copies = {_NAMES[block.kind]: lambda: clipboard_data(block.text)}
        is_over = self._view.underMouse()
        buttons: list[CopyButton] = []
        for name, copied in copies.items():
            button = CopyButton(self._theme, name, copied, self._view.viewport())
            button.reveal(is_wanted=is_over)
            button.setProperty("below", block.kind is BlockKind.TABLE)
            button.show()
            buttons.append(button)
        return buttons


def moved_px(view: QTextEdit) -> int:
    """The distance by which a text is scrolled from its left."""
    bar = view.horizontalScrollBar()
    return bar.maximum() - bar.value() if view.isRightToLeft() else bar.value()


def _place(
    layout: QAbstractTextDocumentLayout, table: QTextTable, buttons: _Buttons, moved: int
) -> None:
    """Place buttons below a table at its left, or at the right end of a code heading."""
    for button in buttons:
        button.adjustSize()
    # For a table, the layout's rectangle begins at the words of its first cell.
    words, padding = layout.frameBoundingRect(table), table.format().cellPadding()
    if buttons[0].property("below"):
        last = (table.cellAt(table.rows() - 1, column) for column in range(table.columns()))
        ends = (layout.blockBoundingRect(c.lastCursorPosition().block()).bottom() for c in last)
        x, y = words.left() - padding, max(ends) + padding + _GAP_PX
    else:
        width = sum(button.width() for button in buttons)
        x = words.left() - padding + words.width() - width - _GAP_PX
        y = words.top() - padding + _GAP_PX
    for button in buttons:
        button.move(round(x) - moved, round(y))
        x += button.width() + _GAP_PX


_INDENT_PX = 22
_NO_DRAWINGS: Mapping[str, Drawing] = MappingProxyType({})


class SegmentView(InertBrowser):
    """One segment of an answer, sized to its height, with citations as pills.

    `citation_clicked` carries the source, quoting what supports the sentence that cites it.
    """

    citation_clicked = Signal(object)
    claim_clicked = Signal(int)
    address_clicked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._sources: dict[int, SourceRef] = {}
        self._claims: Sequence[Claim] = ()
        self._pills: list[tuple[int, int]] = []
        self._found: QTextCursor | None = None
        # The pills' rectangles, cached until the text or its width changes.
        self._rects: dict[tuple[int, int], QRectF] = {}
        self._tables = TableWidths(self.document())
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Answer"))
        self.document().setDocumentMargin(0)
        self._fit_indent()
        self.viewport().setAutoFillBackground(False)
        self._copies = CopyButtons(self._theme, self)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_indent()
            self._fit_tables()

    def _fit_tables(self) -> None:
        self._tables.measure()
        self._tables.fit(self.viewport().width())

    def _fit_indent(self) -> None:
        """Leave room for the number of an item, even in large text."""
        number_px = self.fontMetrics().horizontalAdvance("99. ")
        self.document().setIndentWidth(max(_INDENT_PX, number_px))

    def _connect(self) -> None:
        self.anchorClicked.connect(self._on_anchor_clicked)
        self.document().documentLayout().documentSizeChanged.connect(self._on_size_changed)
        self.horizontalScrollBar().valueChanged.connect(lambda _value: self._copies.place())

    def show_html(
        self,
        html: str,
        sources: Sequence[SourceRef],
        claims: Sequence[Claim] = (),
        drawings: Mapping[str, Drawing] = _NO_DRAWINGS,
    ) -> None:
        """Replace the text. `html` must come from `render_html`; `drawings` are by image name."""
        # The new text has other blocks and words.
        self._found = None
        self.setExtraSelections([])
        self._copies.show_blocks(())
        self.formulas.set_drawings(drawings)
        self._claims = claims
        self._sources = {source.n: source for source in sources}
        self._tables.forget()
        self.setHtml(html)
        self._fit_tables()
        # A screen reader finds no words in a drawing.
        self.setAccessibleDescription(self.text_of() if drawings else "")
        self._pills = cited_places(self.document())
        self._rects.clear()

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Offer to copy these blocks of the text."""
        self._copies.show_blocks(blocks)

    def mark_words(self, words: str, current: int) -> int:
        """Mark words; `current` is the index of the current hit. Returns the number of hits."""
        text = self.toPlainText()
        spans = found_spans(text, words)
        marks: list[QTextEdit.ExtraSelection] = []
        self._found = None
        for n, (start, end) in enumerate(spans):
            cursor = QTextCursor(self.document())
            cursor.setPosition(qt_offset(text, start))
            cursor.setPosition(qt_offset(text, end), QTextCursor.MoveMode.KeepAnchor)
            role = "accent" if n == current else "accent_soft"
            marks.append(text_mark(self._theme, cursor, role))
            if n == current:
                self._found = cursor
        self.setExtraSelections(marks)
        return len(spans)

    def found_place(self) -> QPoint | None:
        """The position of the current hit in this widget, if it is here."""
        return self.cursorRect(self._found).topLeft() if self._found else None

    def text_of(self, cursor: QTextCursor | None = None) -> str:
        """The selected text, or all of it, with formulas as LaTeX."""
        if cursor is None:
            cursor = QTextCursor(self.document())
            cursor.select(QTextCursor.SelectionType.Document)
        return text_with_formulas(cursor)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._rects.clear()
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
        moved = moved_px(self)
        painter.translate(-moved, 0)
        shown = QRectF(event.rect()).translated(moved, 0)
        first = self.cursorForPosition(event.rect().topLeft()).block()
        last = self.cursorForPosition(event.rect().bottomRight()).block()
        # While text streams in, those out of sight would be placed again and again.
        for place in self._pills:
            if first.position() <= place[0] < last.position() + last.length():
                rect = self._pill(place)
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
                verdict_in_words=verdict_in_words(self._claims[index]),
            )
        text = text or formula_beside(place)
        QToolTip.showText(event.globalPos(), plain_tooltip(text), self)

    def pills(self) -> list[QRectF]:
        """The rectangles of the citations."""
        return [self._pill(place) for place in self._pills]

    def _pill(self, place: tuple[int, int]) -> QRectF:
        if place not in self._rects:
            self._rects[place] = self._pill_rect(*place)
        return self._rects[place]

    def _pill_rect(self, start: int, end: int) -> QRectF:
        block = self.document().findBlock(start)
        line = block.layout().lineForTextPosition(start - block.position())
        if not line.isValid():
            return QRectF()
        origin = self.document().documentLayout().blockBoundingRect(block).topLeft()
        cursor = QTextCursor(self.document())
        cursor.setPosition(start + 1)
        metrics = QFontMetricsF(cursor.charFormat().font())
        # Both edges of each character: where the direction changes, one place has two.
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
            # A click sets the cursor there, and so does the keyboard.
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


def _x_of(position: object) -> float:
    """The x of a `cursorToX` result, which is a pair despite its declared type."""
    return position[0] if isinstance(position, tuple | list) else cast("float", position)


SHOWN_CHARS = 40_000
_BUDGET_S = 0.008
# In line heights.
_COPY_ROOM = 2.0


class AnswerBody(QWidget):
    """Renders Markdown; its signals carry what was clicked."""

    citation_clicked = Signal(object)
    claim_clicked = Signal(int)
    address_clicked = Signal(str)

    def __init__(self, theme: Theme, drawer: FormulaDrawer | None = None) -> None:
        """Without a `drawer`, formulas stay source text."""
        super().__init__()
        self._theme = theme
        self._drawer = drawer
        # Parts waiting for their formulas to be drawn, by position.
        self._waiting: dict[int, tuple[str, bool]] = {}
        self._text = ""
        self._sources: tuple[SourceRef, ...] = ()
        self._claims: tuple[Claim, ...] = ()
        self._words, self._current = "", -1
        self._limit = SHOWN_CHARS
        self._is_live = False
        self._segments: list[Segment] = []
        self._shown: list[tuple[object, ...]] = []
        self._views: list[SegmentView] = []
        self._build()
        self._connect()

    def _build(self) -> None:
        self._column = vertical(on=self, margins=0, spacing=0)
        self._show_all = TextButton("", kind="quiet", then=self._on_show_all_clicked)
        self._show_all.hide()
        self._column.addWidget(self._show_all)
        self._timer = QTimer(self, singleShot=True)

    def _connect(self) -> None:
        self._timer.timeout.connect(self._render)
        self._theme.changed.connect(self._on_theme_changed)
        if self._drawer:
            self._drawer.drawn.connect(self._on_formulas_drawn)

    @property
    def is_rendered(self) -> bool:
        """True once rendering is complete."""
        return not (self._timer.isActive() or self._waiting)

    def show_text(
        self,
        text: str,
        sources: Sequence[SourceRef],
        claims: Sequence[Claim] = (),
        *,
        is_live: bool = False,
    ) -> None:
        """Show this text; a prefix shared with the previous text is not rendered again.

        While the answer is live, its last block has a separate view.
        """
        text = with_marks(text, claims)
        is_same = tuple(sources) == self._sources and tuple(claims) == self._claims
        is_longer = text.startswith(self._text) and is_same
        if is_longer and len(text) == len(self._text) and is_live == self._is_live:
            return
        self._text, self._is_live = text, is_live
        self._sources, self._claims = tuple(sources), tuple(claims)
        del self._segments[-1 if is_longer else 0 :]
        self._render()

    def mark_words(self, words: str, current: int) -> None:
        """Mark words; `current` is the index of the current hit, or -1."""
        self._words, self._current = words, current
        found = self._mark()
        if current >= found and self._limit < len(self._text):
            self._on_show_all_clicked()

    def found_place(self) -> QPoint:
        """The position of the current hit; the beginning without one."""
        for view in self._views:
            if (place := view.found_place()) is not None:
                return view.mapTo(self, place)
        return QPoint(0, 0)

    def _mark(self) -> int:
        found = 0
        for view in self._views:
            found += view.mark_words(self._words, self._current - found)
        return found

    @Slot()
    def _render(self) -> None:
        self._timer.stop()
        shown = self._text[: self._limit]
        stop_at = time.perf_counter() + _BUDGET_S
        pieces = len(self._segments)
        while (self._segments[-1].end if self._segments else 0) < len(shown):
            if time.perf_counter() > stop_at:
                self._timer.start(0)
                return
            last = self._segments[-1] if self._segments else Segment("", 0)
            segment = next_segment(shown, last.end, last.fence)
            self._segments.append(segment)
            is_growing = self._is_live and segment.end == len(shown)
            parts = self._growing(segment.source) if is_growing else [segment.source]
            for n, piece in enumerate(parts):
                self._show_piece(pieces, piece, is_growing=is_growing and n == len(parts) - 1)
                pieces += 1
        self._drop_views_from(pieces)
        self._offer_all()

    def _growing(self, source: str) -> list[str]:
        """The final part of a growing text, and its last block up to an incomplete formula."""
        shown = source[: open_formula(source)] if self._drawer else source
        cut = last_block_start(shown)
        return [piece for piece in (shown[:cut], shown[cut:]) if piece]

    def _show_piece(self, position: int, source: str, *, is_growing: bool = False) -> None:
        self._waiting.pop(position, None)
        formulas_in = [(f.latex, f.is_display) for f in formulas(MARK.sub("", source))]
        if formulas_in and self._drawer and not self._drawer.has_all(formulas_in):
            self._waiting[position] = (source, is_growing)
            if position == len(self._views):
                self._add_view()
            return
        badges = badges_in(source, self._claims)
        # A changed verdict in another segment must not clear a selection in this one.
        key = (source, self._sources, badges, self._theme.is_dark, is_growing)
        if position == len(self._views):
            self._add_view()
        if self._shown[position] != key:
            self._shown[position] = key
            citations = frozenset(source.n for source in self._sources)
            room = _COPY_ROOM * self.fontMetrics().height()
            font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
            look = MarkdownStyle(self._theme.colours, font.family(), round(room))
            draws = self._drawer.drawing if self._drawer else None
            written = render_html(source, citations, look, badges, draws)
            drawn = ((key, draws(*key)) for key in formulas_in if draws)
            drawings = {formula_name(*key): drawing for key, drawing in drawn if drawing}
            self._views[position].show_html(written, self._sources, self._claims, drawings)
            # What is still being written can't be copied.
            blocks = () if is_growing else blocks_in(source, with_formulas=bool(self._drawer))
            self._views[position].show_blocks(blocks)
            if self._words:
                self._mark()

    def _add_view(self) -> None:
        view = SegmentView(self._theme, self)
        view.citation_clicked.connect(self.citation_clicked)
        view.claim_clicked.connect(self.claim_clicked)
        view.address_clicked.connect(self.address_clicked)
        self._column.insertWidget(len(self._views), view)
        self._views.append(view)
        self._shown.append(())

    def _drop_views_from(self, position: int) -> None:
        drop(self._views[position:])
        del self._views[position:], self._shown[position:]
        self._waiting = {place: s for place, s in self._waiting.items() if place < position}

    def _offer_all(self) -> None:
        hidden = len(self._text) - self._limit
        if hidden > 0:
            self._show_all.setText(tr("Show {hidden:,} more characters", hidden=hidden))
        self._show_all.setVisible(hidden > 0)

    @Slot()
    def _on_show_all_clicked(self) -> None:
        self._limit = max(self._limit, len(self._text))
        self._show_all.hide()
        del self._segments[-1:]
        self._render()

    @Slot()
    def _on_formulas_drawn(self) -> None:
        for position, (source, is_growing) in list(self._waiting.items()):
            self._show_piece(position, source, is_growing=is_growing)

    @Slot()
    def _on_theme_changed(self) -> None:
        self._segments.clear()
        self._timer.start(0)
