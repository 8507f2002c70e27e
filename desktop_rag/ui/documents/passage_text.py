"""The text of a passage with its quote highlighted, collapsed to a few lines. Qt thread."""

from collections.abc import Sequence

import regex
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.plain_markdown import plain_markdown
from desktop_rag.core.quotes.quote_alignment import Span
from desktop_rag.ui.documents.passage_excerpt import MOST_CHARS, MOST_LINES, excerpt
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.marked_text import MarkedText


class PassageText(MarkedText):
    """A collapsible passage of a source. `clicked` follows a click that selects nothing."""

    clicked = Signal()

    def __init__(
        self,
        theme: Theme,
        text: str,
        quote: str,
        parent: QWidget | None = None,
        *,
        wrapped_from: int = 0,
        is_markdown: bool = False,
    ) -> None:
        """`wrapped_from`: the length from which a line may continue in the next; 0 for never.

        Of Markdown only the text is shown, without its marks.
        """
        super().__init__(theme, tr("Passage"), parent)
        self._had_selection = False
        passage = text.strip()
        shown = unwrapped(passage, wrapped_from) if wrapped_from else passage
        self._plain = plain_markdown(shown) if is_markdown else None
        self._passage = self._plain.text if self._plain else shown
        self._stripped = len(text) - len(text.lstrip())
        at = text.find(quote.strip())
        self._marked = self._shown([(at, at + len(quote.strip()))])
        self._is_whole = not self.is_longer
        self._show()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._had_selection = self.textCursor().hasSelection()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        selects = self._had_selection or self.textCursor().hasSelection()
        if event.button() == Qt.MouseButton.LeftButton and not selects:
            self.clicked.emit()

    def mark(self, spans: Sequence[Span]) -> None:
        """Mark these places of the text instead; they are in order and do not overlap."""
        self._marked = self._shown(spans)
        self._show()

    def _shown(self, spans: Sequence[Span]) -> list[Span]:
        """Where places of the text are in what is shown of it."""
        found = [tuple(map(self._place, span)) for span in spans]
        return [(start, end) for start, end in found if 0 <= start < end]

    def _place(self, offset: int) -> int:
        offset -= self._stripped
        return self._plain.place(offset) if self._plain and offset >= 0 else offset

    @property
    def is_longer(self) -> bool:
        """True if the collapsed passage is shortened."""
        lines = self._passage.count("\n")
        return len(self._passage) > MOST_CHARS + 40 or lines > MOST_LINES + 1

    @property
    def is_whole(self) -> bool:
        """True while the whole passage is shown."""
        return self._is_whole

    def show_whole(self, is_whole: bool) -> None:
        """Show the whole passage, or only the part around the quote."""
        self._is_whole = is_whole
        self._show()

    def _show(self) -> None:
        if self._is_whole:
            self.show_marked(self._passage, self._marked)
        else:
            self.show_marked(*excerpt(self._passage, self._marked))


def unwrapped(text: str, line_chars: int) -> str:
    """Join hard-wrapped lines by replacing line breaks with spaces; offsets stay valid.

    A line is joined with the next if it has at least `line_chars` characters and the next one
    starts with a lower-case letter.
    """
    return regex.sub(rf"(?<=[^\n]{{{line_chars}}})\n(?=\p{{Ll}})", " ", text)
