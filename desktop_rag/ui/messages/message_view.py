"""The scrolling list of a conversation's messages, newest at the bottom. Qt thread.

Rows are built from the newest upwards in small batches, so that opening a long conversation never
blocks the window; an answer being written is rendered at most every 80 ms.
"""

import time

from PySide6.QtCore import QMetaObject, QModelIndex, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop_rag.core.conversation import Feedback, Message, Role
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.formula_drawer import FormulaDrawer
from desktop_rag.ui.messages.answer_item import AnswerItem
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.messages.question_item import QuestionItem
from desktop_rag.ui.widgets.controls import TextButton, centred

RENDER_EVERY_MS = 80
# A long paragraph takes longer to render, so it is rendered less often.
_PAUSE_FACTOR = 10
_BATCH = 40
_BUDGET_S = 0.008
_COLUMN_PX = 780
# Messages take their new heights within a few events after the width.
_HELD_MS = 250


class MessageView(QScrollArea):
    """Shows a MessageModel; follows new text only while scrolled to the bottom."""

    citation_clicked = Signal(object, int)
    address_clicked = Signal(str)
    retry_requested = Signal()
    every_file_requested = Signal()
    settings_requested = Signal()
    sources_requested = Signal(object)
    edit_requested = Signal(object)
    attachment_opened = Signal(object)
    fork_requested = Signal(object)
    feedback_given = Signal(object, object)
    rewrite_requested = Signal(object)
    removal_requested = Signal(object)
    follow_up_chosen = Signal(str)
    view_requested = Signal(object)
    verification_requested = Signal(object)
    past_answers_requested = Signal(object)

    def __init__(
        self, theme: Theme, drawer: FormulaDrawer | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._drawer = drawer
        self._model = MessageModel(self)
        self._connections: list[QMetaObject.Connection] = []
        self._items: dict[int, QuestionItem | AnswerItem] = {}
        self._changed: set[int] = set()
        self._first_wanted = 0
        self._hides_unsupported = False
        self._is_at_bottom = True
        self._distance_from_end: int | None = None
        # While the width changes: a message, and the share of its height that stays in view.
        self._held: tuple[QWidget, float] | None = None
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setObjectName("messages")
        self.setAccessibleName("Messages")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        page.setProperty("kind", "page")
        self._earlier = TextButton("Show earlier messages", kind="quiet")
        self._earlier.hide()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(20, 12, 20, 12)
        column.addWidget(self._earlier, alignment=Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(self._rows)
        column.addStretch(1)
        page.setLayout(centred(inner, _COLUMN_PX))
        self.setWidget(page)
        self._build_timer = QTimer(self)
        self._build_timer.setSingleShot(True)
        self._pause_ms = RENDER_EVERY_MS
        self._rendered_at = 0.0
        self._held_timer = QTimer(self)
        self._held_timer.setSingleShot(True)
        self._held_timer.setInterval(_HELD_MS)
        self._render_timer = QTimer(self)
        self._render_timer.setSingleShot(True)

    def _connect(self) -> None:
        self._build_timer.timeout.connect(self._build_rows)
        self._render_timer.timeout.connect(self._render_changed)
        self._held_timer.timeout.connect(self._on_held_long_enough)
        self._earlier.clicked.connect(self._on_earlier_clicked)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._on_range_changed)
        bar.valueChanged.connect(self._on_value_changed)

    @property
    def is_settled(self) -> bool:
        """True once all rows are built and rendered."""
        answers = (i for i in self._items.values() if isinstance(i, AnswerItem))
        return not (
            self._build_timer.isActive()
            or self._render_timer.isActive()
            or any(not answer.body.is_rendered for answer in answers)
        )

    def set_model(self, model: MessageModel) -> None:
        """Show another conversation, scrolled to its end."""
        for connection in self._connections:
            self.disconnect(connection)
        self._model = model
        self._connections = [
            model.modelReset.connect(self._on_model_reset),
            model.rowsInserted.connect(self._on_rows_inserted),
            model.dataChanged.connect(self._on_data_changed),
        ]
        self._on_model_reset()

    def hide_unsupported(self, *, is_wanted: bool) -> None:
        """Set to True to hide answers of which no sentence is supported."""
        self._hides_unsupported = is_wanted
        for item in self._items.values():
            if isinstance(item, AnswerItem):
                item.hide_unsupported(is_wanted=is_wanted)

    def scroll_to_end(self) -> None:
        """Scroll to the newest message and follow it."""
        self._is_at_bottom = True
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    @Slot()
    def _on_model_reset(self) -> None:
        for item in self._items.values():
            item.hide()
            item.deleteLater()
        self._items.clear()
        self._changed.clear()
        self._first_wanted = max(0, self._model.rowCount() - _BATCH)
        self._build_rows()
        self.scroll_to_end()

    @Slot(QModelIndex, int, int)
    def _on_rows_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        if isinstance(before := self._items.get(first - 1), AnswerItem):
            before.show_as_last(is_last=False)
        for row in range(first, last + 1):
            self._add_item(row, at_end=True)
        self.scroll_to_end()

    @Slot(QModelIndex, QModelIndex)
    def _on_data_changed(self, first: QModelIndex, last: QModelIndex) -> None:
        self._changed.update(range(first.row(), last.row() + 1))
        if not self._model.turn(last.row()).is_live:
            self._render_changed()
        elif not self._render_timer.isActive():
            # Text after a pause, above all the first words, is shown at once.
            since_ms = int(1000 * (time.perf_counter() - self._rendered_at))
            self._render_timer.start(max(0, self._pause_ms - since_ms))

    @Slot()
    def _render_changed(self) -> None:
        began_at = time.perf_counter()
        for row in sorted(self._changed):
            if item := self._items.get(row):
                item.show_turn(self._model.turn(row))
        self._changed.clear()
        self._rendered_at = time.perf_counter()
        took_ms = 1000 * (self._rendered_at - began_at)
        self._pause_ms = max(RENDER_EVERY_MS, int(took_ms * _PAUSE_FACTOR))

    @Slot()
    def _build_rows(self) -> None:
        """Build rows above the oldest built one until the time budget is used up."""
        stop_at = time.perf_counter() + _BUDGET_S
        row = min(self._items, default=self._model.rowCount())
        while row > self._first_wanted:
            row -= 1
            self._add_item(row, at_end=False)
            if time.perf_counter() > stop_at:
                break
        if row > self._first_wanted:
            self._build_timer.start(0)
        self._earlier.setVisible(self._first_wanted > 0)

    def _add_item(self, row: int, *, at_end: bool) -> None:
        turn = self._model.turn(row)
        if turn.message.role is Role.USER:
            item = QuestionItem(self._theme, turn)
            item.edit_requested.connect(self._on_edit_requested)
            item.attachment_opened.connect(self.attachment_opened)
        else:
            item = AnswerItem(self._theme, turn, self._drawer)
            item.citation_clicked.connect(self._on_citation_clicked)
            item.sources_requested.connect(self._on_sources_requested)
            item.address_clicked.connect(self.address_clicked)
            item.retry_requested.connect(self.retry_requested)
            item.every_file_requested.connect(self.every_file_requested)
            item.settings_requested.connect(self.settings_requested)
            item.fork_requested.connect(self._on_fork_requested)
            item.feedback_given.connect(self._on_feedback_given)
            item.rewrite_requested.connect(self._on_rewrite_requested)
            item.removal_requested.connect(self._on_removal_requested)
            item.follow_up_chosen.connect(self.follow_up_chosen)
            item.view_requested.connect(self.view_requested)
            item.verification_requested.connect(self.verification_requested)
            item.past_answers_requested.connect(self._on_past_answers_requested)
            item.hide_unsupported(is_wanted=self._hides_unsupported)
            item.show_as_last(is_last=row == self._model.rowCount() - 1)
        self._items[row] = item
        self._rows.insertWidget(self._rows.count() if at_end else 0, item)
        if not at_end:
            # Screen readers read in the order of the children, and older messages are made later.
            item.lower()
            self._earlier.lower()

    @Slot()
    def _on_earlier_clicked(self) -> None:
        bar = self.verticalScrollBar()
        self._distance_from_end = bar.maximum() - bar.value()
        self._first_wanted = max(0, self._first_wanted - _BATCH)
        self._build_rows()

    @Slot(int)
    def _on_citation_clicked(self, n: int) -> None:
        self.citation_clicked.emit(self._message_of_sender(), n)

    @Slot()
    def _on_sources_requested(self) -> None:
        self.sources_requested.emit(self._message_of_sender())

    @Slot()
    def _on_edit_requested(self) -> None:
        self.edit_requested.emit(self._message_of_sender())

    @Slot()
    def _on_past_answers_requested(self) -> None:
        self.past_answers_requested.emit(self._message_of_sender())

    @Slot()
    def _on_fork_requested(self) -> None:
        self.fork_requested.emit(self._message_of_sender())

    @Slot(object)
    def _on_feedback_given(self, feedback: Feedback) -> None:
        self.feedback_given.emit(self._message_of_sender(), feedback)

    @Slot()
    def _on_removal_requested(self) -> None:
        self.removal_requested.emit(self._message_of_sender())

    @Slot()
    def _on_rewrite_requested(self) -> None:
        self.rewrite_requested.emit(self._message_of_sender())

    def _message_of_sender(self) -> Message:
        sender = self.sender()
        row = next(row for row, item in self._items.items() if item is sender)
        return self._model.turn(row).message

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width() and not self._held_timer.isActive():
            self._held = self._item_in_view()
        self._held_timer.start()
        super().resizeEvent(event)

    def _item_in_view(self) -> tuple[QWidget, float] | None:
        """The message across the upper third of the window, and how far down in it that is."""
        third = self.viewport().height() // 3
        for item in self._items.values():
            top = item.mapTo(self.viewport(), QPoint(0, 0)).y()
            if top <= third < top + item.height():
                return item, (third - top) / item.height()
        return None

    @Slot()
    def _on_held_long_enough(self) -> None:
        self._held = None

    @Slot()
    def _on_range_changed(self) -> None:
        bar = self.verticalScrollBar()
        if self._is_at_bottom:
            bar.setValue(bar.maximum())
        elif self._held is not None and isValid(self._held[0]):
            # Text that is wrapped anew, as beside a panel that opens, stays where it is read.
            item, share = self._held
            top = bar.value() + item.mapTo(self.viewport(), QPoint(0, 0)).y()
            bar.setValue(round(top + share * item.height()) - self.viewport().height() // 3)
        elif self._distance_from_end is not None:
            # Keep the visible messages in place when older ones are added above.
            bar.setValue(bar.maximum() - self._distance_from_end)

    @Slot(int)
    def _on_value_changed(self, value: int) -> None:
        self._is_at_bottom = value >= self.verticalScrollBar().maximum() - 4

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._distance_from_end = None
        super().wheelEvent(event)
