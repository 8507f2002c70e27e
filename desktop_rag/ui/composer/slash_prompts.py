"""Completes saved prompts after a slash in the question field. Qt thread.

The list opens above the field, which keeps the focus: arrow keys move in it, Enter and Tab insert
a prompt, Esc closes it. Placeholders such as {{topic}} are filled in one after the other: Tab goes
to the next one, and so does Enter while there is one.
"""

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRegularExpression, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit

from desktop_rag.core.saved_prompts import GAP, SavedPrompt, matching
from desktop_rag.ui.foundation.wording import one_line

_COMMAND = re.compile(r"/(\S*)")
_MAX_ROWS = 8
_MAX_CHARS = 160
_MARGIN_PX = 6
_MANAGE = "Manage prompts…"
_TAKE_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
_PROMPT_ROLE = Qt.ItemDataRole.UserRole


class SlashPrompts(QObject):
    """Completes prompts in one field. `prompts_requested` asks for the current prompts."""

    prompts_requested = Signal()
    manage_requested = Signal()

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field)
        self._field = field
        self._prompts: Sequence[SavedPrompt] = ()
        self._is_typing = False
        self._is_dismissed = False
        self._is_filling = False
        self._list = _make_list(field)
        self._list.itemClicked.connect(self._take)
        field.installEventFilter(self)
        field.textChanged.connect(self._on_text_changed)

    def show_prompts(self, prompts: Sequence[SavedPrompt]) -> None:
        """Set the prompts to complete."""
        self._prompts = tuple(prompts)
        self._offer()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            # Elsewhere, Esc stops an answer.
            if event.key() == Qt.Key.Key_Escape and (self._is_open or self._is_filling):
                event.accept()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            is_plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            return is_plain and (self._list_handles(event) or self._gaps_handle(event))
        elif event.type() == QEvent.Type.FocusOut:
            self._list.hide()
        elif event.type() == QEvent.Type.Resize and self._is_open:
            self._place()
        return super().eventFilter(watched, event)

    @property
    def _is_open(self) -> bool:
        return self._list.isVisible()

    @Slot()
    def _on_text_changed(self) -> None:
        text = self._field.toPlainText()
        self._is_filling = self._is_filling and bool(text)
        was_typing = self._is_typing
        self._is_typing = _COMMAND.fullmatch(text) is not None
        if not self._is_typing:
            self._is_dismissed = False
        elif not was_typing:
            self.prompts_requested.emit()
        self._offer()

    def _offer(self) -> None:
        """Show the matching prompts, if any."""
        typed = _COMMAND.fullmatch(self._field.toPlainText())
        if typed is None or self._is_dismissed or not self._field.hasFocus():
            self._list.hide()
            return
        self._list.clear()
        for prompt in matching(self._prompts, typed[1]):
            start = one_line(" ".join(prompt.text[:_MAX_CHARS].split()))
            item = QListWidgetItem(f"/{one_line(prompt.name)}   {start}", self._list)
            item.setData(_PROMPT_ROLE, prompt)
        if not typed[1]:
            QListWidgetItem(_MANAGE, self._list)
        self._list.setCurrentRow(0)
        self._list.setVisible(self._place() and self._list.count() > 0)

    def _place(self) -> bool:
        """Put the list above the composer; False while the field is in no window yet."""
        composer = self._field.parentWidget() or self._field
        window = self._field.window()
        if window is self._field:
            return False
        if self._list.parentWidget() is not window:
            self._list.setParent(window)
        rows = min(self._list.count(), _MAX_ROWS)
        # The style sheet's padding counts as frame.
        height = rows * self._list.sizeHintForRow(0) + 2 * self._list.frameWidth()
        corner = composer.mapTo(window, composer.rect().topLeft())
        top = max(0, corner.y() - height - _MARGIN_PX)
        self._list.setGeometry(corner.x(), top, composer.width(), height)
        self._list.raise_()
        return True

    def _list_handles(self, event: QKeyEvent) -> bool:
        if not self._is_open:
            return False
        key, row, count = event.key(), self._list.currentRow(), self._list.count()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = 1 if key == Qt.Key.Key_Down else -1
            self._list.setCurrentRow((row + step) % count)
        elif key in _TAKE_KEYS:
            self._take(self._list.item(row))
        elif key == Qt.Key.Key_Escape:
            self._is_dismissed = True
            self._list.hide()
        else:
            return False
        return True

    def _gaps_handle(self, event: QKeyEvent) -> bool:
        if not self._is_filling:
            return False
        if event.key() == Qt.Key.Key_Escape:
            self._is_filling = False
            return True
        return event.key() in _TAKE_KEYS and self._select_next_gap()

    def _select_next_gap(self) -> bool:
        """Select the next placeholder after the cursor, else the first; False if none is left."""
        document, here = self._field.document(), self._field.textCursor()
        here.setPosition(here.selectionEnd())
        for start in (here, QTextCursor(document)):
            found = document.find(QRegularExpression(GAP), start)
            if not found.isNull():
                self._field.setTextCursor(found)
                return True
        self._is_filling = False
        return False

    @Slot(QListWidgetItem)
    def _take(self, item: QListWidgetItem) -> None:
        prompt = item.data(_PROMPT_ROLE)
        cursor = self._field.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        # Inserted as if typed, so that it can be undone.
        cursor.insertText(prompt.text if prompt else "")
        self._list.hide()
        if prompt is None:
            self.manage_requested.emit()
            return
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self._field.setTextCursor(cursor)
        self._is_filling = True
        self._select_next_gap()


def _make_list(field: QPlainTextEdit) -> QListWidget:
    rows = QListWidget(field)
    rows.setObjectName("promptList")
    rows.setAccessibleName("Prompts")
    rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    rows.setTextElideMode(Qt.TextElideMode.ElideRight)
    rows.setUniformItemSizes(True)
    rows.hide()
    return rows
