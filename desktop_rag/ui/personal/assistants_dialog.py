"""A dialog that lists all assistants, to create, edit, copy and delete them. Qt thread.

It has notices of its own for Undo, because a dialog covers those of the window.
"""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.personal.assistant_model import AssistantModel
from desktop_rag.ui.personal.assistant_wording import summary_of
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.notice_bar import NoticeBar

_WIDTH_PX = 560
_HEIGHT_PX = 440
_INTRO = tr(
    "An assistant combines instructions, a model, collections and filters under one name. Create"
    " one, then select it above the chat."
)


class AssistantsDialog(QDialog):
    """All signals carry an Assistant; `edit_requested` carries None for a new one."""

    edit_requested = Signal(object)
    copy_requested = Signal(object)
    delete_requested = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("assistantsDialog")
        self.setWindowTitle(tr("Assistants"))
        self._collections: Mapping[str, str] = {}
        self._model = AssistantModel(self)
        self._notices = NoticeBar(theme)
        self._view = QListView()
        self._view.setObjectName("assistants")
        self._view.setAccessibleName(tr("Assistants"))
        self._view.setModel(self._model)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._view.setUniformItemSizes(True)
        self._summary = note()
        self._new = TextButton(tr("New…"), kind="primary")
        self._edit = TextButton(tr("Edit…"))
        self._copy = TextButton(tr("Duplicate"))
        self._delete = TextButton(tr("Delete"), kind="danger")
        self._close = TextButton(tr("Close"))
        self._first = TextButton(tr("New assistant…"), kind="primary", icon="plus:accent_text",
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
        column.addWidget(PlainLabel(tr("Assistants"), scale="heading"))
        column.addWidget(self._notices)
        column.addWidget(self._stack, 1)
        column.addLayout(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def _build_empty(self) -> QWidget:
        empty = QWidget()
        column = QVBoxLayout(empty)
        column.setSpacing(12)
        column.addStretch(1)
        words = PlainLabel(_INTRO, tone="muted", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(words)
        column.addWidget(self._first, alignment=Qt.AlignmentFlag.AlignCenter)
        column.addStretch(1)
        return empty

    def _build_list(self) -> QWidget:
        panel = QWidget()
        column = QVBoxLayout(panel)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._view, 1)
        column.addWidget(self._summary)
        return panel

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
        """Show these assistants; `collections` maps ids to names. The selection is kept."""
        selected, row = self.selected, self._view.currentIndex().row()
        self._collections = collections
        self._model.show(assistants, collections)
        self._stack.setCurrentIndex(1 if assistants else 0)
        for button in (self._new, self._edit, self._copy, self._delete):
            button.setVisible(bool(assistants))
        kept = self._model.row_of(selected.assistant_id) if selected else -1
        self.select(kept if kept >= 0 else row)

    def select(self, row: int) -> None:
        """Select the assistant in a row, or the nearest row."""
        row = max(0, min(row, self._model.rowCount() - 1))
        self._view.setCurrentIndex(self._model.index(row))
        self._on_current_changed()

    def offer_undo(self, assistant: Assistant, undo: Callable[[], None]) -> None:
        """Show that an assistant was deleted, with Undo."""
        hint = tr("Its chats continue without an assistant.")
        notice = Notice(tr("Deleted “{one_line}”.", one_line=one_line(assistant.name)), hint)
        self._notices.offer(notice, tr("Undo"), undo)

    def show_error(self, error: AppError) -> None:
        """Show an error."""
        self._notices.show_error(error)

    @property
    def selected(self) -> Assistant | None:
        """The selected assistant."""
        return self._view.currentIndex().data(AssistantModel.AssistantRole)

    @Slot()
    def _on_current_changed(self) -> None:
        selected = self.selected
        self._summary.setText(summary_of(selected, self._collections) if selected else "")
        for button in (self._edit, self._copy, self._delete):
            button.setEnabled(selected is not None)

    @Slot()
    def _on_new(self) -> None:
        self.edit_requested.emit(None)

    @Slot()
    def _on_edit(self) -> None:
        if selected := self.selected:
            self.edit_requested.emit(selected)

    @Slot()
    def _on_copy(self) -> None:
        if selected := self.selected:
            self.copy_requested.emit(selected)

    @Slot()
    def _on_delete(self) -> None:
        if selected := self.selected:
            self.delete_requested.emit(selected)
