"""The messages of a conversation, including the answer being written. Qt thread."""

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop_rag.core.conversation import (
    AnswerDone,
    AnswerEvent,
    AnswerRestated,
    AnswerWaits,
    Attachment,
    Feedback,
    FileAsked,
    Message,
    MessageState,
    ModelCheckOffered,
    QuestionStored,
    Role,
    SearchNotes,
    SourceRef,
    SourcesFound,
    StepTaken,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope

_Value = str | bool | MessageState | tuple[SourceRef, ...] | SearchNotes | None


class Phase(StrEnum):
    """The phase of an answer; a finished message is `DONE`, however it ended."""

    SEARCHING = "searching"
    READING = "reading"
    THINKING = "thinking"
    WRITING = "writing"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Turn:
    """One row: a message and its phase.

    `progress` describes the current work in more detail than the phase. `is_checking` is True while
    a finished answer is being checked, `can_teach` if a question can become an example of the
    assistant's rails. `offer` is that of a remote model to check the answer.
    """

    message: Message
    phase: Phase = Phase.DONE
    progress: str = ""
    is_checking: bool = False
    can_teach: bool = False
    offer: ModelCheckOffered | None = None

    @property
    def is_live(self) -> bool:
        """True until the answer is finished."""
        return self.phase is not Phase.DONE


def is_of_empty_library(message: Message) -> bool:
    """True for the answer that there are no documents yet, for which no files were counted."""
    is_of_others = message.sources or message.nearest or message.model or message.error_title
    notes = message.notes
    is_counted = notes is None or notes.files or notes.rails or notes.scope
    return not (is_of_others or is_counted)


class MessageActions(QObject):
    """What a person does with messages; all messages of a view share one.

    The first value is the Message that is meant, except where something else is named.
    """

    # With the SourceRef, without one the message.
    citation_clicked = Signal(object, object)
    address_clicked = Signal(str)
    # True for excerpts instead of an answer.
    retry_requested = Signal(bool)
    every_file_requested = Signal()
    settings_requested = Signal()
    folder_requested = Signal()
    writing_requested = Signal()
    sources_requested = Signal(object)
    edit_requested = Signal(object)
    # The whole question, and the pressed button.
    teach_requested = Signal(str, QWidget)
    attachment_opened = Signal(object)
    fork_requested = Signal(object)
    rewrite_requested = Signal(object)
    removal_requested = Signal(object)
    offered_requested = Signal(object)
    past_answers_requested = Signal(object)
    sent_requested = Signal(object)
    feedback_given = Signal(object, object)
    follow_up_chosen = Signal(str)
    query_change_requested = Signal(str)
    # A SourceRef to show in its document.
    view_requested = Signal(object)
    # The ClaimPanel that wants a passage, and one that opened.
    verification_requested = Signal(object)
    claim_shown = Signal(QWidget)
    # A ModelCheckOffered.
    offer_pressed = Signal(object)


class MessageModel(QObject):
    """Turns, oldest first. It assembles the current answer from its events.

    `loaded` follows a new conversation; `added` and `changed` carry the first and the last row.
    """

    loaded = Signal()
    added = Signal(int, int)
    changed = Signal(int, int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turns: list[Turn] = []
        self._can_teach = False

    @property
    def rows(self) -> int:
        """The number of turns."""
        return len(self._turns)

    def turn(self, row: int) -> Turn:
        """The turn at `row`; negative rows count from the end."""
        turn = self._turns[row]
        if self._can_teach and turn.message.role is Role.USER:
            return dataclasses.replace(turn, can_teach=True)
        return turn

    def offer_teaching(self, *, is_offered: bool) -> None:
        """Set whether questions can become examples of the assistant's rails."""
        if is_offered == self._can_teach:
            return
        self._can_teach = is_offered
        if self._turns:
            self.changed.emit(0, self.rows - 1)

    def load(self, messages: Sequence[Message]) -> None:
        """Show the messages of a stored conversation."""
        self._turns = [Turn(message) for message in messages]
        self.loaded.emit()

    def begin_question(
        self,
        text: str,
        attachments: tuple[Attachment, ...] = (),
        scope: QuestionScope = ALL_DOCUMENTS,
    ) -> None:
        """Add the question and an answer in the searching phase."""
        question = dataclasses.replace(
            _new_message(Role.USER, text), attachments=attachments, scope=scope
        )
        self._append(Turn(question))
        self._append(self._begun(scope))

    def begin_retry(self, *, below: bool = False) -> None:
        """Replace the last answer with one in the searching phase, or add one `below` it."""
        asked = [turn.message for turn in self._turns if turn.message.role is Role.USER]
        begun = self._begun(asked[-1].scope if asked else ALL_DOCUMENTS)
        if not below and self._turns and self._turns[-1].message.role is Role.ASSISTANT:
            self._replace(-1, begun)
        else:
            self._append(begun)

    @staticmethod
    def _begun(scope: QuestionScope) -> Turn:
        """A new answer; without documents there is nothing to search."""
        answer = _new_message(Role.ASSISTANT)
        if scope.is_without_documents:
            return Turn(dataclasses.replace(answer, scope=scope), Phase.THINKING)
        return Turn(answer, Phase.SEARCHING)

    def apply(self, event: AnswerEvent) -> None:
        """Apply an event of the answer being written."""
        match event:
            case QuestionStored(message=message):
                self._replace(-2, Turn(message))
            case FileAsked():
                progress = tr(
                    "Reading file {value:,} of {total:,}", value=event.done + 1, total=event.total
                )
                progress += tr(
                    " ({found:,} relevant so far): {title}", found=event.found, title=event.title
                )
                self._replace(-1, Turn(self._live, Phase.READING, progress))
            case SourcesFound(sources=sources, notes=notes, is_own_knowledge=is_own):
                self._update(Phase.READING, sources=sources, notes=notes, is_own_knowledge=is_own)
            case StepTaken(step=step, sources=sources, notes=notes):
                self._update(Phase.READING, sources=sources, notes=notes)
                self._replace(-1, Turn(self._live, Phase.READING, step.said))
            case AnswerWaits(reason=reason):
                self._replace(-1, Turn(self._live, Phase.READING, told(reason)))
            case ThinkingDelta(text=text):
                self._update(Phase.THINKING, thinking=self._live.thinking + text)
            case TextDelta(text=text):
                self._update(Phase.WRITING, text=self._live.text + text)
            case AnswerRestated(text=text, thinking=thinking):
                phase = Phase.WRITING if text else Phase.THINKING
                self._update(phase, text=text, thinking=thinking)
            case AnswerDone(message=message):
                self._replace(-1, Turn(message))
            case _:
                assert_never(event)

    def set_feedback(self, message_id: str, feedback: Feedback) -> None:
        """Show the person's rating of an answer."""
        for row, turn in self._rows_of(message_id):
            fresh = dataclasses.replace(turn.message, feedback=feedback)
            self._replace(row, dataclasses.replace(turn, message=fresh))

    def change(self, message: Message) -> None:
        """Show a newer version of an answer, if it is in the model."""
        for row, turn in self._rows_of(message.message_id):
            # The person may have rated or rewritten it in the meantime.
            kept = {
                name: getattr(turn.message, name)
                for name in ("feedback", "is_rewritten", "is_unstored")
            }
            fresh = dataclasses.replace(message, **kept)
            self._replace(row, dataclasses.replace(turn, message=fresh))

    def show_stored(self, message_ids: frozenset[str]) -> None:
        """Show that messages that waited for disk space are stored."""
        for row, turn in self._rows_of(*message_ids):
            fresh = dataclasses.replace(turn.message, is_unstored=False)
            self._replace(row, dataclasses.replace(turn, message=fresh))

    def show_checking(self, message_id: str, *, is_checking: bool) -> None:
        """Set whether an answer is being checked."""
        for row, turn in self._rows_of(message_id):
            if turn.is_checking != is_checking:
                self._replace(row, dataclasses.replace(turn, is_checking=is_checking))

    def show_offer(self, message_id: str, offer: ModelCheckOffered | None) -> None:
        """Show the offer of a model to check an answer, or none."""
        for row, turn in self._rows_of(message_id):
            self._replace(row, dataclasses.replace(turn, offer=offer))

    def fail(self, error: AppError) -> None:
        """End the answer being written with an error; the text received so far is kept."""
        self._update(
            Phase.DONE, state=MessageState.FAILED, error_title=error.title, error_hint=error.hint
        )

    @property
    def _live(self) -> Message:
        return self._turns[-1].message

    def _update(self, phase: Phase, **fields: _Value) -> None:
        self._replace(-1, Turn(dataclasses.replace(self._live, **fields), phase))  # pyright: ignore[reportArgumentType]

    def _rows_of(self, *message_ids: str) -> list[tuple[int, Turn]]:
        turns = enumerate(self._turns)
        return [(row, turn) for row, turn in turns if turn.message.message_id in message_ids]

    def _append(self, turn: Turn) -> None:
        self._turns.append(turn)
        self.added.emit(self.rows - 1, self.rows - 1)

    def _replace(self, row: int, turn: Turn) -> None:
        row %= len(self._turns)
        self._turns[row] = turn
        self.changed.emit(row, row)


def _new_message(role: Role, text: str = "") -> Message:
    return Message("", "", role, text, time.time())
