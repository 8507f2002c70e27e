"""Buttons over an answer that copy one block of code or one table. Qt thread.

They lie over the text, in room that it leaves for them, so that nothing moves when they appear:
under the pointer, or when the keyboard reaches one of them.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, QTimer, Slot
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFocusEvent,
    QGuiApplication,
    QPaintEvent,
    QTextTable,
)
from PySide6.QtWidgets import QTextEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.clipboard_data import clipboard_data
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.copied_blocks import Block, BlockKind, as_html_table, as_tabs
from desktop_rag.ui.markdown.table_widths import tables_in
from desktop_rag.ui.widgets.controls import ToolButton, plain_tooltip

_SAID_MS = 2_000
_GAP_PX = 4
_ICON_PX = 14
_NAMES = {BlockKind.CODE: tr("Copy code"), BlockKind.DIAGRAM: tr("Copy diagram source")}


class CopyButton(ToolButton):
    """A small button, painted only while it is revealed; the keyboard always reaches it."""

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
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SAID_MS)
        self._timer.timeout.connect(self._show_name)
        self.clicked.connect(self._on_clicked)
        self._show_name()

    def reveal(self, *, is_wanted: bool) -> None:
        """Set to True to paint the button."""
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
    """The buttons of one text, placed at its blocks."""

    def __init__(self, theme: Theme, view: QTextEdit) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view
        self._placed: list[tuple[QTextTable, list[CopyButton]]] = []

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Give these blocks, which are the tables of the document, their buttons."""
        for _, buttons in self._placed:
            for button in buttons:
                button.hide()
                button.deleteLater()
        frames = tables_in(self._view.document().rootFrame()) if blocks else []
        is_known = len(frames) == len(blocks)
        pairs = zip(frames, blocks, strict=True) if is_known else ()
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
        """Move the buttons to their blocks, because the text was laid out."""
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
    """How far a text is scrolled from its left."""
    bar = view.horizontalScrollBar()
    return bar.maximum() - bar.value() if view.isRightToLeft() else bar.value()


def _place(
    layout: QAbstractTextDocumentLayout, table: QTextTable, buttons: _Buttons, moved: int
) -> None:
    """Below a table at its left; at the right end of the heading of code."""
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
