"""Source code of any length, loaded in slices. Qt thread; colours come from another process."""

import time
from collections import deque
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.domain import StoredText
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import ColourSpan
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.code_editor import CodeEditor
from desktop_rag.ui.viewers.document_span import Span
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits, Viewer

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_BUDGET_S = 0.008
_SLICE_CHARS = 40_000
# Of a longer file only the part around the words is shown.
_MAX_CHARS = 2_000_000


@dataclass(frozen=True, slots=True)
class CodeLines:
    """A part of a text in slices, with the offsets of its lines and the number of the first one."""

    starts: tuple[int, ...]
    first_number: int
    slices: tuple[str, ...]
    end: int


def code_lines(text: str, near: int) -> CodeLines:
    """The text around an offset, whole lines of it. Any thread."""
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
        self, bridge: Bridge, library: "Library", theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._stored: StoredText | None = None
        self._lines = CodeLines((0,), 1, (), 0)
        self._waiting: deque[str] = deque()
        self._cited: Span = NO_WORDS
        self._hits = Hits()
        self._target: Span | None = None
        self._loaded_to = 0
        self._job: Job | None = None
        self._colours: tuple[ColourSpan, ...] | None = None
        self._left = Event()
        self.code = CodeEditor(theme)
        self.setFocusProxy(self.code)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.code)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
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
            # Without colours it is as readable, so a failure is no news.
            self._bridge.run(self, colour, self._on_coloured, lambda _error: None)

    def leave(self) -> None:
        self._left.set()

    def show_span(self, span: Span) -> None:
        self._cited = span
        self._go_to(span)

    def show_hits(self, hits: Hits) -> None:
        self._hits = hits
        self.code.mark(self._cited, hits)
        if hits.current_span is not None:
            self._go_to(hits.current_span)

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
        """Scroll to the words once they and the lines below them are there."""
        if self._target is None:
            return
        is_there = self._loaded_to > self._target[1] + _SLICE_CHARS or not self._waiting
        if is_there:
            span, self._target = self._target, None
            self.code.mark(self._cited, self._hits)
            self.code.scroll_to(span)

    def _on_coloured(self, colours: tuple[ColourSpan, ...]) -> None:
        self._colours = colours
        self.code.set_colours(colours)

    @Slot()
    def _on_cursor_moved(self) -> None:
        number = self._lines.first_number + self.code.textCursor().blockNumber()
        self.place_changed.emit(tr("line {number:,}", number=number))
