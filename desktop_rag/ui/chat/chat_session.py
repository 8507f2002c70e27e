"""One open conversation: its messages and the answer being written. Qt thread.

It keeps working while another conversation is shown.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    ChatTitled,
    Conversation,
    Feedback,
    Message,
    MessageState,
    ModelCheckOffered,
    QuestionStored,
    Role,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import Question
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.messages.message_model import MessageModel, is_of_empty_library

_MakeEvents = Callable[[threading.Event], Iterable[AnswerEvent]]


class ChatSession(QObject):
    """Asks, stops and retries in one conversation, which is stored with its first question.

    `replaced` carries a complete answer and its replacement. The reader of attachments sets
    `is_reading` while it reads one.
    """

    conversation_stored = Signal(object)
    busy_changed = Signal(bool)
    answered = Signal()
    titled = Signal()
    scope_loaded = Signal()
    replaced = Signal(object, object)

    def __init__(
        self,
        bridge: Bridge,
        chat: Chat,
        conversation: Conversation | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self.conversation = conversation
        self._job: Job | None = None
        self._post_answer_job: Job | None = None
        self._checked_id = ""
        self._previous: Message | None = None
        self._is_question_stored = conversation is not None
        self._question = Question("")
        # None until the messages of a stored conversation are there.
        self._scope = ALL_DOCUMENTS if conversation is None else None
        if conversation:
            self._question = Question("", conversation.collection_id, conversation.assistant_id)
        self.model = MessageModel(self)
        self.is_reading = False
        # Nothing was found for the last question, and files were still unread.
        self.is_too_early = False
        # As the last question was asked, unless the person changed it.
        self.is_without_model = False

    @property
    def conversation_id(self) -> str:
        """The id; "" before the first question."""
        return self.conversation.conversation_id if self.conversation else ""

    @property
    def collection_id(self) -> str:
        """The collection of the last question; "" for all documents."""
        return self._question.collection_id

    @property
    def scope(self) -> QuestionScope:
        """What the next question is about: as the last one, unless the person changed it."""
        return self._scope if self._scope is not None else ALL_DOCUMENTS

    @scope.setter
    def scope(self, scope: QuestionScope) -> None:
        self._scope = scope

    @property
    def assistant_id(self) -> str:
        """The assistant of the last question; "" for none."""
        return self._question.assistant_id

    @property
    def is_checking(self) -> bool:
        """True while the last answer is being checked."""
        return self._post_answer_job is not None

    @property
    def is_busy(self) -> bool:
        """True while an answer is being written."""
        return self._job is not None

    @property
    def waits_for_documents(self) -> bool:
        """True when the last question was asked of an empty library, or too early."""
        if self.is_busy or not self.model.rows:
            return False
        last = self.model.turn(-1).message
        is_of_none = last.role is Role.ASSISTANT and is_of_empty_library(last)
        return self.is_too_early or is_of_none

    def load(self) -> None:
        """Load the stored messages."""
        self._cancel_post_answer()
        if conversation_id := self.conversation_id:
            self._bridge.run(
                self, lambda: self._chat.history.messages(conversation_id), self._on_loaded
            )

    def ask(self, question: Question) -> None:
        """Ask a question; the answer streams into the model."""
        scope = replace(question.scope, is_without_model=self.is_without_model)
        self._question = replace(question, scope=scope)
        self._is_question_stored = False
        self._scope = question.scope
        self.model.begin_question(question.text, question.attachments, question.scope)
        self._send_question()

    def retry(self, *, every_file: bool = False, as_excerpts: bool = False) -> None:
        """Answer the last question again; from each file separately with `every_file`, or without a
        model this once.

        An answer from every file is added below the other one, and replaces itself later. A
        question that was never stored is sent again.
        """
        if self.is_busy:
            return
        last = self.model.turn(-1).message
        is_below = every_file and last.role is Role.ASSISTANT and not last.is_of_every_file
        every_file = every_file or last.is_of_every_file
        is_whole = bool(last.text) and last.state is MessageState.DONE
        is_whole = is_whole and not self.waits_for_documents
        self._previous = last if is_whole and not is_below else None
        self.model.begin_retry(below=is_below)
        if not self._is_question_stored:
            self._send_question()
            return
        conversation_id = self.conversation_id
        self._start(
            lambda cancel: self._chat.retry(
                conversation_id,
                every_file=every_file,
                as_excerpts=as_excerpts or self.is_without_model,
                may_change=True,
                cancel=cancel,
            )
        )

    def give_feedback(self, message: Message, feedback: Feedback) -> None:
        """Store the person's rating of an answer."""
        message_id = message.message_id
        self._bridge.run(
            self,
            lambda: self._chat.history.set_feedback(message_id, feedback),
            lambda _nothing: self.model.set_feedback(message_id, feedback),
        )

    def leave(self) -> None:
        """Stop all work, because the conversation is deleted."""
        self.stop()
        self._cancel_post_answer()

    def stop(self) -> None:
        """Stop the answer; the part received so far is kept."""
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
                scope=question.scope,
                may_change=True,
                cancel=cancel,
            )
        )

    def show_messages(self, messages: Sequence[Message]) -> None:
        """Show the loaded messages of the conversation."""
        self.model.load(messages)
        if self._scope is None:
            asked = [message.scope for message in messages if message.role is Role.USER]
            last = asked[-1] if asked else ALL_DOCUMENTS
            self.is_without_model = last.is_without_model
            self._scope = replace(last, is_without_model=False)
            self.scope_loaded.emit()

    def _on_loaded(self, messages: list[Message]) -> None:
        self.show_messages(messages)
        if messages and not self.is_busy:
            # The app may have been closed before the last answer was checked.
            self._start_post_answer(messages[-1], asks_model=False)

    def answer_offer(self, offer: ModelCheckOffered, *, is_taken: bool) -> None:
        """End the offer of a model to check an answer; have it check the answer if it is taken."""
        self.model.show_offer(offer.answer.message_id, None)
        if is_taken:
            self._start_post_answer(offer.answer, may_judge=True)

    def _start_post_answer(
        self, answer: Message, *, asks_model: bool = True, may_judge: bool = False
    ) -> None:
        """Check an answer and suggest questions in the background, until the next answer."""
        self._cancel_post_answer()
        self._checked_id = answer.message_id
        self._post_answer_job = self._bridge.stream(
            self,
            lambda cancel: self._chat.go_on(
                answer, asks_model=asks_model, may_judge=may_judge, cancel=cancel
            ),
            self._on_changed,
            self._end_post_answer,
            # The person did not ask for this work, so errors only go to the log.
            failed=lambda _error: self._end_post_answer(),
        )
        self.model.show_checking(self._checked_id, is_checking=True)

    def _on_changed(self, event: AnswerChanged | ChatTitled | ModelCheckOffered) -> None:
        match event:
            case ChatTitled():
                self.conversation = event.conversation
                self.titled.emit()
            case ModelCheckOffered():
                self.model.show_offer(event.answer.message_id, event)
            case AnswerChanged():
                self.model.change(event.message)

    def _cancel_post_answer(self) -> None:
        if self._post_answer_job:
            self._post_answer_job.cancel()
            self._end_post_answer()

    def _end_post_answer(self) -> None:
        self._post_answer_job = None
        self.model.show_checking(self._checked_id, is_checking=False)

    def _start(self, make_events: _MakeEvents) -> None:
        self.is_too_early = False
        # AnswerDone ends it, not the end of the stream a moment later: Retry must work in between.
        self._job = self._bridge.stream(self, make_events, self._on_event, failed=self._on_failed)
        self.busy_changed.emit(True)

    def _on_event(self, event: AnswerEvent) -> None:
        self.model.apply(event)
        if isinstance(event, QuestionStored):
            self._is_question_stored = True
            self.conversation = event.conversation
            self.conversation_stored.emit(event.conversation)
        elif isinstance(event, AnswerDone):
            previous, self._previous = self._previous, None
            self._end()
            self._start_post_answer(event.message)
            if previous:
                self.replaced.emit(previous, event.message)

    def _on_failed(self, error: AppError) -> None:
        self.model.fail(error)
        self._end()

    def _end(self) -> None:
        self._job = None
        self.busy_changed.emit(False)
        self.answered.emit()
