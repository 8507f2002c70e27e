"""Source code of any length, loaded in slices. Qt thread; colours come from another process."""

import time
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import (
    QFontDatabase,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextLayout,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from desktop_rag.core.domain import StoredText
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import ColourSpan
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import qt_offset
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits, Span, Viewer, text_marks
from desktop_rag.ui.widgets.layouts import vertical

_PADDING_PX = 8


class _LineNumbers(QWidget):
    """The strip of line numbers, painted by the editor."""

    def __init__(self, editor: "CodeEditor") -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.number_width_px, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_numbers(self, event)


class CodeEditor(QPlainTextEdit):
    """Read-only code with line numbers; offsets are code points of its text.

    Only lines on the screen are coloured, when they are painted: colouring a whole file at once
    would freeze the window.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        # The offset of each line, and the number of the first one.
        self._starts: Sequence[int] = (0,)
        self._first_number = 1
        self._colours: Sequence[ColourSpan] = ()
        self._colour_ends: list[int] = []
        self._generation = 0
        self._cited: Span = NO_WORDS
        self._hits = Hits()
        self.setObjectName("code")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setAccessibleName(tr("Source code"))
        self._numbers = _LineNumbers(self)
        self.updateRequest.connect(self._on_update)
        theme.changed.connect(self._on_theme_changed)

    def begin(self, starts: Sequence[int], first_number: int) -> None:
        """Clear the text; `starts` are the offsets of the lines that follow."""
        self._starts, self._first_number = starts, first_number
        self._colours, self._colour_ends = (), []
        self._cited, self._hits = NO_WORDS, Hits()
        self.setExtraSelections([])
        self.clear()
        self.setViewportMargins(self.number_width_px, 0, 0, 0)

    def add(self, text: str) -> None:
        """Append text without moving what is on the screen."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        # Qt would break lines at these, and miscount the lines.
        cursor.insertText(text.replace("\u2029", " ").replace("\r", " "))

    def set_colours(self, colours: Sequence[ColourSpan]) -> None:
        """Colour the text; the spans are sorted."""
        self._colours = colours
        self._colour_ends = [end for _, end, _ in colours]
        self._on_theme_changed()

    # --- marks -----------------------------------------------------------------------------------

    def mark(self, cited: Span, hits: Hits) -> None:
        """Mark the cited words and the hits."""
        self._cited, self._hits = cited, hits
        self.setExtraSelections(text_marks(self._theme, cited, hits, self._cursor))

    def scroll_to(self, span: Span) -> None:
        """Scroll so that the words are in the middle."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._position(span[0]))
        self.setTextCursor(cursor)
        self.centerCursor()

    def _cursor(self, span: Span) -> QTextCursor | None:
        if span[1] <= self._starts[0]:
            return None
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._position(span[0]))
        cursor.setPosition(self._position(span[1]), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _position(self, offset: int) -> int:
        """An offset of the text as a position in the document, which counts UTF-16 units."""
        line = max(0, bisect_right(self._starts, offset) - 1)
        block = self.document().findBlockByNumber(line)
        if not block.isValid():
            return max(0, self.document().characterCount() - 1)
        within = qt_offset(block.text(), offset - self._starts[line])
        return block.position() + min(within, block.length() - 1)

    # --- painting --------------------------------------------------------------------------------

    @property
    def number_width_px(self) -> int:
        """The width of the strip of line numbers."""
        digits = len(str(self._first_number + len(self._starts)))
        return 2 * _PADDING_PX + digits * self.fontMetrics().horizontalAdvance("9")

    def paintEvent(self, event: QPaintEvent) -> None:
        block = self.firstVisibleBlock()
        bottom, offset = self.viewport().height(), self.contentOffset()
        while (
            block.isValid() and self.blockBoundingGeometry(block).translated(offset).top() <= bottom
        ):
            if block.userState() != self._generation:
                self._colour(block)
            block = block.next()
        super().paintEvent(event)

    def _colour(self, block: QTextBlock) -> None:
        block.setUserState(self._generation)
        line, number = block.text(), block.blockNumber()
        if not self._colours or number >= len(self._starts):
            block.layout().clearFormats()
            return
        start = self._starts[number]
        formats: list[QTextLayout.FormatRange] = []
        for n in range(bisect_right(self._colour_ends, start), len(self._colours)):
            first, last, colour = self._colours[n]
            if first >= start + len(line):
                break
            place = QTextLayout.FormatRange()
            place.start = qt_offset(line, max(0, first - start))
            place.length = qt_offset(line, min(len(line), last - start)) - place.start
            form = QTextCharFormat()
            form.setForeground(self._theme.colour(f"code_{colour}"))
            place.format = form
            formats.append(place)
        block.layout().setFormats(formats)

    def paint_numbers(self, strip: QWidget, event: QPaintEvent) -> None:
        """Paint the numbers of the visible lines."""
        painter = QPainter(strip)
        painter.fillRect(event.rect(), self._theme.colour("sunken"))
        painter.setPen(self._theme.colour("muted"))
        painter.setFont(self.font())
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        height = self.fontMetrics().height()
        while block.isValid():
            top = round(self.blockBoundingGeometry(block).translated(offset).top())
            if top > event.rect().bottom():
                break
            place = QRect(0, top, strip.width() - _PADDING_PX, height)
            number = self._first_number + block.blockNumber()
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, f"{number}")
            block = block.next()
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._numbers.setGeometry(
            inside.left(), inside.top(), self.number_width_px, inside.height()
        )

    @Slot(QRect, int)
    def _on_update(self, rect: QRect, dy: int) -> None:
        if dy:
            self._numbers.scroll(0, dy)
        else:
            self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    @Slot()
    def _on_theme_changed(self) -> None:
        self._generation += 1
        self.mark(self._cited, self._hits)
        self.viewport().update()
        self._numbers.update()


_BUDGET_S = 0.008
_SLICE_CHARS = 40_000
# Of longer files only the part around the words is shown.
_MAX_CHARS = 2_000_000


@dataclass(frozen=True, slots=True)
class CodeLines:
    """A part of a text in slices, with the offsets of its lines and its first line number."""

    starts: tuple[int, ...]
    first_number: int
    slices: tuple[str, ...]
    end: int


def code_lines(text: str, near: int) -> CodeLines:
    """Whole lines of the text around an offset. Any thread."""
    start = max(0, text.rfind("\n", 0, max(0, near - _MAX_CHARS // 2)) + 1)
    start = 0 if near < _MAX_CHARS // 2 else start
    end = min(len(text), start + _MAX_CHARS)
    starts, at = [start], text.find("\n", start, end)
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1, end)
    slices = tuple(text[n : min(end, n + _SLICE_CHARS)] for n in range(start, end, _SLICE_CHARS))
    return CodeLines(tuple(starts), 1 + text.count("\n", 0, start), slices, end)


class CodeViewer(Viewer):
    """Shows a document as code with line numbers."""

    def __init__(
        self, bridge: Bridge, library: Library, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._stored: StoredText | None = None
        self._lines = CodeLines((0,), 1, (), 0)
        self._waiting: deque[str] = deque()
        self._target: Span | None = None
        self._loaded_to = 0
        self._job: Job | None = None
        self._colours: tuple[ColourSpan, ...] | None = None
        self._left = Event()
        self.code = CodeEditor(theme)
        self.setFocusProxy(self.code)
        vertical(self.code, on=self, margins=0)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._add_some)
        self.code.cursorPositionChanged.connect(self._on_cursor_moved)

    @property
    def is_settled(self) -> bool:
        """True while nothing is being loaded."""
        return not self._timer.isActive() and self._job is None

    def show_document(self, stored: StoredText, lines: CodeLines, cited: Span) -> None:
        """Show a document at these words; `lines` are those around them."""
        self._stored, self._cited, self._hits = stored, cited, Hits()
        self._colours = None
        self._show_lines(lines, cited)
        library, document, text = self._library, stored.document, stored.text

        def colour() -> tuple[ColourSpan, ...]:
            return library.documents.code_colours(document, text, cancel=self._left)

        if not document.part:
            # The code is as readable without colours, so a failure is not reported.
            self._bridge.run(self, colour, self._on_coloured, lambda _error: None)

    def leave(self) -> None:
        self._left.set()

    def _mark(self) -> None:
        self.code.mark(self._cited, self._hits)

    def _show_lines(self, lines: CodeLines, target: Span) -> None:
        self._lines, self._target = lines, target
        self._loaded_to = lines.starts[0]
        self._waiting = deque(lines.slices)
        self.code.begin(lines.starts, lines.first_number)
        if self._colours:
            self.code.set_colours(self._colours)
        self._add_some()

    def _go_to(self, span: Span) -> None:
        if self._lines.starts[0] <= span[0] <= self._lines.end:
            self._target = span
            self._reach_target()
        elif self._stored is not None:
            text = self._stored.text
            if self._job:
                self._job.cancel()

            def show(lines: CodeLines) -> None:
                self._job = None
                self._show_lines(lines, span)

            self._job = self._bridge.run(self, lambda: code_lines(text, span[0]), show)

    @Slot()
    def _add_some(self) -> None:
        """Add slices for a few milliseconds, then let the window handle events."""
        stop_at = time.perf_counter() + _BUDGET_S
        while self._waiting:
            piece = self._waiting.popleft()
            self.code.add(piece)
            self._loaded_to += len(piece)
            if time.perf_counter() > stop_at:
                break
        self._reach_target()
        if self._waiting:
            self._timer.start(0)

    def _reach_target(self) -> None:
        """Scroll to the words once they and the lines below them are loaded."""
        if self._target is None:
            return
        if self._loaded_to > self._target[1] + _SLICE_CHARS or not self._waiting:
            span, self._target = self._target, None
            self._mark()
            self.code.scroll_to(span)

    def _on_coloured(self, colours: tuple[ColourSpan, ...]) -> None:
        self._colours = colours
        self.code.set_colours(colours)

    @Slot()
    def _on_cursor_moved(self) -> None:
        number = self._lines.first_number + self.code.textCursor().blockNumber()
        self.place_changed.emit(tr("line {number:,}", number=number))
