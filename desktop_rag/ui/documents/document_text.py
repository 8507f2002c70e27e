"""The whole text of a document with one passage marked, and a quote in it more so. Qt thread."""

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from desktop_rag.ui.foundation.theme import Theme

_PASSAGE_ALPHA = 60
Span = tuple[int, int]


class DocumentText(QPlainTextEdit):
    """Read-only; the text is put in as text, so nothing in it can be HTML."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        self._passage: Span = (0, 0)
        self._quote: Span | None = None
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName("Text of the document")
        theme.changed.connect(self._mark)

    def show_text(self, text: str) -> None:
        """Show another text."""
        self._text = text
        self.setPlainText(text)

    def show_passage(self, passage: Span, quote: Span | None = None) -> None:
        """Mark the text [start, end) and bring it into sight; offsets are code points."""
        self._passage, self._quote = passage, quote
        self._mark()
        cursor = self._cursor(quote or passage)
        # From the end to the beginning, so that as much of it as possible is seen.
        end = QTextCursor(cursor)
        end.setPosition(cursor.selectionEnd())
        self.setTextCursor(end)
        cursor.setPosition(cursor.selectionStart())
        self.setTextCursor(cursor)
        self.centerCursor()

    def find_next(self, words: str, *, backwards: bool = False) -> bool:
        """Go to the next place of these words, around the end; False if there is none."""
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
        if alpha == 255:  # noqa: PLR2004  covers what is below
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
        """Qt counts units of UTF-16, we count code points."""
        before = self._text[:offset]
        return len(before) if before.isascii() else len(before.encode("utf-16-le")) // 2
