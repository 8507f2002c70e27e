"""The conversations: search, rename, pin, copy, export, feedback. Worker threads only."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Opinion
from desktop_rag.answer.conversations.conversation_file import export_text, read_conversation
from desktop_rag.answer.conversations.personal import Rewrites, is_of
from desktop_rag.answer.conversations.unstored_chats import UnstoredChats
from desktop_rag.core.conversation import (
    MEMORY,
    TERMINAL,
    Conversation,
    Feedback,
    Message,
    Role,
    SourceRef,
)
from desktop_rag.core.errors import AppError, put_off
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.records import ConversationStore


class ProgramConversations:
    """Conversations of other programs, by the ids of their tokens; the person's list has none."""

    def __init__(self, engine: Engine) -> None:
        self._store = store = engine.conversations
        # Those of a program, or of all programs, the last changed first.
        self.of, self.add = store.kept, store.add_message

    def start(self, keeper: str, title: str) -> Conversation:
        """A new, empty conversation."""
        made = self._store.add(title, "")
        self._store.keep(made.conversation_id, keeper)
        return self._store.get(made.conversation_id)

    def conversation_of(self, message_id: str) -> str:
        """The id of the conversation with this message; "" when there is none."""
        found = self._store.places_of([message_id]) if message_id else {}
        return found[message_id][0] if message_id in found else ""


_OPINIONS = {
    Feedback.LIKED: Opinion.LIKED,
    Feedback.DISLIKED: Opinion.DISLIKED,
    Feedback.NONE: Opinion.WITHDRAWN,
}


class FeedbackLog:
    """The person's likes, dislikes and rewrites in chats that exist, as events."""

    def __init__(self, conversations: ConversationStore, rewrites: Rewrites) -> None:
        self._conversations = conversations
        self._rewrites = rewrites

    def newest_first(self) -> list[ActivityEvent]:
        """All feedback, the newest first."""
        opinions = [
            _event(given.noted_at, _OPINIONS[given.feedback], given.conversation_id, given.model)
            for given in self._conversations.all_feedback()
        ]
        written = self._rewrites.written_at()
        places = self._conversations.places_of(list(written))
        rewrites = [
            _event(written[start], Opinion.REWRITTEN, conversation_id, model)
            for start, (conversation_id, model) in places.items()
        ]
        return sorted([*opinions, *rewrites], key=lambda event: event.at, reverse=True)


def _event(at: float, opinion: Opinion, conversation_id: str, model: str) -> ActivityEvent:
    return ActivityEvent(
        at, EventKind.FEEDBACK, opinion.value, chat_id=conversation_id, model=model
    )


_COPY = "{title} (copy)"


