"""Lists of completions beside a question field, which keeps the focus. Qt thread.

Arrow keys move in the list, Enter and Tab take a row, Esc closes it.
"""

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRegularExpression, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit

from desktop_rag.core.assistant import GAP, SavedPrompt, matching
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import one_line

_MAX_ROWS = 8
_MARGIN_PX = 6
TAKE_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)


class FieldCompletion(QObject):
    """Subclasses fill `rows` in `_offer`, and insert the chosen row in `_take`.

    `room_needed` carries the height in pixels that the list takes in its window, 0 when it closes.
    """

    room_needed = Signal(int)

    def __init__(self, field: QPlainTextEdit, name: str) -> None:
        """`name` is the list's name for screen readers."""
        super().__init__(field)
        self.field = field
        self._is_dismissed = False
        self.rows = _make_list(field, name)
        self.rows.itemClicked.connect(self._take)
        field.installEventFilter(self)
        field.textChanged.connect(self._on_text_changed)

    @property
    def is_open(self) -> bool:
        """True while the list is shown."""
        return self.rows.isVisible()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            # Elsewhere, Esc stops an answer.
            if event.key() == Qt.Key.Key_Escape and self._uses_escape():
                event.accept()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            is_plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            return is_plain and self._handles(event)
        elif event.type() == QEvent.Type.FocusOut:
            self._hide()
        elif event.type() == QEvent.Type.Resize and self.is_open:
            self._place()
        return super().eventFilter(watched, event)

    def _uses_escape(self) -> bool:
        return self.is_open

    def _typed(self) -> str | None:
        """The typed beginning of a completion; None if none is being typed."""
        raise NotImplementedError

    def _offer(self) -> None:
        """Fill and show the list for the typed text, or hide it."""
        raise NotImplementedError

    @Slot(QListWidgetItem)
    def _take(self, item: QListWidgetItem) -> None:
        """Insert the text of the row."""
        raise NotImplementedError

    @Slot()
    def _on_text_changed(self) -> None:
        if self._typed() is None:
            self._is_dismissed = False
        self._offer()

    def _can_offer(self) -> bool:
        return self._typed() is not None and not self._is_dismissed and self.field.hasFocus()

    def _show_rows(self) -> None:
        if not self.rows.count():
            self._hide()
            return
        self.rows.setCurrentRow(0)
        self.room_needed.emit(self._height() + _MARGIN_PX)
        self.rows.setVisible(self._place())

    def _hide(self) -> None:
        if self.rows.isVisible():
            self.rows.hide()
            self.room_needed.emit(0)

    def _height(self) -> int:
        rows = min(self.rows.count(), _MAX_ROWS)
        # The style sheet's padding counts as frame.
        return rows * self.rows.sizeHintForRow(0) + 2 * self.rows.frameWidth()

    def _place(self) -> bool:
        """Place the list above the field's card, or below it where there is more room.

        False while the field is in no window.
        """
        card = self.field.parentWidget() or self.field
        window = self.field.window()
        if window is self.field:
            return False
        if self.rows.parentWidget() is not window:
            self.rows.setParent(window)
        height = self._height()
        corner = card.mapTo(window, card.rect().topLeft())
        top = corner.y() - height - _MARGIN_PX
        below = corner.y() + card.height() + _MARGIN_PX
        if top < 0 and below < window.height() - corner.y():
            top = below
        self.rows.setGeometry(corner.x(), max(0, top), card.width(), height)
        self.rows.raise_()
        return True

    def _handles(self, event: QKeyEvent) -> bool:
        if not self.is_open:
            return False
        key, row, count = event.key(), self.rows.currentRow(), self.rows.count()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = 1 if key == Qt.Key.Key_Down else -1
            self.rows.setCurrentRow((row + step) % count)
        elif key in TAKE_KEYS:
            self._take(self.rows.item(row))
        elif key == Qt.Key.Key_Escape:
            self._is_dismissed = True
            self._hide()
        else:
            return False
        return True


def _make_list(field: QPlainTextEdit, name: str) -> QListWidget:
    rows = QListWidget(field)
    rows.setProperty("part", "completion")
    rows.setAccessibleName(name)
    rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    rows.setTextElideMode(Qt.TextElideMode.ElideRight)
    rows.setUniformItemSizes(True)
    rows.hide()
    return rows


_COMMAND = re.compile(r"/(\S*)")
_MAX_CHARS = 160
_MANAGE = tr("Manage prompts…")
_PROMPT_ROLE = Qt.ItemDataRole.UserRole


class SlashPrompts(FieldCompletion):
    """Completes saved prompts after a slash. `prompts_requested` asks for the current prompts.

    Placeholders such as {{topic}} are filled in one after the other: Tab goes to the next one, and
    Enter too while there is one.
    """

    prompts_requested = Signal()
    manage_requested = Signal()

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field, tr("Prompts"))
        self.rows.setObjectName("promptList")
        self._prompts: Sequence[SavedPrompt] = ()
        self._was_typing = False
        self._is_filling = False

    def show_prompts(self, prompts: Sequence[SavedPrompt]) -> None:
        """Set the prompts to complete."""
        self._prompts = tuple(prompts)
        self._offer()

    def _uses_escape(self) -> bool:
        return self.is_open or self._is_filling

    def _typed(self) -> str | None:
        typed = _COMMAND.fullmatch(self.field.toPlainText())
        return typed[1] if typed else None

    @Slot()
    def _on_text_changed(self) -> None:
        self._is_filling = self._is_filling and bool(self.field.toPlainText())
        is_typing = self._typed() is not None
        if is_typing and not self._was_typing:
            self.prompts_requested.emit()
        self._was_typing = is_typing
        super()._on_text_changed()

    def _offer(self) -> None:
        typed = self._typed()
        if typed is None or not self._can_offer():
            self._hide()
            return
        self.rows.clear()
        for prompt in matching(self._prompts, typed):
            start = one_line(" ".join(prompt.text[:_MAX_CHARS].split()))
            item = QListWidgetItem(f"/{one_line(prompt.name)}   {start}", self.rows)
            item.setData(_PROMPT_ROLE, prompt)
        if not typed:
            QListWidgetItem(_MANAGE, self.rows)
        self._show_rows()

    def _handles(self, event: QKeyEvent) -> bool:
        return super()._handles(event) or self._gaps_handle(event)

    def _gaps_handle(self, event: QKeyEvent) -> bool:
        if not self._is_filling:
            return False
        if event.key() == Qt.Key.Key_Escape:
            self._is_filling = False
            return True
        return event.key() in TAKE_KEYS and self._select_next_gap()

    def _select_next_gap(self) -> bool:
        """Select the next placeholder after the cursor, else the first; False if none is left."""
        document, here = self.field.document(), self.field.textCursor()
        here.setPosition(here.selectionEnd())
        for start in (here, QTextCursor(document)):
            found = document.find(QRegularExpression(GAP), start)
            if not found.isNull():
                self.field.setTextCursor(found)
                return True
        self._is_filling = False
        return False

    @Slot(QListWidgetItem)
    def _take(self, item: QListWidgetItem) -> None:
        prompt = item.data(_PROMPT_ROLE)
        cursor = self.field.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        # Inserted as if typed, so that it can be undone.
        cursor.insertText(prompt.text if prompt else "")
        self._hide()
        if prompt is None:
            self.manage_requested.emit()
            return
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self.field.setTextCursor(cursor)
        self._is_filling = True
        self._select_next_gap()
