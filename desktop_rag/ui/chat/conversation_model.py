"""The Qt models of the conversation list: all conversations, and the filtered ones. Qt thread."""

from collections.abc import Sequence
from datetime import date

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)

from desktop_rag.core.conversation import Conversation
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.days import day_of, moment_in_words, period_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import plain_tooltip

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
UNTITLED = tr("New chat")


def title_of(conversation: Conversation) -> str:
    """The title on one line; a title taken from a question may contain line breaks."""
    return one_line(" ".join(conversation.title.split())) or UNTITLED


class ConversationModel(QAbstractListModel):
    """Conversations in the given order. Editing a title only emits `title_edited`."""

    title_edited = Signal(str, str)
    ConversationRole = Qt.ItemDataRole.UserRole + 1
    GroupRole = Qt.ItemDataRole.UserRole + 2

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._conversations: list[Conversation] = []

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._conversations)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        conversation = self._conversations[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title_of(conversation)
            case Qt.ItemDataRole.EditRole:
                return conversation.title
            case Qt.ItemDataRole.ToolTipRole:
                when = moment_in_words(conversation.updated_at)
                return plain_tooltip(f"{title_of(conversation)}\n{when}")
            case Qt.ItemDataRole.DecorationRole if conversation.is_pinned:
                return self._theme.icon("pin:muted")
            case self.ConversationRole:
                return conversation
            case _:
                return self._group_data(conversation, role)

    def _group_data(self, conversation: Conversation, role: int) -> str | None:
        """The heading of the conversation's group, also as part of the accessible text."""
        if role not in {self.GroupRole, Qt.ItemDataRole.AccessibleTextRole}:
            return None
        if conversation.is_pinned:
            group = tr("Pinned")
        else:
            group = period_in_words(day_of(conversation.updated_at), date.today())
        return group if role == self.GroupRole else f"{title_of(conversation)}, {group}"

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        title = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or not title:
            return False
        conversation = self._conversations[index.row()]
        if title != conversation.title:
            self.title_edited.emit(conversation.conversation_id, title)
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() else flags

    def show(self, conversations: Sequence[Conversation]) -> None:
        """Show these conversations; nothing is reset if they are the same."""
        if list(conversations) == self._conversations:
            return
        self.beginResetModel()
        self._conversations = list(conversations)
        self.endResetModel()

    def row_of(self, conversation_id: str) -> int:
        """The row of a conversation, or -1."""
        ids = [c.conversation_id for c in self._conversations]
        return ids.index(conversation_id) if conversation_id in ids else -1


class ConversationFilter(QSortFilterProxyModel):
    """Keeps conversations whose title, or one of whose messages, contains the search text."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._text = ""
        self._ids: frozenset[str] = frozenset()

    def set_search(self, text: str, ids: frozenset[str] = frozenset()) -> None:
        """Filter by `text`; `ids` are conversations with it in a message."""
        self._text, self._ids = text.strip().casefold(), ids
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: _Index) -> bool:
        index = self.sourceModel().index(row, 0, parent)
        conversation: Conversation = index.data(ConversationModel.ConversationRole)
        is_titled = self._text in title_of(conversation).casefold()
        return is_titled or conversation.conversation_id in self._ids
