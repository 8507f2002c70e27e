"""Shows, deletes and restores remembered answers through the bridge. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Feedback, Interaction, Message, PastAnswer
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.days import moment_in_words
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.forms import open_once
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import scrolling

_WIDTH_PX = 600
_HEIGHT_PX = 440
_MAX_QUESTION_CHARS = 300
_MAX_ANSWER_CHARS = 280
_NOTE = tr(
    "They show the model the style of answer you like. Facts come only from the sources, and"
    " answers you rated as bad are never used. You can turn this off in Settings, under Privacy."
)


class PastAnswerCard(Card):
    """An earlier question with its answer; a deleted answer leaves only the question.

    `delete_requested` and `restore_requested` carry its Interaction.
    """

    delete_requested = Signal(object)
    restore_requested = Signal(object)

    def __init__(self, past: PastAnswer, interaction: Interaction | None) -> None:
        super().__init__()
        self._interaction = interaction
        question = PlainLabel(_start(past.question, _MAX_QUESTION_CHARS), wrap=True)
        question.setObjectName("rememberedQuestion")
        answer = _start(interaction.answer, _MAX_ANSWER_CHARS) if interaction else ""
        self._answer = PlainLabel(answer, tone="muted", wrap=True, selectable=True)
        self._about = PlainLabel(tone="muted", scale="small", wrap=True)
        self._delete = TextButton(tr("Delete"), kind="quiet", then=self._on_delete_clicked)
        self._delete.setAccessibleDescription(past.question)
        self._undo = TextButton(tr("Undo"), kind="quiet", then=self._on_undo_clicked)
        self._undo.setAccessibleDescription(past.question)
        vertical(
            question,
            self._answer,
            horizontal((self._about, 1), self._delete, self._undo),
            on=self,
            margins=(14, 10, 8, 6),
            spacing=4,
        )
        self._show(is_deleted=interaction is None)

    def _show(self, *, is_deleted: bool) -> None:
        known = self._interaction
        self._about.setText(tr("Deleted") if is_deleted or not known else _about(known))
        self._answer.setVisible(not is_deleted)
        self._delete.setVisible(not is_deleted)
        self._undo.setVisible(is_deleted and known is not None)

    @Slot()
    def _on_delete_clicked(self) -> None:
        self._show(is_deleted=True)
        self._undo.setFocus(Qt.FocusReason.OtherFocusReason)
        self.delete_requested.emit(self._interaction)

    @Slot()
    def _on_undo_clicked(self) -> None:
        self._show(is_deleted=False)
        self._delete.setFocus(Qt.FocusReason.OtherFocusReason)
        self.restore_requested.emit(self._interaction)


class PastAnswersDialog(QDialog):
    """The earlier answers that were examples for an answer.

    All signals carry an Interaction; `remembered` are the answers not deleted yet.
    """

    delete_requested = Signal(object)
    restore_requested = Signal(object)

    def __init__(
        self, shown: Sequence[PastAnswer], remembered: Sequence[Interaction], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("rememberedDialog")
        self.setWindowTitle(tr("Earlier answers"))
        known = {interaction.interaction_id: interaction for interaction in remembered}
        cards = QWidget()
        cards.setProperty("kind", "page")
        rows = vertical(on=cards, margins=0, spacing=8)
        for past in shown:
            card = PastAnswerCard(past, known.get(past.interaction_id))
            card.delete_requested.connect(self.delete_requested)
            card.restore_requested.connect(self.restore_requested)
            rows.addWidget(card)
        rows.addStretch(1)
        close = TextButton(tr("Close"), then=self.accept)
        vertical(
            PlainLabel(tr("Earlier answers used as examples"), scale="heading"),
            (scrolling(cards, self.windowTitle()), 1),
            note(_NOTE),
            horizontal(Stretch(), close),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self.resize(_WIDTH_PX, _HEIGHT_PX)


def _start(text: str, max_chars: int) -> str:
    """The beginning of an untrusted text, on one line."""
    line = one_line(" ".join(text[: 2 * max_chars].split()))
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def _about(interaction: Interaction) -> str:
    parts = [moment_in_words(interaction.ended_at), one_line(interaction.model)]
    if interaction.feedback is Feedback.LIKED:
        parts.append(tr("rated good"))
    return " · ".join(part for part in parts if part)


class MemoryActions(QObject):
    """Opens dialogs over `parent`."""

    def __init__(self, bridge: Bridge, chat: Chat, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._memory = chat.memory
        self._window = parent

    def show_past_answers(self, message: Message) -> None:
        """Show the earlier answers that were examples for this one."""
        ids = [past.interaction_id for past in message.remembered]

        def open_dialog(known: list[Interaction]) -> None:
            dialog = PastAnswersDialog(message.remembered, known, self._window)
            dialog.delete_requested.connect(self._forget)
            dialog.restore_requested.connect(self._restore)
            open_once(dialog)

        self._bridge.run(self, lambda: self._memory.recall(ids), open_dialog)

    def _forget(self, interaction: Interaction) -> None:
        self._bridge.run(self, lambda: self._memory.forget(interaction.interaction_id))

    def _restore(self, interaction: Interaction) -> None:
        self._bridge.run(self, lambda: self._memory.put_back(interaction))
