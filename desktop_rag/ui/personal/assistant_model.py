"""The Qt model of the list of assistants. Qt thread."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop_rag.core.assistant import Assistant
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.personal.assistant_wording import summary_of
from desktop_rag.ui.widgets.controls import plain_tooltip

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class AssistantModel(QAbstractListModel):
    """The assistants in the given order."""

    AssistantRole = Qt.ItemDataRole.UserRole + 1

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._assistants: list[Assistant] = []
        self._collections: Mapping[str, str] = {}

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._assistants)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        assistant = self._assistants[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return one_line(assistant.name)
            case Qt.ItemDataRole.ToolTipRole:
                summary = summary_of(assistant, self._collections)
                return plain_tooltip(f"{one_line(assistant.name)}\n{summary}")
            case self.AssistantRole:
                return assistant
            case _:
                return None

    def show(self, assistants: Sequence[Assistant], collections: Mapping[str, str]) -> None:
        """Show these assistants."""
        self.beginResetModel()
        self._assistants, self._collections = list(assistants), collections
        self.endResetModel()

    def row_of(self, assistant_id: str) -> int:
        """The row of an assistant, or -1."""
        ids = [assistant.assistant_id for assistant in self._assistants]
        return ids.index(assistant_id) if assistant_id in ids else -1
