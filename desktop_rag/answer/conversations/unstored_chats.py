"""Conversations that the person wants not to be stored, or that the disk refuses. Any thread.

What a full disk refuses stays in memory, in order, and is shown like the rest. It is stored by
itself once the disk allows it ("unstored-chats", a thread that lives only while something waits),
or with the next change.
"""

import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import time

from desktop_rag.core.changes import Changes
from desktop_rag.core.conversation import MEMORY, Conversation, Feedback, Message, MessagesStored
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


class _ChatsInMemory:
    """Conversations that are written nowhere, with the methods of a `ConversationStore`."""

    def __init__(self) -> None:
        self._chats: dict[str, Conversation] = {}
        self._messages: dict[str, list[Message]] = {}
        self._hidden: set[str] = set()

    def __contains__(self, conversation_id: str) -> bool:
        return conversation_id in self._chats

    def __len__(self) -> int:
        return len(self._chats)

    def add(self, title: str, collection_id: str, assistant_id: str) -> Conversation:
        made = Conversation(
            uuid.uuid4().hex, title, collection_id, time(),
            assistant_id=assistant_id, kept_by=MEMORY,
        )  # fmt: skip
        self._messages[made.conversation_id] = []
        return self._chats.setdefault(made.conversation_id, made)

    def get(self, conversation_id: str) -> Conversation:
        return self._chats[conversation_id]

    def all(self) -> list[Conversation]:
        return [c for key, c in reversed(self._chats.items()) if key not in self._hidden]

    def containing(self, text: str) -> frozenset[str]:
        wanted = text.casefold()
        ids = [c.conversation_id for c in self.all()]
        texts = {
            key: [self._chats[key].title, *(m.text for m in self._messages[key])] for key in ids
        }
        return frozenset(key for key in ids if any(wanted in t.casefold() for t in texts[key]))

    def messages(self, conversation_id: str) -> list[Message]:
        return list(self._messages[conversation_id])

    def conversation_of(self, message_id: str) -> str:
        """The id of the conversation with this message; "" for one of the store."""
        return next((k for k, all_ in self._messages.items() if _place(all_, message_id) >= 0), "")

    def _keep(self, changed: Conversation) -> None:
        self._chats[changed.conversation_id] = changed

    def rename(self, conversation_id: str, title: str) -> None:
        self._keep(replace(self.get(conversation_id), title=title))

    def set_collection(self, conversation_id: str, collection_id: str) -> None:
        self._keep(replace(self.get(conversation_id), collection_id=collection_id))

    def set_assistant(self, conversation_id: str, assistant_id: str) -> None:
        self._keep(replace(self.get(conversation_id), assistant_id=assistant_id))

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> None:
        self._keep(replace(self.get(conversation_id), is_pinned=is_pinned))

    def set_deleted(self, conversation_id: str, is_deleted: bool) -> None:
        if is_deleted:
            self._hidden.add(conversation_id)
        else:
            self._hidden.discard(conversation_id)

    def add_message(self, message: Message) -> None:
        self._messages[message.conversation_id].append(message)

    def replace_message(self, old_message_id: str, message: Message) -> None:
        messages = self._messages[message.conversation_id]
        messages[_place(messages, old_message_id)] = message

    def remove_message(self, message_id: str) -> int:
        messages = self._messages[self.conversation_of(message_id)]
        place = _place(messages, message_id)
        del messages[place]
        return place

    def insert_message(self, message: Message, position: int) -> bool:
        is_free = position == len(self._messages[message.conversation_id])
        if is_free:
            self.add_message(message)
        return is_free

    def set_post_answer(self, message: Message) -> None:
        for found in self._with_id(message.message_id):
            changed = replace(found, follow_ups=message.follow_ups, claims=message.claims)
            self.replace_message(message.message_id, changed)

    def add_feedback(self, message_id: str, feedback: Feedback) -> None:
        for found in self._with_id(message_id):
            self.replace_message(message_id, replace(found, feedback=feedback))

    def _with_id(self, message_id: str) -> list[Message]:
        messages = self._messages.get(self.conversation_of(message_id), ())
        return [message for message in messages if message.message_id == message_id]


def _place(messages: Sequence[Message], message_id: str) -> int:
    return next((n for n, m in enumerate(messages) if m.message_id == message_id), -1)


