"""Prompts by name in the question field: what is behind a slash is offered in a list. Qt thread.

The list is a part of the window above the field, which keeps the focus: arrows move in it, Enter
and Tab take a prompt, Esc closes it. A prompt that has gaps such as {{topic}} is written over gap
by gap: Tab goes to the next one, and so does Enter as long as there is one.
"""

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRegularExpression, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit

from desktop_rag.core.saved_prompts import GAP, SavedPrompt, matching
from desktop_rag.ui.foundation.wording import one_line

_COMMAND = re.compile(r"/(\S*)")
_MOST_ROWS = 8
_MOST_CHARS = 160
_GAP_PX = 6
_MANAGE = "Manage prompts…"
_TAKE_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
_PROMPT_ROLE = Qt.ItemDataRole.UserRole


class SlashPrompts(QObject):
    """Belongs to a field. `wanted` says that a name is begun: what there is may have changed."""

    wanted = Signal()
    managing_requested = Signal()

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
        """Offer these from now on."""
        self._prompts = tuple(prompts)
        self._offer()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            # Esc stops an answer elsewhere.
            if event.key() == Qt.Key.Key_Escape and (self._is_open or self._is_filling):
                event.accept()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            is_plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            return is_plain and (self._is_taken_by_list(event) or self._is_taken_by_gaps(event))
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
            self.wanted.emit()
        self._offer()

    def _offer(self) -> None:
        """Show what fits what is typed, if anything."""
        typed = _COMMAND.fullmatch(self._field.toPlainText())
        if typed is None or self._is_dismissed or not self._field.hasFocus():
            self._list.hide()
            return
        self._list.clear()
        for prompt in matching(self._prompts, typed[1]):
            start = one_line(" ".join(prompt.text[:_MOST_CHARS].split()))
            item = QListWidgetItem(f"/{one_line(prompt.name)}   {start}", self._list)
            item.setData(_PROMPT_ROLE, prompt)
        if not typed[1]:
            QListWidgetItem(_MANAGE, self._list)
        self._list.setCurrentRow(0)
        self._list.setVisible(self._place() and self._list.count() > 0)

    def _place(self) -> bool:
        """Put the list above what the field stands in; False where there is no window yet."""
        composer = self._field.parentWidget() or self._field
        window = self._field.window()
        if window is self._field:
            return False
        if self._list.parentWidget() is not window:
            self._list.setParent(window)
        rows = min(self._list.count(), _MOST_ROWS)
        # The padding of the style sheet counts as frame.
        height = rows * self._list.sizeHintForRow(0) + 2 * self._list.frameWidth()
        corner = composer.mapTo(window, composer.rect().topLeft())
        top = max(0, corner.y() - height - _GAP_PX)
        self._list.setGeometry(corner.x(), top, composer.width(), height)
        self._list.raise_()
        return True

    def _is_taken_by_list(self, event: QKeyEvent) -> bool:
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

    def _is_taken_by_gaps(self, event: QKeyEvent) -> bool:
        if not self._is_filling:
            return False
        if event.key() == Qt.Key.Key_Escape:
            self._is_filling = False
            return True
        return event.key() in _TAKE_KEYS and self._goes_to_gap()

    def _goes_to_gap(self) -> bool:
        """Select the next gap behind the cursor, else the first one; False where none is left."""
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
        # As if it was typed, so that it can be undone.
        cursor.insertText(prompt.text if prompt else "")
        self._list.hide()
        if prompt is None:
            self.managing_requested.emit()
            return
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self._field.setTextCursor(cursor)
        self._is_filling = True
        self._goes_to_gap()


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
