"""Completes the names of collections and assistants after an @ in the question field. Qt thread."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QListWidgetItem, QPlainTextEdit

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.domain import Collection
from desktop_rag.ui.composer.field_completion import FieldCompletion
from desktop_rag.ui.foundation.wording import one_line

# At the start or after a space, so that an e-mail address stays text.
_NAME = re.compile(r"(?:^|(?<=\s))@(\S*)$")
_CHOICE_ROLE = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A collection, an assistant, or with neither all documents without an assistant."""

    name: str
    collection_id: str = ""
    assistant_id: str = ""

    @property
    def kind(self) -> str:
        """What it is, for people; empty for all documents."""
        if self.assistant_id:
            return "Assistant"
        return "Collection" if self.collection_id else ""


ALL_DOCUMENTS = NamedChoice("All documents")


class NameCompletion(FieldCompletion):
    """`chosen` carries a NamedChoice; its name is taken out of the field again."""

    chosen = Signal(object)

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field, "Collections and assistants")
        self._choices: Sequence[NamedChoice] = (ALL_DOCUMENTS,)

    def set_choices(
        self, collections: Sequence[Collection], assistants: Sequence[Assistant]
    ) -> None:
        """Offer these, by name."""
        self._choices = (
            ALL_DOCUMENTS,
            *(NamedChoice(c.name, collection_id=c.collection_id) for c in collections),
            *(NamedChoice(a.name, assistant_id=a.assistant_id) for a in assistants),
        )
        self._offer()

    def _typed(self) -> str | None:
        cursor = self.field.textCursor()
        typed = _NAME.search(self.field.toPlainText()[: cursor.position()])
        return typed[1] if typed else None

    def _offer(self) -> None:
        typed = self._typed()
        if typed is None or not self._can_offer():
            self._hide()
            return
        self.rows.clear()
        for choice in self._choices:
            if typed.casefold() in choice.name.casefold():
                kind = f"   {choice.kind}" if choice.kind else ""
                item = QListWidgetItem(f"@{one_line(choice.name)}{kind}", self.rows)
                item.setData(_CHOICE_ROLE, choice)
        self._show_rows()

    @Slot(QListWidgetItem)
    def _take(self, item: QListWidgetItem) -> None:
        cursor = self.field.textCursor()
        length = len(self._typed() or "") + 1
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, length)
        cursor.removeSelectedText()
        self._hide()
        self.chosen.emit(item.data(_CHOICE_ROLE))