class History:
    """The conversations, and the actions on them."""

    def __init__(self, engine: Engine, rewrites: Rewrites, conversations: UnstoredChats) -> None:
        self._conversations = conversations
        self._attachments = engine.attachments
        self._documents = engine.documents
        self._rewrites = rewrites
        self.programs = ProgramConversations(engine)
        self.feedback = FeedbackLog(engine.conversations, rewrites)
        self._opened_at = time.time()
        self.all, self.set_pinned = self._conversations.all, self._conversations.set_pinned
        self.set_feedback = self._conversations.add_feedback
        # The answers in the person's own words.
        self.rewritten, self.own_text = rewrites.questions, rewrites.text
        self.own_file, self.delete_rewrite = rewrites.file_of, rewrites.delete

    def titles(self) -> dict[str, str]:
        """The titles of all conversations that are not deleted, by id."""
        return {c.conversation_id: c.title for c in self.all()}

    def find(self, text: str) -> frozenset[str]:
        """The ids of conversations with this text in the title or a message, ignoring case."""
        return self._conversations.containing(text.strip()) if text.strip() else frozenset()

    def begun_with(self, question: str) -> Conversation | None:
        """The first conversation of the list that begins with this question and has an answer."""
        found = self.find(question)
        for conversation in self.all():
            if conversation.conversation_id in found:
                messages = self.messages(conversation.conversation_id)
                if len(messages) > 1 and messages[0].text == question:
                    return conversation
        return None

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages in order, answers with their sources."""
        names = self._rewrites.names()
        return [
            replace(message, is_rewritten=any(is_of(name, message) for name in names))
            for message in self._conversations.messages(conversation_id)
        ]

    def rename(self, conversation_id: str, title: str) -> None:
        """Change the title of the conversation; an empty title is ignored."""
        if title.strip():
            self._conversations.rename(conversation_id, title.strip())

    def keep_for_terminal(self, conversation_id: str) -> None:
        """List it with those of the terminal, until it goes on elsewhere."""
        self._conversations.keep(conversation_id, TERMINAL)

    def delete(self, conversation_id: str) -> None:
        """Hide the conversation; it is removed for good at the next start."""
        self._conversations.set_deleted(conversation_id, True)

    def restore(self, conversation_id: str) -> None:
        """Undo `delete`."""
        self._conversations.set_deleted(conversation_id, False)

    def purge_attachments(self) -> None:
        """At the end, remove what was attached to conversations that are not stored."""
        with put_off("attachments are removed at the next start"):
            self._attachments.purge(time.time())

    def purge_deleted(self) -> None:
        """At the start, remove deleted conversations, with attachments that no other one has."""
        self._conversations.purge_deleted()
        self._attachments.purge(self._opened_at)

    def fork(self, conversation_id: str, message_id: str) -> Conversation:
        """A copy of the conversation up to and including one of its messages."""
        messages = self.messages(conversation_id)
        return self._copy(conversation_id, messages[: _place_of(messages, message_id) + 1])

    def fork_before(self, conversation_id: str, message_id: str) -> Conversation:
        """A copy of the conversation before a message, to ask another question there."""
        messages = self.messages(conversation_id)
        return self._copy(conversation_id, messages[: _place_of(messages, message_id)])

    def rewrite(self, message: Message, text: str) -> Path:
        """Keep the person's own version of an answer; returns its file."""
        messages = self._conversations.messages(message.conversation_id)
        asked = [m.text for m in messages[: _place_of(messages, message.message_id)]]
        return self._rewrites.write(asked[-1] if asked else "", message, text)

    def put_back(self, message: Message, *, in_place_of: str) -> None:
        """Restore an answer in place of its replacement; AppError when that is gone too."""
        present = self._conversations.messages(message.conversation_id)
        if all(other.message_id != in_place_of for other in present):
            raise AppError("The answer was given again meanwhile.", "Only the last one comes back.")
        self._conversations.replace_message(in_place_of, message)

    def remove_answer(self, message: Message) -> int:
        """Remove one of several answers to a question; returns its place, to put it back there."""
        return self._conversations.remove_message(message.message_id)

    def put_back_at(self, message: Message, place: int) -> None:
        """Undo `remove_answer`. AppError when another message has its place."""
        if not self._conversations.insert_message(message, place):
            raise AppError("The chat has gone on since.", "Ask every file again.")

    def export(self, conversation_id: str, ending: str) -> str:
        """The conversation with its sources as the text of a file: .md, .html or .json."""
        conversation = self._conversations.get(conversation_id)
        return export_text(conversation, self.messages(conversation_id), ending)

    def import_file(self, path: Path) -> Conversation:
        """A new conversation from an exported JSON file. AppError for any other file.

        When the document of a source is not in the library, the path in the file is shown only;
        nothing is ever opened there.
        """
        found = read_conversation(path)
        conversation = self._conversations.add(found.title, "")
        for message in found.messages:
            self._conversations.add_message(
                replace(
                    message,
                    conversation_id=conversation.conversation_id,
                    sources=self._known(message.sources),
                    nearest=self._known(message.nearest),
                )
            )
            if message.feedback:
                self._conversations.add_feedback(message.message_id, message.feedback)
        return self._conversations.get(conversation.conversation_id)

    def _known(self, sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
        """The sources with the paths that the library knows, or without a document."""
        ids = {source.document_id for source in sources}
        documents = {found.document_id: found for found in self._documents.get(sorted(ids))}
        return tuple(
            replace(source, path=str(document.path), url=document.address, part=document.part)
            if (document := documents.get(source.document_id))
            else replace(source, document_id="")
            for source in sources
        )

    def _copy(self, conversation_id: str, messages: Sequence[Message]) -> Conversation:
        original = self._conversations.get(conversation_id)
        title = _COPY.format(title=original.title)
        is_stored = original.kept_by != MEMORY
        add = self._conversations.add if is_stored else self._conversations.add_in_memory
        copy = add(title, original.collection_id, original.assistant_id)
        for message in messages:
            fresh = replace(
                message,
                message_id=uuid.uuid4().hex,
                conversation_id=copy.conversation_id,
                copy_of=message.copy_of or message.message_id,
            )
            self._conversations.add_message(fresh)
            if is_stored and fresh.role is Role.USER:
                self._attachments.set(copy.conversation_id, fresh.attachments)
        return self._conversations.get(copy.conversation_id)


def _place_of(messages: Sequence[Message], message_id: str) -> int:
    return next(n for n, message in enumerate(messages) if message.message_id == message_id)
