"""The full text of a document with a passage and a quote highlighted. Qt thread."""

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme

_PASSAGE_ALPHA = 60
Span = tuple[int, int]


class DocumentText(QPlainTextEdit):
    """Read-only text, inserted as plain text so that none of it is read as HTML."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        self._passage: Span = (0, 0)
        self._quote: Span | None = None
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(tr("Text of the document"))
        theme.changed.connect(self._mark)

    def show_text(self, text: str) -> None:
        """Set the text."""
        self._text = text
        self.setPlainText(text)

    def show_passage(self, passage: Span, quote: Span | None = None) -> None:
        """Highlight a span [start, end) and scroll to it; offsets are code points."""
        self._passage, self._quote = passage, quote
        self._mark()
        cursor = self._cursor(quote or passage)
        # Moving to the end first shows as much of the span as possible.
        end = QTextCursor(cursor)
        end.setPosition(cursor.selectionEnd())
        self.setTextCursor(end)
        cursor.setPosition(cursor.selectionStart())
        self.setTextCursor(cursor)
        self.centerCursor()

    def find_next(self, words: str, *, backwards: bool = False) -> bool:
        """Select the next match, wrapping around; False if there is none."""
        flag = QTextDocument.FindFlag.FindBackward if backwards else QTextDocument.FindFlag(0)
        if not words:
            return False
        if self.find(words, flag):
            return True
        cursor = self.textCursor()
        move = QTextCursor.MoveOperation
        cursor.movePosition(move.End if backwards else move.Start)
        before = self.textCursor()
        self.setTextCursor(cursor)
        if self.find(words, flag):
            return True
        self.setTextCursor(before)
        return False

    def _mark(self) -> None:
        selections = [self._selection(self._passage, _PASSAGE_ALPHA)]
        if self._quote is not None:
            selections.append(self._selection(self._quote, 255))
        self.setExtraSelections(selections)

    def _selection(self, span: Span, alpha: int) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        colour = QColor(self._theme.colour("highlight"))
        colour.setAlpha(alpha)
        form = QTextCharFormat()
        form.setBackground(colour)
        if alpha == 255:  # noqa: PLR2004  opaque: hides the text colour below
            form.setForeground(QColor(self._theme.colour("highlight_text")))
        selection.format = form
        selection.cursor = self._cursor(span)
        return selection

    def _cursor(self, span: Span) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._position(span[0]))
        cursor.setPosition(self._position(span[1]), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _position(self, offset: int) -> int:
        """An offset in code points as Qt's offset in UTF-16 units."""
        before = self._text[:offset]
        return len(before) if before.isascii() else len(before.encode("utf-16-le")) // 2
