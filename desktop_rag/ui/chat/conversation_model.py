"""The Qt model of the conversation list. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from desktop_rag.core.conversation import MEMORY, TERMINAL, Conversation
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.days import day_of, moment_in_words, period_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.item_list import Column, RowsModel

_Index = QModelIndex | QPersistentModelIndex
UNTITLED = tr("New chat")


def title_of(conversation: Conversation) -> str:
    """The title on one line; a title taken from a question may contain line breaks."""
    return one_line(" ".join(conversation.title.split())) or UNTITLED


def group_of(conversation: Conversation) -> str:
    """The heading of the group that the conversation is in."""
    if conversation.kept_by == MEMORY:
        return tr("Not stored, ends with the app")
    if conversation.is_pinned:
        return tr("Pinned")
    if conversation.kept_by == TERMINAL:
        return tr("From the terminal")
    return period_in_words(day_of(conversation.updated_at), date.today())


def _without_times(rows: Sequence[Conversation]) -> dict[str, Conversation]:
    return {each.conversation_id: replace(each, updated_at=0.0) for each in rows}


_TITLES = Column[Conversation](
    tr("Chats"),
    title_of,
    tip=lambda each: f"{title_of(each)}\n{moment_in_words(each.updated_at)}",
    spoken=lambda each: f"{title_of(each)}, {group_of(each)}",
)


class ConversationModel(RowsModel[Conversation]):
    """Conversations in the given order. Editing a title only emits `title_edited`."""

    title_edited = Signal(str, str)

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__([_TITLES], parent)
        self._theme = theme

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if index.isValid() and role == Qt.ItemDataRole.EditRole:
            return self.row_at(index.row()).title
        if index.isValid() and role == Qt.ItemDataRole.DecorationRole:
            is_pinned = self.row_at(index.row()).is_pinned
            return self._theme.icon("pin:muted") if is_pinned else None
        return super().data(index, role)

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        title = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or not title:
            return False
        conversation = self.row_at(index.row())
        if title != conversation.title:
            self.title_edited.emit(conversation.conversation_id, title)
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() else flags

    def show(self, rows: Sequence[Conversation]) -> None:
        """Show these conversations; nothing is reset if they are the same."""
        if list(rows) != list(self._rows):
            super().show(rows)

    def has(self, rows: Sequence[Conversation]) -> bool:
        """True when these are on show, if in another order because some went on."""
        return _without_times(rows) == _without_times(self._rows)

    def row_of(self, conversation_id: str) -> int:
        """The row of a conversation, or -1."""
        ids = [c.conversation_id for c in self._rows]
        return ids.index(conversation_id) if conversation_id in ids else -1
