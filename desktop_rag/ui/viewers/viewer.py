"""The base of all views of a document's content, and what they are given to show. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.markup.plain_markdown import shown_text
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.marked_text import text_mark

Span = tuple[int, int]
NO_WORDS: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class DocumentSpan:
    """A document and a span of its text, such as a passage or quote; the span may be empty.

    `quote` holds the words at the time of citing, since the document may have changed. `title` and
    `passage` are shown if the library no longer has the document, nor another one with the same
    `path` and `part`.
    """

    document_id: str
    start: int = 0
    end: int = 0
    quote: str = ""
    title: str = ""
    passage: str = ""
    path: str = ""
    part: str = ""

    @property
    def span(self) -> Span:
        """The start and the end."""
        return self.start, self.end


def span_of(source: SourceRef) -> DocumentSpan:
    """The cited words of a source."""
    title = source.title or source.path
    # The text of a query result is not in the document.
    quote = "" if source.query else source.quote or source.text
    return DocumentSpan(
        source.document_id, source.start, source.end, quote, title,
        shown_text(source.text, source.path, source.url), source.path, source.part,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hits:
    """The places where words were found, in order; `current` is the index of one of them.

    If `words` has several lines, each is a word of its own.
    """

    words: str = ""
    spans: tuple[Span, ...] = ()
    current: int = -1

    @property
    def current_span(self) -> Span | None:
        """The current place."""
        return self.spans[self.current] if 0 <= self.current < len(self.spans) else None

    @property
    def order(self) -> tuple[tuple[Span, bool], ...]:
        """Every place, and True for the current one."""
        return tuple((span, n == self.current) for n, span in enumerate(self.spans))


_MAX_MARKS = 1_000


def text_marks(
    theme: Theme, cited: Span, hits: Hits, cursor_of: Callable[[Span], QTextCursor | None]
) -> list[QTextEdit.ExtraSelection]:
    """Marks for the cited words and the hits around the current one.

    `cursor_of` selects a span in the shown text; None if it is not there.
    """
    near = max(0, hits.current - _MAX_MARKS // 2)
    order = hits.order[near : near + _MAX_MARKS]
    others = [(span, "accent_soft") for span, is_current in order if not is_current]
    current = [(span, "accent") for span, is_current in order if is_current]
    marks = [(cited, "highlight"), *others, *current]
    found = ((cursor_of(span), role) for span, role in marks if span[0] < span[1])
    return [text_mark(theme, cursor, role) for cursor, role in found if cursor]


class Viewer(QWidget):
    """Shows the content of one document. Spans are offsets of its stored text, in code points.

    `place_changed` carries the current place, such as `page 3 of 20`, `address_clicked` a web
    address, `part_opened` the id of a document inside this one, `path_clicked` the target of a
    relative link and its words.
    """

    place_changed = Signal(str)
    address_clicked = Signal(str)
    part_opened = Signal(str)
    path_clicked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cited: Span = NO_WORDS
        self._hits = Hits()

    def show_span(self, span: Span) -> None:
        """Scroll to these words and mark them; an empty span scrolls only."""
        self._cited = span
        self._mark()
        self._go_to(span)

    def show_hits(self, hits: Hits) -> None:
        """Mark these places and scroll to the current one; without hits, remove the marks."""
        self._hits = hits
        self._mark()
        if hits.current_span is not None:
            self._go_to(hits.current_span)

    def _mark(self) -> None:
        """Mark the cited words and the hits."""

    def _go_to(self, span: Span) -> None:
        """Scroll to these words."""
        raise NotImplementedError

    def leave(self) -> None:
        """Stop work on this document, because another one is shown."""

    def tools(self) -> Sequence[QWidget]:
        """The controls of this viewer, for the bar above it."""
        return ()
