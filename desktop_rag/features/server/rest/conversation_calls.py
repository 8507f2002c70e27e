"""Conversations that are stored for a program, and opinions of their answers. Worker threads.

A token, and each user of another application, has its own; an admin token has all of these. The
person's own chats are out of reach.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation, Feedback, Message, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.question_scope import ALL_DOCUMENTS
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.asked import message_of
from desktop_rag.features.server.filters.standard_filters import inert_message
from desktop_rag.features.server.library_calls import LinkTo
from desktop_rag.features.server.operations import ADMIN, ASK, WRITE, Answered, Form, operation
from desktop_rag.features.server.readable_library import ReadableLibrary, need_every_collection
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.rest_fields import (
    DeletedAnswer,
    Id,
    Listed,
    Page,
    Question,
    page_of,
)
from desktop_rag.features.server.wire_sources import source_json

_OPINIONS = {"like": Feedback.LIKED, "dislike": Feedback.DISLIKED, "none": Feedback.NONE}
_NAMES = {feedback: name for name, feedback in _OPINIONS.items()}
_TITLE_CHARS = 60


class Opinion(Form):
    """An opinion of an answer: of a stored one by its id, or of any by its question and text.

    The latter is stored with it. `rewrite` is the answer as it should have been.
    """

    answer_id: Id | None = None
    question: Question | None = None
    answer: Annotated[str, Field(min_length=1, max_length=200_000)] | None = None
    opinion: Literal["like", "dislike", "none"]
    rewrite: Annotated[str, Field(min_length=1, max_length=200_000, pattern=r"\S")] | None = None


class FeedbackAnswer(Answered):
    """The answer that the opinion belongs to now."""

    answer_id: str
    opinion: str
    is_rewritten: bool


class MessageAnswer(Answered):
    """A question, or an answer with its sources."""

    id: str
    role: str
    text: str
    created_at: float
    state: str
    opinion: str
    sources: list[dict[str, Any]]
    follow_ups: list[str]


class ConversationAnswer(Answered):
    """A stored conversation without its messages."""

    id: str
    title: str
    updated_at: float


class ConversationList(Listed):
    """The conversations that are stored for the token."""

    conversations: list[ConversationAnswer]


class WholeConversation(ConversationAnswer):
    """A stored conversation."""

    messages: list[MessageAnswer]


class ConversationCalls:
    """Stores, lists, reads and deletes conversations of programs."""

    def __init__(self, chat: Chat, readable: ReadableLibrary, link: LinkTo) -> None:
        self._history = chat.history
        self._readable = readable
        self._link = link

    @operation("POST feedback", ASK)
    def give_feedback(self, caller: Caller, body: Opinion) -> FeedbackAnswer:
        """Like, dislike or rewrite an answer."""
        if body.rewrite is not None:
            caller.need(WRITE)
            # What a person wrote becomes a document that every question may find.
            need_every_collection(caller)
        answer = self._answer(caller, body)
        self._history.set_feedback(answer.message_id, _OPINIONS[body.opinion])
        if body.rewrite is not None:
            try:
                self._history.rewrite(answer, body.rewrite)
            except AppError as error:
                raise Refusal.of_error(error, 503) from error
        return FeedbackAnswer.of(
            body, answer_id=answer.message_id, is_rewritten=body.rewrite is not None
        )

    @operation("GET conversations", ASK)
    def list_conversations(self, caller: Caller, query: Page) -> ConversationList:
        """List the conversations that are stored for the token.

        The last changed come first.
        """
        found = self._own(caller)
        page, after = page_of(found, query)
        shown = [ConversationAnswer.of(each, id=each.conversation_id) for each in page]
        return ConversationList(conversations=shown, total=len(found), next_offset=after)

    @operation("GET conversations/{conversation_id}", ASK)
    def get_conversation(self, caller: Caller, conversation_id: Id) -> WholeConversation:
        """Read a stored conversation; `ask` continues it.

        It has the sources that the caller may read now.
        """
        conversation = self._find(caller, conversation_id)
        messages = self._history.messages(conversation_id)
        shown = [self._shown(caller, message) for message in messages]
        return WholeConversation.of(conversation, id=conversation_id, messages=shown)

    @operation("DELETE conversations/{conversation_id}", ASK)
    def delete_conversation(self, caller: Caller, conversation_id: Id) -> DeletedAnswer:
        """Delete a stored conversation.

        It is removed for good at the next start of the app.
        """
        self._find(caller, conversation_id)
        self._history.delete(conversation_id)
        return DeletedAnswer(deleted=[conversation_id])

    # --- while asking --------------------------------------------------------------------------

    def begun(self, caller: Caller, wanted: str, question: str) -> Conversation:
        """The conversation that a question belongs to: a "new" one, or a stored one by its id."""
        if wanted != "new":
            return self._find(caller, wanted)
        return self._history.programs.start(caller.keeper, _title(question))

    def messages(self, conversation_id: str) -> Sequence[Message]:
        """What was said in it."""
        return self._history.messages(conversation_id)

    def store(self, conversation: Conversation, *messages: Message) -> None:
        """Store messages at its end."""
        key = conversation.conversation_id
        for message in messages:
            self._history.programs.add(replace(message, conversation_id=key, scope=ALL_DOCUMENTS))

    def _answer(self, caller: Caller, opinion: Opinion) -> Message:
        """The answer that an opinion is of, stored if it is not yet."""
        stored = self._stored(caller, opinion.answer_id or "")
        if stored is not None:
            return stored
        if opinion.question is None or opinion.answer is None:
            said = "There is no such answer. One that is not stored needs its question and text."
            raise Refusal(404, said, param="answer_id", code="no_such_answer")
        conversation = self.begun(caller, "new", opinion.question)
        answer = replace(
            message_of(Role.ASSISTANT, opinion.answer), conversation_id=conversation.conversation_id
        )
        self.store(conversation, message_of(Role.USER, opinion.question), answer)
        return answer

    def _stored(self, caller: Caller, message_id: str) -> Message | None:
        conversation_id = self._history.programs.conversation_of(message_id)
        if conversation_id not in {c.conversation_id for c in self._own(caller)}:
            return None
        found = [m for m in self._history.messages(conversation_id) if m.message_id == message_id]
        return found[0] if found and found[0].role is Role.ASSISTANT else None

    def _own(self, caller: Caller) -> list[Conversation]:
        is_limited = caller.is_limited or caller.user
        sees_all = caller.token.allows(ADMIN) and not is_limited
        return self._history.programs.of("" if sees_all else caller.keeper)

    def _find(self, caller: Caller, conversation_id: str) -> Conversation:
        for conversation in self._own(caller):
            if conversation.conversation_id == conversation_id:
                return conversation
        raise Refusal(404, "There is no such conversation.", code="no_such_conversation")

    def _shown(self, caller: Caller, message: Message) -> MessageAnswer:
        if message.role is Role.ASSISTANT and not caller.token.passes_markup:
            message = inert_message(message)
        sources = [
            source_json(
                source,
                message.claims,
                lambda each: self._link(caller, each.document_id, each.start, each.end),
                sees_paths=caller.sees_paths,
            )
            for source in message.sources
            if self._may_read(caller, source.document_id)
        ]
        return MessageAnswer.of(
            message,
            id=message.message_id,
            role=message.role.value,
            state=message.state.value,
            opinion=_NAMES[message.feedback],
            sources=sources,
        )

    def _may_read(self, caller: Caller, document_id: str) -> bool:
        try:
            self._readable.document(caller, document_id)
        except Refusal:
            return False
        return True


def _title(question: str) -> str:
    words = " ".join(question.split())
    return words if len(words) <= _TITLE_CHARS else f"{words[: _TITLE_CHARS - 1]}…"
