"""A page of rendered text that grows at both ends, piece by piece. Qt thread.

It loads no resources: any image in the text is empty, and links are emitted, never followed.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QUrl, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.clipboard_data import clipboard_data
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.formula_object import (
    OBJECT,
    FormulaObject,
    html_with_formulas,
    text_with_formulas,
)
from desktop_rag.ui.markdown.markdown_html import linked_path, safe_address
from desktop_rag.ui.viewers.document_span import Span
from desktop_rag.ui.viewers.page_source import Piece
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits
from desktop_rag.ui.viewers.word_map import WordMap

if TYPE_CHECKING:
    from desktop_rag.ui.markdown.formula_drawing import Drawing

_MARGIN_PX = 20
_MAX_MARKS = 1_000
# Stands where one piece ends and the next begins, with no height of its own.
_BORDER = "<p>\u200b</p>"


@dataclass(slots=True)
class _Placed:
    """A piece with the place where it begins; its words are mapped when they are needed."""

    piece: Piece
    begin: QTextCursor
    words: WordMap | None = None
    base: int = 0


class PageBrowser(QTextBrowser):
    """Shows adjacent pieces of a text, and marks spans of it.

    `path_clicked` carries the target of a relative link, and its words.
    """

    address_clicked = Signal(str)
    path_clicked = Signal(str, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        self._placed: list[_Placed] = []
        self._cited: Span = NO_WORDS
        self._hits = Hits()
        self.setObjectName("page")
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(tr("Document"))
        self.document().setDocumentMargin(_MARGIN_PX)
        option = self.document().defaultTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self._drawings: dict[str, Drawing] = {}
        self._formulas = FormulaObject(theme, self)
        self._formulas.set_drawings(self._drawings)
        layout = self.document().documentLayout()
        layout.registerHandler(QTextFormat.ObjectTypes.ImageObject.value, self._formulas)
        self.anchorClicked.connect(self._on_anchor_clicked)

    def createMimeDataFromSelection(self) -> QMimeData:
        copied = super().createMimeDataFromSelection()
        if OBJECT not in self.textCursor().selectedText():
            return copied
        html = html_with_formulas(copied.html())
        return clipboard_data(text_with_formulas(self.textCursor()), html)

    def loadResource(self, kind: int, name: QUrl | str) -> QImage:
        # With None, Qt would read the file itself.
        return QImage()

    # --- pieces ----------------------------------------------------------------------------------

    def begin(self, text: str) -> None:
        """Remove everything; the pieces that follow are of this text."""
        self._text = text
        self._placed.clear()
        self._drawings.clear()
        self.setExtraSelections([])
        self.document().clear()

    def add_below(self, piece: Piece) -> None:
        """Add the piece that follows the last one."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if self._placed:
            cursor.insertBlock(_border_format(), QTextCharFormat())
        else:
            cursor.setBlockFormat(_border_format())
        self._placed.append(_Placed(piece, self._insert(cursor, piece)))

    def add_above(self, piece: Piece) -> None:
        """Add the piece in front of the first one; what is on the screen stays in its place."""
        bar = self.verticalScrollBar()
        below = self.document().size().height() - bar.value()
        cursor = QTextCursor(self.document())
        cursor.insertBlock(_border_format(), QTextCharFormat())
        cursor.movePosition(QTextCursor.MoveOperation.Start)
        cursor.setBlockFormat(_border_format())
        self._placed.insert(0, _Placed(piece, self._insert(cursor, piece)))
        bar.setValue(round(self.document().size().height() - below))

    def _insert(self, cursor: QTextCursor, piece: Piece) -> QTextCursor:
        begin = QTextCursor(self.document())
        begin.setPosition(cursor.position())
        begin.setKeepPositionOnInsert(True)
        self._drawings |= piece.drawings
        cursor.insertHtml(_BORDER + piece.html)
        begin.setKeepPositionOnInsert(False)
        return begin

    @property
    def covered(self) -> Span | None:
        """The span of the text that is on the page; None while there is none."""
        if not self._placed:
            return None
        return self._placed[0].piece.start, self._placed[-1].piece.end

    # --- marks -----------------------------------------------------------------------------------

    def mark(self, cited: Span, hits: Hits) -> None:
        """Mark the cited words and the hits, as far as they are on the page."""
        self._cited, self._hits = cited, hits
        self.show_marks()

    def show_marks(self) -> None:
        """Mark anew, after pieces were added or the theme has changed."""
        selections = self._selections([(self._cited, False)], "highlight", "highlight_text")
        near = max(0, self._hits.current - _MAX_MARKS // 2)
        others = self._hits.order[near : near + _MAX_MARKS]
        selections += self._selections(
            [mark for mark in others if not mark[1]], "accent_soft", "accent_soft_text"
        )
        current = [mark for mark in others if mark[1]]
        selections += self._selections(current, "accent", "accent_text")
        self.setExtraSelections(selections)

    def scroll_to(self, span: Span) -> bool:
        """Scroll so that the words are in the upper third; False if they are not on the page."""
        cursor = self._cursor(span)
        if cursor is None:
            return False
        start = QTextCursor(cursor)
        start.setPosition(cursor.selectionStart())
        self.setTextCursor(start)
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect(start).top() - self.viewport().height() // 3)
        return True

    def marked_words(self) -> list[str]:
        """The marked words as they are shown."""
        return [selection.cursor.selectedText() for selection in self.extraSelections()]

    def _selections(
        self, marks: Iterable[tuple[Span, bool]], ground: str, words: str
    ) -> list[QTextEdit.ExtraSelection]:
        form = QTextCharFormat()
        form.setBackground(QColor(self._theme.colour(ground)))
        form.setForeground(QColor(self._theme.colour(words)))
        selections: list[QTextEdit.ExtraSelection] = []
        for span, _ in marks:
            cursor = self._cursor(span) if span[1] > span[0] else None
            if cursor is not None:
                selection = QTextEdit.ExtraSelection()
                selection.format = form
                selection.cursor = cursor
                selections.append(selection)
        return selections

    def _cursor(self, span: Span) -> QTextCursor | None:
        """The words as they are shown, with all their pieces; None if none of them is."""
        covered = self.covered
        if covered is None or span[0] >= covered[1] or max(span[1], span[0] + 1) <= covered[0]:
            return None
        starts = [placed.piece.start for placed in self._placed]
        first = max(0, bisect_right(starts, span[0]) - 1)
        last = max(first, bisect_right(starts, max(span[0], span[1] - 1)) - 1)
        if span[0] == span[1]:
            return QTextCursor(self._placed[first].begin)
        found = [self._found(n, span) for n in range(first, last + 1)]
        places = [place for place in found if place is not None]
        if not places:
            return None
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(start for start, _ in places))
        cursor.setPosition(max(end for _, end in places), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _found(self, index: int, span: Span) -> Span | None:
        """The part of the span in one piece, as positions of the page."""
        placed = self._placed[index]
        source = self._text[placed.piece.start : placed.piece.end]
        begin, rendered = self._rendered(index)
        if placed.words is None:
            placed.words = WordMap(source, rendered, placed.piece.pictures)
        offset = placed.piece.start
        place = placed.words.rendered(max(0, span[0] - offset), min(len(source), span[1] - offset))
        if place is None:
            return None
        return begin + _units(rendered, place[0]), begin + _units(rendered, place[1])

    def _rendered(self, index: int) -> tuple[int, str]:
        """Where a piece begins on the page, and its text there."""
        begin = self._placed[index].begin.position()
        cursor = QTextCursor(self.document())
        cursor.setPosition(begin)
        if index + 1 < len(self._placed):
            end = self._placed[index + 1].begin.position()
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        else:
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        return begin, cursor.selectedText()

    @Slot(QUrl)
    def _on_anchor_clicked(self, url: QUrl) -> None:
        href = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        if target := linked_path(href):
            self.path_clicked.emit(target, _words_of_link(self.textCursor()))
        elif address := safe_address(url.toString()):
            self.address_clicked.emit(address)


def _words_of_link(cursor: QTextCursor) -> str:
    """The words of the link at the cursor, where it was pressed or chosen by the keyboard."""
    iterator = cursor.block().begin()
    place = cursor.selectionStart()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if fragment.position() <= place <= fragment.position() + fragment.length() and (
            fragment.charFormat().isAnchor()
        ):
            return fragment.text()
        iterator += 1
    return ""


def _border_format() -> QTextBlockFormat:
    form = QTextBlockFormat()
    form.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return form


def _units(text: str, offset: int) -> int:
    """An offset in code points as Qt's offset in UTF-16 units."""
    before = text[:offset]
    return (
        len(before) if before.isascii() else len(before.encode("utf-16-le", "surrogatepass")) // 2
    )
