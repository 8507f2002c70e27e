"""Plain text with highlighted spans, sized to its height. Qt thread."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QSizeF, Qt, QUrl, Slot
from PySide6.QtGui import QImage, QTextCharFormat, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit

from desktop_rag.ui.foundation.theme import Theme


def text_mark(theme: Theme, cursor: QTextCursor, role: str) -> QTextEdit.ExtraSelection:
    """Selected words in the colours of a role, such as `highlight`."""
    mark, form = QTextEdit.ExtraSelection(), QTextCharFormat()
    form.setBackground(theme.colour(role))
    form.setForeground(theme.colour(f"{role}_text"))
    mark.cursor, mark.format = cursor, form
    return mark


class MarkedText(QTextEdit):
    """Read-only text, inserted as plain text so that none of it is read as HTML."""

    def __init__(self, theme: Theme, name: str, *, role: str = "muted") -> None:
        """`name` is the accessible name; `role` is the colour role of unmarked text."""
        super().__init__()
        self._role = role
        self._theme = theme
        self._text = ""
        self._spans: Sequence[tuple[int, int]] = ()
        self._current = -1
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._on_size_changed)
        theme.changed.connect(self._write)

    def show_marked(self, text: str, spans: Sequence[tuple[int, int]], current: int = -1) -> None:
        """Show `text` with these [start, end) spans marked; they are sorted and do not overlap.

        `current` is the index of the one that is marked more strongly.
        """
        self._text, self._spans, self._current = text, spans, current
        self._write()

    def loadResource(self, kind: int, name: QUrl | str) -> QImage:
        # With None, Qt would read the file itself.
        return QImage()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    @Slot()
    def _write(self) -> None:
        plain, marked = self._format(self._role), self._format("highlight_text")
        marked.setBackground(self._theme.colour("highlight"))
        self.document().clear()
        cursor = QTextCursor(self.document())
        done = 0
        strong = self._format("accent_text")
        strong.setBackground(self._theme.colour("accent"))
        for n, (start, end) in enumerate(self._spans):
            cursor.insertText(self._text[done:start], plain)
            cursor.insertText(self._text[start:end], strong if n == self._current else marked)
            done = end
        cursor.insertText(self._text[done:], plain)

    def _format(self, role: str) -> QTextCharFormat:
        char_format = QTextCharFormat()
        char_format.setForeground(self._theme.colour(role))
        return char_format

    @Slot(QSizeF)
    def _on_size_changed(self, size: QSizeF) -> None:
        self.setFixedHeight(max(1, math.ceil(size.height())))
