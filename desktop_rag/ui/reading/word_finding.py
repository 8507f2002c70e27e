"""Finds words in the open document and walks through the hits. Qt thread, through the bridge."""

from bisect import bisect_left

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.word_search import found_spans
from desktop_rag.ui.reading.text_search import spans_around
from desktop_rag.ui.viewers.document_span import Span
from desktop_rag.ui.viewers.viewer import Hits


class WordFinding(QObject):
    """The words that are searched for, and where they are."""

    changed = Signal()

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._text = ""
        self._job: Job | None = None
        self.hits = Hits()

    def set_text(self, text: str) -> None:
        """Search in another text from now on."""
        self._text, self.hits = text, Hits()

    def find(self, words: str, near: int = 0) -> None:
        """Find words; the first hit from `near` on becomes the current one."""
        if self._job:
            self._job.cancel()
        text = self._text

        def show(spans: tuple[Span, ...]) -> None:
            self._job = None
            at = bisect_left(spans, (near, 0))
            current = (at if at < len(spans) else 0) if spans else -1
            self.hits = Hits(words, spans, current)
            self.changed.emit()

        self._job = self._bridge.run(self, lambda: found_spans(text, words), show)

    def mark(self, query: str, passage: Span) -> None:
        """Mark the words of a query around a passage; the first in it becomes the current one."""
        if self._job:
            self._job.cancel()
        text = self._text

        def show(spans: tuple[Span, ...]) -> None:
            self._job = None
            at = bisect_left(spans, (passage[0], 0))
            is_inside = at < len(spans) and spans[at][0] < passage[1]
            words = dict.fromkeys(text[start:end].casefold() for start, end in spans)
            lines = "".join(f"{word}\n" for word in words)
            self.hits = Hits(lines, spans, at if is_inside else -1)
            self.changed.emit()

        self._job = self._bridge.run(self, lambda: spans_around(text, query, passage), show)

    @Slot(int)
    def step(self, by: int) -> None:
        """Go to the next hit (1) or the previous one (-1), around the ends."""
        if self.hits.spans:
            current = (self.hits.current + by) % len(self.hits.spans)
            self.hits = Hits(self.hits.words, self.hits.spans, current)
            self.changed.emit()
