"""A question as a person sees it, in its bubble. Qt thread. It only shows a `Turn`."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.ui.composer.attachment_strip import SentAttachments
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.message_model import Turn
from desktop_rag.ui.widgets.controls import Card, IconButton, PlainLabel

_LONGEST_QUESTION_CHARS = 4_000
_BUBBLE_SHARE = 0.85
_LEAST_PX = 120
# What stands around the words: the bubble's margins and the pencil.
_BESIDE_PX = 76


class QuestionItem(QWidget):
    """What the person asked, on the right."""

    edit_requested = Signal()
    attachment_opened = Signal(object)

    def __init__(self, theme: Theme, turn: Turn, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edit = IconButton(theme, "pencil:muted", "Edit and ask again")
        self._edit.clicked.connect(self.edit_requested)
        self._bubble = Card(kind="bubble")
        self._label = PlainLabel(wrap=True, selectable=True)
        inner = QVBoxLayout(self._bubble)
        inner.setContentsMargins(14, 9, 14, 9)
        inner.addWidget(self._label)
        self._attached = SentAttachments(theme)
        self._attached.opened.connect(self.attachment_opened)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._edit, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._bubble)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 6)
        column.setSpacing(2)
        column.addWidget(self._attached)
        column.addLayout(row)
        self.show_turn(turn)

    def show_turn(self, turn: Turn) -> None:
        """Show the question; of a very long one the beginning."""
        # One that is not stored yet has nothing before it to be copied.
        self._edit.setVisible(bool(turn.message.message_id))
        self._attached.show_attachments(turn.message.attachments)
        text = turn.message.text
        hidden = len(text) - _LONGEST_QUESTION_CHARS
        if hidden > 0:
            text = f"{text[:_LONGEST_QUESTION_CHARS]}… ({hidden:,} more characters)"
        self._label.setText(text)
        self._label.setAccessibleName(f"You asked: {text}")
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Narrower than the label is now: else the column would never get narrower again."""
        return QSize(_LEAST_PX + _BESIDE_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As wide as its text, but not wider than most of the column."""
        self._label.ensurePolished()
        metrics = self._label.fontMetrics()
        lines = self._label.text().splitlines() or [""]
        natural = max(metrics.horizontalAdvance(line) for line in lines) + 4
        room = min(int(self.width() * _BUBBLE_SHARE), self.width() - _BESIDE_PX)
        self._label.setFixedWidth(min(natural, max(_LEAST_PX, room)))
