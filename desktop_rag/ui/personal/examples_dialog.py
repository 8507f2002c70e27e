"""Shows which earlier answers were examples for one, and forgets them on request. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop_rag.core.conversation import Feedback, PastAnswer
from desktop_rag.core.interaction import Interaction
from desktop_rag.ui.foundation.wording import moment_in_words, one_line
from desktop_rag.ui.settings.settings_fields import note
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton

_WIDTH_PX = 600
_HEIGHT_PX = 440
_MOST_QUESTION_CHARS = 300
_MOST_ANSWER_CHARS = 280
_NOTE = (
    "They showed the model which form of answer you like. Facts come from the sources alone. What"
    " you dislike is never shown. Settings, Answers switches this off."
)


class RememberedCard(Card):
    """An earlier answer, or what is left of it: the question it answered.

    `forgotten` and `put_back` carry its Interaction.
    """

    forgotten = Signal(object)
    put_back = Signal(object)

    def __init__(
        self, past: PastAnswer, interaction: Interaction | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._interaction = interaction
        question = PlainLabel(_start(past.question, _MOST_QUESTION_CHARS), wrap=True)
        question.setObjectName("rememberedQuestion")
        answer = _start(interaction.answer, _MOST_ANSWER_CHARS) if interaction else ""
        self._answer = PlainLabel(answer, tone="muted", wrap=True, selectable=True)
        self._about = PlainLabel(tone="muted", scale="small", wrap=True)
        self._forget = TextButton("Forget", kind="quiet")
        self._forget.setAccessibleDescription(past.question)
        self._undo = TextButton("Undo", kind="quiet")
        self._undo.setAccessibleDescription(past.question)
        below = QHBoxLayout()
        below.addWidget(self._about, 1)
        below.addWidget(self._forget)
        below.addWidget(self._undo)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 8, 6)
        column.setSpacing(4)
        column.addWidget(question)
        column.addWidget(self._answer)
        column.addLayout(below)
        self._forget.clicked.connect(self._on_forget_clicked)
        self._undo.clicked.connect(self._on_undo_clicked)
        self._show(is_forgotten=interaction is None)

    def _show(self, *, is_forgotten: bool) -> None:
        known = self._interaction
        self._about.setText("Forgotten" if is_forgotten or not known else _about(known))
        self._answer.setVisible(not is_forgotten)
        self._forget.setVisible(not is_forgotten)
        self._undo.setVisible(is_forgotten and known is not None)

    @Slot()
    def _on_forget_clicked(self) -> None:
        self._show(is_forgotten=True)
        self._undo.setFocus(Qt.FocusReason.OtherFocusReason)
        self.forgotten.emit(self._interaction)

    @Slot()
    def _on_undo_clicked(self) -> None:
        self._show(is_forgotten=False)
        self._forget.setFocus(Qt.FocusReason.OtherFocusReason)
        self.put_back.emit(self._interaction)


class RememberedDialog(QDialog):
    """`forgotten` and `put_back` carry an Interaction; `remembered` are those not forgotten yet."""

    forgotten = Signal(object)
    put_back = Signal(object)

    def __init__(
        self, shown: Sequence[PastAnswer], remembered: Sequence[Interaction], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("rememberedDialog")
        self.setWindowTitle("Remembered")
        known = {interaction.interaction_id: interaction for interaction in remembered}
        cards = QWidget()
        cards.setProperty("kind", "page")
        rows = QVBoxLayout(cards)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(8)
        for past in shown:
            card = RememberedCard(past, known.get(past.interaction_id))
            card.forgotten.connect(self.forgotten)
            card.put_back.connect(self.put_back)
            rows.addWidget(card)
        rows.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(cards)
        close = TextButton("Close")
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(PlainLabel("Earlier answers as examples", scale="heading"))
        column.addWidget(scroll, 1)
        column.addWidget(note(_NOTE))
        column.addLayout(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)


def _start(text: str, most: int) -> str:
    """Foreign text on one line, of which the beginning is enough."""
    line = one_line(" ".join(text[: 2 * most].split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _about(interaction: Interaction) -> str:
    parts = [moment_in_words(interaction.ended_at), one_line(interaction.model)]
    if interaction.feedback is Feedback.LIKED:
        parts.append("liked by you")
    return " · ".join(part for part in parts if part)
