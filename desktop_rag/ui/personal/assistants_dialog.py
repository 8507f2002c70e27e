"""All assistants, and what can be done with them. Qt thread; it only tells.

What was deleted can be brought back from here: the window's own notices lie behind a dialog.
"""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.personal.assistant_wording import summary_of
from desktop_rag.ui.settings.settings_fields import note
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, plain_tooltip
from desktop_rag.ui.widgets.notice_bar import NoticeBar

_WIDTH_PX = 560
_HEIGHT_PX = 440
_WHAT_FOR = (
    "An assistant answers in its own way: with instructions, a model, collections and filters that"
    " you choose once. Then choose it above the chat."
)
_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class AssistantModel(QAbstractListModel):
    """Assistants by name."""

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
        """Show these instead."""
        self.beginResetModel()
        self._assistants, self._collections = list(assistants), collections
        self.endResetModel()

    def row_of(self, assistant_id: str) -> int:
        """Where it stands, or -1."""
        ids = [assistant.assistant_id for assistant in self._assistants]
        return ids.index(assistant_id) if assistant_id in ids else -1


class AssistantsDialog(QDialog):
    """`edited`, `copied` and `deleted` carry an Assistant; `edited` None is for a new one."""

    edited = Signal(object)
    copied = Signal(object)
    deleted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("assistantsDialog")
        self.setWindowTitle("Assistants")
        self._collections: Mapping[str, str] = {}
        self._model = AssistantModel(self)
        self._notices = NoticeBar(theme)
        self._view = QListView()
        self._view.setObjectName("assistants")
        self._view.setAccessibleName("Assistants")
        self._view.setModel(self._model)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._view.setUniformItemSizes(True)
        self._summary = note()
        self._new = TextButton("New…", kind="primary")
        self._edit = TextButton("Edit…")
        self._copy = TextButton("Duplicate")
        self._delete = TextButton("Delete", kind="danger")
        self._close = TextButton("Close")
        self._first = TextButton("New assistant…", kind="primary", icon="plus:accent_text",
                                 theme=theme)  # fmt: skip
        self._delete_key = QAction(self._view, shortcut=QKeySequence(Qt.Key.Key_Delete))
        self._build()
        self._connect()
        self._on_current_changed()

    def _build(self) -> None:
        self._delete_key.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._view.addAction(self._delete_key)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._build_empty())
        self._stack.addWidget(self._build_list())
        buttons = QHBoxLayout()
        for button in (self._new, self._edit, self._copy, self._delete):
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(self._close)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(PlainLabel("Assistants", scale="heading"))
        column.addWidget(self._notices)
        column.addWidget(self._stack, 1)
        column.addLayout(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def _build_empty(self) -> QWidget:
        empty = QWidget()
        column = QVBoxLayout(empty)
        column.setSpacing(12)
        column.addStretch(1)
        words = PlainLabel(_WHAT_FOR, tone="muted", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(words)
        column.addWidget(self._first, alignment=Qt.AlignmentFlag.AlignCenter)
        column.addStretch(1)
        return empty

    def _build_list(self) -> QWidget:
        there = QWidget()
        column = QVBoxLayout(there)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._view, 1)
        column.addWidget(self._summary)
        return there

    def _connect(self) -> None:
        for button in (self._new, self._first):
            button.clicked.connect(self._on_new)
        self._edit.clicked.connect(self._on_edit)
        self._copy.clicked.connect(self._on_copy)
        self._delete.clicked.connect(self._on_delete)
        self._delete_key.triggered.connect(self._on_delete)
        self._close.clicked.connect(self.reject)
        self._view.activated.connect(self._on_edit)
        self._view.selectionModel().currentChanged.connect(self._on_current_changed)

    def show_assistants(
        self, assistants: Sequence[Assistant], collections: Mapping[str, str]
    ) -> None:
        """Show these, with the names of collections by id; the marked one stays marked."""
        marked, row = self.marked, self._view.currentIndex().row()
        self._collections = collections
        self._model.show(assistants, collections)
        self._stack.setCurrentIndex(1 if assistants else 0)
        for button in (self._new, self._edit, self._copy, self._delete):
            button.setVisible(bool(assistants))
        kept = self._model.row_of(marked.assistant_id) if marked else -1
        self.mark(kept if kept >= 0 else row)

    def mark(self, row: int) -> None:
        """Mark the assistant of a row, or the nearest one there is."""
        row = max(0, min(row, self._model.rowCount() - 1))
        self._view.setCurrentIndex(self._model.index(row))
        self._on_current_changed()

    def offer_undo(self, assistant: Assistant, undo: Callable[[], None]) -> None:
        """Say that an assistant was deleted, and offer to bring it back."""
        hint = "Its chats go on without it."
        notice = Notice(f"Deleted “{one_line(assistant.name)}”.", hint)
        self._notices.offer(notice, "Undo", undo)

    def show_error(self, error: AppError) -> None:
        """Say what went wrong."""
        self._notices.show_error(error)

    @property
    def marked(self) -> Assistant | None:
        """The assistant that buttons and keys are about."""
        return self._view.currentIndex().data(AssistantModel.AssistantRole)

    @Slot()
    def _on_current_changed(self) -> None:
        marked = self.marked
        self._summary.setText(summary_of(marked, self._collections) if marked else "")
        for button in (self._edit, self._copy, self._delete):
            button.setEnabled(marked is not None)

    @Slot()
    def _on_new(self) -> None:
        self.edited.emit(None)

    @Slot()
    def _on_edit(self) -> None:
        if marked := self.marked:
            self.edited.emit(marked)

    @Slot()
    def _on_copy(self) -> None:
        if marked := self.marked:
            self.copied.emit(marked)

    @Slot()
    def _on_delete(self) -> None:
        if marked := self.marked:
            self.deleted.emit(marked)
