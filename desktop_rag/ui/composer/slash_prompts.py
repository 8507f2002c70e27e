"""Completes saved prompts after a slash in the question field. Qt thread.

Placeholders such as {{topic}} are filled in one after the other: Tab goes to the next one, and so
does Enter while there is one.
"""

import re
from collections.abc import Sequence

from PySide6.QtCore import QRegularExpression, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QListWidgetItem, QPlainTextEdit

from desktop_rag.core.language.translation import tr
from desktop_rag.core.saved_prompts import GAP, SavedPrompt, matching
from desktop_rag.ui.composer.field_completion import TAKE_KEYS, FieldCompletion
from desktop_rag.ui.foundation.wording import one_line

_COMMAND = re.compile(r"/(\S*)")
_MAX_CHARS = 160
_MANAGE = tr("Manage prompts…")
_PROMPT_ROLE = Qt.ItemDataRole.UserRole


class SlashPrompts(FieldCompletion):
    """Completes prompts in one field. `prompts_requested` asks for the current prompts."""

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
