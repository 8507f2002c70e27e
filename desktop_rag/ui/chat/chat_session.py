"""One open conversation: its messages and the answer that is on its way. Qt thread.

It goes on while another conversation is looked at. Every call on the chat goes through the
bridge.
"""

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    Conversation,
    Feedback,
    Message,
    MessageState,
    QuestionStored,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import Question
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.messages.message_model import MessageModel

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_MakeEvents = Callable[[threading.Event], Iterable[AnswerEvent]]


class ChatSession(QObject):
    """Asks, stops and retries in one conversation, which is new until the first question.

    `replaced` carries an answer that was whole and the one that has taken its place. `is_reading`
    says whether something attached to it is being read; whoever reads it sets it.
    """

    conversation_known = Signal(object)
    busy_changed = Signal(bool)
    answered = Signal()
    replaced = Signal(object, object)

    def __init__(
        self,
        bridge: Bridge,
        chat: "Chat",
        conversation: Conversation | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._conversation = conversation
        self._job: Job | None = None
        self._later: Job | None = None
        self._checked_id = ""
        self._former: Message | None = None
        self._is_question_stored = conversation is not None
        self._question = Question("")
        if conversation:
            self._question = Question("", conversation.collection_id, conversation.assistant_id)
        self.model = MessageModel(self)
        self.is_reading = False

    @property
    def conversation_id(self) -> str:
        """Empty while nothing has been asked."""
        return self._conversation.conversation_id if self._conversation else ""

    @property
    def conversation(self) -> Conversation | None:
        """None while nothing has been asked."""
        return self._conversation

    @property
    def collection_id(self) -> str:
        """What was last asked; empty for all documents."""
        return self._question.collection_id

    @property
    def assistant_id(self) -> str:
        """Who was last asked; empty for no assistant."""
        return self._question.assistant_id

    @property
    def is_checking(self) -> bool:
        """Whether more is being found out about its last answer."""
        return self._later is not None

    @property
    def is_busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._job is not None

    def rename(self, conversation: Conversation) -> None:
        """Take over what the list knows of this conversation."""
        self._conversation = conversation

    def load(self) -> None:
        """Fetch the stored messages."""
        self._drop_later()
        if conversation_id := self.conversation_id:
            self._bridge.run(
                self, lambda: self._chat.history.messages(conversation_id), self._on_loaded
            )

    def ask(self, question: Question) -> None:
        """Send a question; its answer streams into the model."""
        self._question = question
        self._is_question_stored = False
        self.model.begin_question(question.text, question.attachments)
        self._send_question()

    def retry(self, *, every_file: bool = False) -> None:
        """Answer the last question again, or from every file by itself.

        One that was never stored is asked anew.
        """
        if self.is_busy:
            return
        last = self.model.turn(-1).message
        self._former = last if last.text and last.state is MessageState.DONE else None
        self.model.begin_retry()
        if not self._is_question_stored:
            self._send_question()
            return
        conversation_id = self.conversation_id
        self._start(
            lambda cancel: self._chat.retry(conversation_id, every_file=every_file, cancel=cancel)
        )

    def give_feedback(self, message: Message, feedback: Feedback) -> None:
        """Note what the person thinks of an answer."""
        message_id = message.message_id
        self._bridge.run(
            self,
            lambda: self._chat.history.set_feedback(message_id, feedback),
            lambda _nothing: self.model.set_feedback(message_id, feedback),
        )

    def leave(self) -> None:
        """End everything: the conversation is deleted."""
        self.stop()
        self._drop_later()

    def stop(self) -> None:
        """End the answer early; what has arrived of it is kept."""
        if self._job:
            self._job.stop()

    def _send_question(self) -> None:
        conversation_id, question = self.conversation_id, self._question
        self._start(
            lambda cancel: self._chat.ask(
                question.text,
                conversation_id=conversation_id,
                collection_id=question.collection_id,
                assistant_id=question.assistant_id,
                attachments=question.attachments,
                cancel=cancel,
            )
        )

    def _on_loaded(self, messages: list[Message]) -> None:
        self.model.load(messages)
        if messages and not self.is_busy:
            # The app may have been closed before the last answer was checked.
            self._go_on(messages[-1], asks_model=False)

    def _go_on(self, answer: Message, *, asks_model: bool = True) -> None:
        """Let more be found about an answer, until there is another one."""
        self._drop_later()
        self._checked_id = answer.message_id
        self._later = self._bridge.stream(
            self,
            lambda cancel: self._chat.go_on(answer, asks_model=asks_model, cancel=cancel),
            self._on_changed,
            self._end_later,
            # Nobody asked for it: what went wrong is in the log.
            failed=lambda _error: self._end_later(),
        )
        self.model.show_checking(self._checked_id, is_checking=True)

    def _on_changed(self, event: AnswerChanged) -> None:
        self.model.change(event.message)

    def _drop_later(self) -> None:
        if self._later:
            self._later.cancel()
            self._end_later()

    def _end_later(self) -> None:
        self._later = None
        self.model.show_checking(self._checked_id, is_checking=False)

    def _start(self, make_events: _MakeEvents) -> None:
        # AnswerDone ends it, not the end of the stream a moment later: what the person does in
        # between, say a click on Retry, must count.
        self._job = self._bridge.stream(self, make_events, self._on_event, failed=self._on_failed)
        self.busy_changed.emit(True)

    def _on_event(self, event: AnswerEvent) -> None:
        self.model.apply(event)
        if isinstance(event, QuestionStored):
            self._is_question_stored = True
            self._conversation = event.conversation
            self.conversation_known.emit(event.conversation)
        elif isinstance(event, AnswerDone):
            former, self._former = self._former, None
            self._end()
            self._go_on(event.message)
            if former:
                self.replaced.emit(former, event.message)

    def _on_failed(self, error: AppError) -> None:
        self.model.fail(error)
        self._end()

    def _end(self) -> None:
        self._job = None
        self.busy_changed.emit(False)
        self.answered.emit()
