"""Conversations that go on while the disk refuses to write, as a full one does. Any thread.

What can't be written stays in memory, in order, and is shown like the rest. It is stored by itself
once the disk allows it ("unstored-chats", a thread that lives only while something waits), or with
the next change.
"""

import logging
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from time import time

from desktop_rag.core.changes import Changes
from desktop_rag.core.conversation import Conversation, Feedback, Message, MessagesStored
from desktop_rag.core.errors import AppError, DiskError
from desktop_rag.store.contract.records import ConversationStore

log = logging.getLogger(__name__)

_RETRY_S = 5.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A change that the disk refused. With a message, `replaces` is the id of a former one."""

    conversation_id: str
    store: Callable[[], object]
    message: Message | None = None
    replaces: str = ""


class UnstoredChats:
    """The conversations of a store, with the changes that wait for room on the disk.

    A `ConversationStore` that takes questions and answers even while the disk refuses to write, and
    refuses any other change then; `is_waiting` tells whether one is stored.
    """

    def __init__(
        self, store: ConversationStore, changes: Changes, retry_s: float = _RETRY_S
    ) -> None:
        """A MessagesStored is published to `changes` when messages that waited are stored."""
        self._store = store
        # Nothing that waits changes these.
        self.containing, self.places_of = store.containing, store.places_of
        self.feedback_log, self.all_feedback = store.feedback_log, store.all_feedback
        self._changes = changes
        self._retry_s = retry_s
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._waiting: list[_Waiting] = []
        # Conversations as they will be once all is stored; those that the store does not know.
        self._ahead: dict[str, Conversation] = {}
        self._new: set[str] = set()
        self._thread: threading.Thread | None = None

    # --- what waits ------------------------------------------------------------------------------

    def is_waiting(self, message_id: str) -> bool:
        """True while the message is not stored."""
        with self._lock:
            return any(w.message and w.message.message_id == message_id for w in self._waiting)

    def as_kept(self, message: Message) -> Message:
        """The message with the mark of one that is not stored, if it waits."""
        return replace(message, is_unstored=self.is_waiting(message.message_id))

    def do(self, conversation_id: str, store: Callable[[], object]) -> None:
        """Make a change that belongs to a question: now, or when there is room."""
        self._do(_Waiting(conversation_id, store))

    def store_waiting(self) -> None:
        """Store what waits; DiskError while the disk still refuses."""
        stored: set[str] = set()
        with self._lock:
            try:
                while self._waiting:
                    # One that can never be stored must not keep the others waiting.
                    done = self._waiting.pop(0)
                    try:
                        done.store()
                    except DiskError:
                        self._waiting.insert(0, done)
                        raise
                    stored |= {done.message.message_id} if done.message else set()
                self._ahead.clear()
                self._new.clear()
            finally:
                if stored:
                    self._changes.publish(MessagesStored(frozenset(stored)))

    def close(self) -> None:
        """Store what waits if there is room now; the rest is lost. Idempotent."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        try:
            self.store_waiting()
        except AppError as error:
            log.info("%d changes of chats are lost: %s", len(self._waiting), error.title)

    def _do(self, change: _Waiting, ahead: Conversation | None = None) -> None:
        with self._lock:
            try:
                self.store_waiting()
                change.store()
            except DiskError:
                self._waiting.append(change)
                if ahead:
                    self._ahead[ahead.conversation_id] = ahead
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(
                        target=self._run, name="unstored-chats", daemon=True
                    )
                    self._thread.start()

    def _run(self) -> None:
        while not self._closing.wait(self._retry_s):
            try:
                self.store_waiting()
            except AppError as error:
                log.info("chats still wait to be stored: %s", error.title)
            else:
                return

    def _changed(self, change: Callable[[], None]) -> None:
        """Make any other change, after those that wait."""
        with self._lock:
            self.store_waiting()
            change()

    # --- questions and answers -------------------------------------------------------------------

    def add(
        self, title: str, collection_id: str, assistant_id: str = "", conversation_id: str = ""
    ) -> Conversation:
        """A new, empty conversation; "" means all documents, no assistant, and an id of its own."""
        made = conversation_id or uuid.uuid4().hex
        fresh = Conversation(made, title, collection_id, time(), assistant_id=assistant_id)
        with self._lock:
            store = partial(self._store.add, title, collection_id, assistant_id, made)
            self._do(_Waiting(made, store), fresh)
            if made not in self._ahead:
                return self._store.get(made)
            self._new.add(made)
            return fresh

    def set_collection(self, conversation_id: str, collection_id: str) -> None:
        """Set the collection that was last searched; "" means all."""
        ahead = replace(self.get(conversation_id), collection_id=collection_id)
        store = partial(self._store.set_collection, conversation_id, collection_id)
        self._do(_Waiting(conversation_id, store), ahead)

    def set_assistant(self, conversation_id: str, assistant_id: str) -> None:
        """Set the assistant that answered last; "" means none."""
        ahead = replace(self.get(conversation_id), assistant_id=assistant_id)
        store = partial(self._store.set_assistant, conversation_id, assistant_id)
        self._do(_Waiting(conversation_id, store), ahead)

    def keep(self, conversation_id: str, keeper: str) -> None:
        """Set who keeps it; see `Conversation`."""
        self._do(
            _Waiting(conversation_id, lambda: self._store.keep(conversation_id, keeper)),
            replace(self.get(conversation_id), kept_by=keeper),
        )

    def add_message(self, message: Message) -> None:
        """Append the message with its sources; its conversation is the last changed."""
        of = message.conversation_id
        self._do(_Waiting(of, lambda: self._store.add_message(message), message))

    def replace_message(self, old_message_id: str, message: Message) -> None:
        """Replace an earlier message, as when an answer is generated again."""
        of = message.conversation_id
        store = partial(self._store.replace_message, old_message_id, message)
        self._do(_Waiting(of, store, message, old_message_id))

    # --- reading ---------------------------------------------------------------------------------

    def get(self, conversation_id: str) -> Conversation:
        """The conversation, hidden or not; an unknown id is a bug (KeyError)."""
        with self._lock:
            return self._ahead.get(conversation_id) or self._store.get(conversation_id)

    def all(self) -> list[Conversation]:
        """Conversations that are not hidden: waiting new ones, pinned ones, then the others."""
        with self._lock:
            fresh = [c for c in self._ahead.values() if c.conversation_id in self._new]
            return [*reversed(fresh), *self._store.all()]

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages in order, those that wait marked as unstored."""
        with self._lock:
            found = self._store.messages(conversation_id)
            for waiting in self._waiting:
                if waiting.conversation_id == conversation_id and waiting.message:
                    message = replace(waiting.message, is_unstored=True)
                    places = [n for n, m in enumerate(found) if m.message_id == waiting.replaces]
                    if places:
                        found[places[0]] = message
                    else:
                        found.append(message)
            return found

    def remove_message(self, message_id: str) -> int:
        """Remove a message with its sources; returns its position among the others."""
        with self._lock:
            self.store_waiting()
            return self._store.remove_message(message_id)

    def insert_message(self, message: Message, position: int) -> bool:
        """Put a removed message back; False, without effect, when its position is taken."""
        with self._lock:
            self.store_waiting()
            return self._store.insert_message(message, position)

    # --- other changes ---------------------------------------------------------------------------

    def rename(self, conversation_id: str, title: str) -> None:
        """Change the title; the position in the list stays."""
        self._changed(lambda: self._store.rename(conversation_id, title))

    def retitle(self, conversation_id: str, former: str, title: str) -> Conversation | None:
        """Change the title unless it is no longer the former one; the conversation if changed."""
        with self._lock:
            self.store_waiting()
            if self._store.get(conversation_id).title != former:
                return None
            self._store.rename(conversation_id, title)
            return self._store.get(conversation_id)

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> None:
        """Pin the conversation to the top of the list, or unpin it."""
        self._changed(lambda: self._store.set_pinned(conversation_id, is_pinned))

    def set_deleted(self, conversation_id: str, is_deleted: bool) -> None:
        """Hide the conversation, or undo that."""
        self._changed(lambda: self._store.set_deleted(conversation_id, is_deleted))

    def purge_deleted(self) -> None:
        """Remove hidden conversations permanently, with their messages and interactions."""
        self._changed(self._store.purge_deleted)

    def set_post_answer(self, message: Message) -> None:
        """Store the follow-ups and claims of an answer in place of earlier ones."""
        of = message.conversation_id
        self._do(_Waiting(of, lambda: self._store.set_post_answer(message)))

    def add_feedback(self, message_id: str, feedback: Feedback) -> None:
        """Append feedback on an answer, which also holds for its copies in other conversations."""
        self._changed(lambda: self._store.add_feedback(message_id, feedback))


# Either keeps the conversations of a library.
Conversations = ConversationStore | UnstoredChats
