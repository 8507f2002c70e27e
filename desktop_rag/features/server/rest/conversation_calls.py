"""Conversations that are stored for a program, and opinions of their answers. Worker threads.

A token, and each user of another application, has its own; an admin token has all of these. The
person's own chats are out of reach.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation, Feedback, Message, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.question_scope import ALL_DOCUMENTS
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.asked import message_of
from desktop_rag.features.server.filters.standard_filters import inert_message
from desktop_rag.features.server.library_calls import LinkTo
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.readable_library import ReadableLibrary, need_every_collection
from desktop_rag.features.server.rest.rest_forms import Opinion, Page
from desktop_rag.features.server.wire_sources import source_json

_OPINIONS = {"like": Feedback.LIKED, "dislike": Feedback.DISLIKED, "none": Feedback.NONE}
_NAMES = {feedback: name for name, feedback in _OPINIONS.items()}
_TITLE_CHARS = 60


class ConversationCalls:
    """Stores, lists, reads and deletes conversations of programs."""

    def __init__(self, chat: Chat, readable: ReadableLibrary, link: LinkTo) -> None:
        self._history = chat.history
        self._readable = readable
        self._link = link

    def all(self, caller: Caller, page: Page) -> dict[str, Any]:
        """A page of the conversations of the caller, the last changed first."""
        found = self._own(caller)
        shown = found[page.offset : page.offset + page.limit]
        end = page.offset + len(shown)
        return {
            "conversations": [_json(conversation) for conversation in shown],
            "total": len(found),
            "next_offset": end if shown and end < len(found) else None,
        }

    def one(self, caller: Caller, conversation_id: str) -> dict[str, Any]:
        """A conversation with its messages, and the sources that the caller may read now."""
        conversation = self._find(caller, conversation_id)
        messages = self._history.messages(conversation_id)
        return _json(conversation) | {
            "messages": [self._message_json(caller, message) for message in messages]
        }

    def remove(self, caller: Caller, conversation_id: str) -> dict[str, Any]:
        """Delete a conversation; it is removed for good at the next start of the app."""
        self._find(caller, conversation_id)
        self._history.delete(conversation_id)
        return {"deleted": [conversation_id]}

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

    # --- opinions ------------------------------------------------------------------------------

    def judge(self, caller: Caller, opinion: Opinion) -> dict[str, Any]:
        """Store an opinion of an answer, and the answer as it should have been."""
        if opinion.rewrite is not None:
            caller.need(TokenScope.WRITE)
            # What a person wrote becomes a document that every question may find.
            need_every_collection(caller)
        answer = self._answer(caller, opinion)
        self._history.set_feedback(answer.message_id, _OPINIONS[opinion.opinion])
        if opinion.rewrite is not None:
            try:
                self._history.rewrite(answer, opinion.rewrite)
            except AppError as error:
                raise Refusal.of_error(error, 503) from error
        return {
            "answer_id": answer.message_id,
            "opinion": opinion.opinion,
            "is_rewritten": opinion.rewrite is not None,
        }

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
        sees_all = caller.token.allows(TokenScope.ADMIN) and not is_limited
        return self._history.programs.of("" if sees_all else caller.keeper)

    def _find(self, caller: Caller, conversation_id: str) -> Conversation:
        for conversation in self._own(caller):
            if conversation.conversation_id == conversation_id:
                return conversation
        raise Refusal(404, "There is no such conversation.", code="no_such_conversation")

    def _message_json(self, caller: Caller, message: Message) -> dict[str, Any]:
        if message.role is Role.ASSISTANT and not caller.token.passes_markup:
            message = inert_message(message)
        sources = [
            source_json(
                source,
                message.claims,
                lambda each: self._link(caller, each.document_id, each.start, each.end),
            )
            for source in message.sources
            if self._may_read(caller, source.document_id)
        ]
        return {
            "id": message.message_id,
            "role": message.role.value,
            "text": message.text,
            "created_at": message.created_at,
            "state": message.state.value,
            "opinion": _NAMES[message.feedback],
            "sources": sources,
            "follow_ups": list(message.follow_ups),
        }

    def _may_read(self, caller: Caller, document_id: str) -> bool:
        try:
            self._readable.document(caller, document_id)
        except Refusal:
            return False
        return True


def _json(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": conversation.conversation_id,
        "title": conversation.title,
        "updated_at": conversation.updated_at,
    }


def _title(question: str) -> str:
    words = " ".join(question.split())
    return words if len(words) <= _TITLE_CHARS else f"{words[: _TITLE_CHARS - 1]}…"