class UnstoredChats:
    """The conversations of a store, with those in memory and what waits for room on the disk.

    A `ConversationStore` that takes questions and answers even while the disk refuses to write, and
    refuses any other change then; `is_waiting` tells whether one is stored.
    """

    def __init__(self, store: ConversationStore, changes: Changes) -> None:
        """A MessagesStored is published to `changes` when messages that waited are stored."""
        self._store = store
        # Nothing that waits changes these.
        self.places_of, self.all_feedback = store.places_of, store.all_feedback
        self.feedback_log = store.feedback_log
        self._changes = changes
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._in_memory = _ChatsInMemory()
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
            if change.conversation_id in self._in_memory:
                change.store()
                return
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
        while not self._closing.wait(_RETRY_S):
            try:
                self.store_waiting()
            except AppError as error:
                log.info("chats still wait to be stored: %s", error.title)
            else:
                return

    def _home(self, conversation_id: str) -> ConversationStore | _ChatsInMemory:
        return self._in_memory if conversation_id in self._in_memory else self._store

    def _settled(self, conversation_id: str) -> ConversationStore | _ChatsInMemory:
        """Where a conversation is, after what waits was stored."""
        if conversation_id not in self._in_memory:
            self.store_waiting()
        return self._home(conversation_id)

    @property
    def are_in_memory(self) -> bool:
        """True once a conversation was begun that is never stored."""
        return bool(self._in_memory)

    def is_in_memory(self, conversation_id: str) -> bool:
        """True for a conversation that is never stored."""
        return conversation_id in self._in_memory

    def add_in_memory(self, title: str, collection_id: str, assistant_id: str = "") -> Conversation:
        """A new, empty conversation that is never stored."""
        with self._lock:
            return self._in_memory.add(title, collection_id, assistant_id)

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
        store = partial(self._home(conversation_id).set_collection, conversation_id, collection_id)
        self._do(_Waiting(conversation_id, store), ahead)

    def set_assistant(self, conversation_id: str, assistant_id: str) -> None:
        """Set the assistant that answered last; "" means none."""
        ahead = replace(self.get(conversation_id), assistant_id=assistant_id)
        store = partial(self._home(conversation_id).set_assistant, conversation_id, assistant_id)
        self._do(_Waiting(conversation_id, store), ahead)

    def keep(self, conversation_id: str, keeper: str) -> None:
        """Set who keeps it, unless it is in memory; see `Conversation`."""
        if conversation_id in self._in_memory:
            return
        self._do(
            _Waiting(conversation_id, lambda: self._store.keep(conversation_id, keeper)),
            replace(self.get(conversation_id), kept_by=keeper),
        )

    def add_message(self, message: Message) -> None:
        """Append the message with its sources; its conversation is the last changed."""
        of = message.conversation_id
        self._do(_Waiting(of, lambda: self._home(of).add_message(message), message))

    def replace_message(self, old_message_id: str, message: Message) -> None:
        """Replace an earlier message, as when an answer is generated again."""
        of = message.conversation_id
        store = partial(self._home(of).replace_message, old_message_id, message)
        self._do(_Waiting(of, store, message, old_message_id))

    # --- reading ---------------------------------------------------------------------------------

    def get(self, conversation_id: str) -> Conversation:
        """The conversation, hidden or not; an unknown id is a bug (KeyError)."""
        with self._lock:
            return self._ahead.get(conversation_id) or self._home(conversation_id).get(
                conversation_id
            )

    def all(self) -> list[Conversation]:
        """Those that are not hidden: in memory, waiting new ones, then those of the store."""
        with self._lock:
            fresh = [c for c in self._ahead.values() if c.conversation_id in self._new]
            return [*self._in_memory.all(), *reversed(fresh), *self._store.all()]

    def containing(self, text: str) -> frozenset[str]:
        """The ids of conversations that are not hidden and have this text in a title or message."""
        return self._in_memory.containing(text) | self._store.containing(text)

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages in order, those that wait marked as unstored."""
        with self._lock:
            found = self._home(conversation_id).messages(conversation_id)
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
            of = self._in_memory.conversation_of(message_id)
            return self._settled(of).remove_message(message_id)

    def insert_message(self, message: Message, position: int) -> bool:
        """Put a removed message back; False, without effect, when its position is taken."""
        with self._lock:
            of = message.conversation_id
            return self._settled(of).insert_message(message, position)

    # --- other changes ---------------------------------------------------------------------------

    def rename(self, conversation_id: str, title: str) -> None:
        """Change the title; the position in the list stays."""
        with self._lock:
            self._settled(conversation_id).rename(conversation_id, title)

    def retitle(self, conversation_id: str, former: str, title: str) -> Conversation | None:
        """Change the title unless it is no longer the former one; the conversation if changed."""
        with self._lock:
            home = self._settled(conversation_id)
            if home.get(conversation_id).title != former:
                return None
            home.rename(conversation_id, title)
            return home.get(conversation_id)

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> None:
        """Pin the conversation to the top of the list, or unpin it."""
        with self._lock:
            self._settled(conversation_id).set_pinned(conversation_id, is_pinned)

    def set_deleted(self, conversation_id: str, is_deleted: bool) -> None:
        """Hide the conversation, or undo that."""
        with self._lock:
            self._settled(conversation_id).set_deleted(conversation_id, is_deleted)

    def purge_deleted(self) -> None:
        """Remove hidden conversations permanently, with their messages and interactions."""
        with self._lock:
            self.store_waiting()
            self._store.purge_deleted()

    def set_post_answer(self, message: Message) -> None:
        """Store the follow-ups and claims of an answer in place of earlier ones."""
        of = message.conversation_id
        self._do(_Waiting(of, lambda: self._home(of).set_post_answer(message)))

    def add_feedback(self, message_id: str, feedback: Feedback) -> None:
        """Append feedback on an answer, which also holds for its copies in other conversations."""
        with self._lock:
            of = self._in_memory.conversation_of(message_id)
            self._settled(of).add_feedback(message_id, feedback)


# Either keeps the conversations of a library.
Conversations = ConversationStore | UnstoredChats
