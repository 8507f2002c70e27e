"""The widget of a question, and the button that asks a suggested one. Qt thread."""

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QResizeEvent, QTextLayout
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.question_scope import ALL_DOCUMENTS
from desktop_rag.ui.composer.attachment_strip import SentAttachments
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import found_spans
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.message_model import MessageActions, Turn
from desktop_rag.ui.widgets.controls import Card, ElidedButton, ElidedLabel, IconButton, PlainLabel
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.marked_text import MarkedText


class QuestionButton(ElidedButton):
    """Shows a question on two lines at most, as wide as its column."""

    def __init__(self, question: str, kind: str) -> None:
        """`kind` is `example` or `followUp`."""
        super().__init__(question, kind)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def question(self) -> str:
        """The full question."""
        return self.full_text

    def _fitted(self, room_px: int) -> str:
        layout = QTextLayout(self.full_text, self.font())
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(room_px)
        length = line.textLength()
        layout.endLayout()
        first, rest = self.full_text[:length].rstrip(), self.full_text[length:]
        if not rest or " " not in self.full_text[:length]:
            return super()._fitted(room_px)
        elided = self.fontMetrics().elidedText(rest, Qt.TextElideMode.ElideRight, room_px)
        return f"{first}\n{elided}"


_MAX_QUESTION_CHARS = 4_000
_BUBBLE_SHARE = 0.85
_MIN_PX = 120
# The bubble's margins and the buttons beside it.
_AROUND_PX = 104


class QuestionItem(QWidget):
    """Shows the question of a `Turn` in a bubble on the right, with its attachments above it."""

    def __init__(self, theme: Theme, turn: Turn, asked: MessageActions) -> None:
        super().__init__()
        self._message = turn.message
        self._edit = IconButton(
            theme,
            "pencil:muted",
            tr("Edit question"),
            then=lambda: asked.edit_requested.emit(self._message),
        )
        self._teach = IconButton(
            theme,
            "plus:muted",
            tr("Teach this to a topic"),
            then=lambda: asked.teach_requested.emit(self._message.text, self._teach),
        )
        self._bubble = Card(kind="bubble")
        self._label = PlainLabel(wrap=True, selectable=True)
        inner = vertical(self._label, on=self._bubble, margins=(14, 9, 14, 9))
        self._theme = theme
        self._inner = inner
        # Replaces the label, which can't mark words; built on demand.
        self._marked: MarkedText | None = None
        self._attached = SentAttachments(theme)
        self._attached.opened.connect(asked.attachment_opened)
        self._scope = ElidedLabel(tone="muted", scale="small")
        self._scope.setAlignment(Qt.AlignmentFlag.AlignTrailing)
        self._scope.hide()
        row = horizontal(
            Stretch(),
            (self._teach, 0, Qt.AlignmentFlag.AlignVCenter),
            (self._edit, 0, Qt.AlignmentFlag.AlignVCenter),
            self._bubble,
        )
        vertical(self._attached, self._scope, row, on=self, margins=(0, 10, 0, 6), spacing=2)
        self.show_turn(turn)

    def mark_words(self, words: str, current: int) -> None:
        """Mark words in the question; `current` is the index of the current hit, or -1."""
        spans = found_spans(self._label.text(), words)
        if spans and self._marked is None:
            self._marked = MarkedText(self._theme, tr("Question with marked words"), role="text")
            self._inner.addWidget(self._marked)
        if self._marked is not None:
            self._marked.show_marked(self._label.text(), spans, current)
            self._marked.setVisible(bool(spans))
            self._label.setVisible(not spans)
        self._fit()

    def found_place(self) -> QPoint:
        """The position of the question in this widget."""
        return self._bubble.pos()

    def show_turn(self, turn: Turn) -> None:
        """Show the question; only the beginning of a very long one."""
        # Editing forks the conversation, which works for stored questions only.
        self._message = message = turn.message
        self._edit.setVisible(bool(message.message_id))
        self._teach.setVisible(turn.can_teach)
        self._attached.show_attachments(message.attachments)
        scope = message.scope
        self._scope.set_full_text(one_line(scope.in_words()))
        self._scope.setVisible(scope != ALL_DOCUMENTS)
        text = message.text
        hidden = len(text) - _MAX_QUESTION_CHARS
        if hidden > 0:
            text = tr(
                "{value}… ({hidden:,} more characters)",
                value=text[:_MAX_QUESTION_CHARS],
                hidden=hidden,
            )
        self._label.setText(text)
        self._label.setAccessibleName(tr("You asked: {text}", text=text))
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Narrower than the label's current width, so that the column can shrink again."""
        return QSize(_MIN_PX + _AROUND_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._label.ensurePolished()
        metrics = self._label.fontMetrics()
        lines = self._label.text().splitlines() or [""]
        natural = max(metrics.horizontalAdvance(line) for line in lines) + 4
        room = min(int(self.width() * _BUBBLE_SHARE), self.width() - _AROUND_PX)
        self._label.setFixedWidth(min(natural, max(_MIN_PX, room)))
        if self._marked is not None:
            self._marked.setFixedWidth(self._label.width())
