"""Conversations and assistants, which nothing else can restore. Protocols; any thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import (
    Attachment,
    Conversation,
    Feedback,
    GivenFeedback,
    Image,
    Message,
)


class ConversationStore(Protocol):
    """Conversations with their messages and the sources shown with each answer.

    Each method is one transaction. What is stored comes back equal, even when the documents it
    refers to are gone. An unknown id is a bug of the caller.
    """

    def add(
        self, title: str, collection_id: str, assistant_id: str = "", conversation_id: str = ""
    ) -> Conversation:
        """A new, empty conversation; "" means all documents, no assistant, and an id of its own."""
        ...

    def get(self, conversation_id: str) -> Conversation:
        """The conversation, hidden or not; an unknown id is a bug (KeyError)."""
        ...

    def all(self) -> list[Conversation]:
        """Conversations neither hidden nor kept for a program: pinned ones, then the last changed.

        The order does not depend on the clock, which may be set back.
        """
        ...

    def containing(self, text: str) -> frozenset[str]:
        """The ids of those among `all` with this text in a title or message; case is ignored."""
        ...

    def rename(self, conversation_id: str, title: str) -> None:
        """Change the title; the position in the list stays."""
        ...

    def set_collection(self, conversation_id: str, collection_id: str) -> None:
        """Set the collection that was last searched; "" means all."""
        ...

    def set_assistant(self, conversation_id: str, assistant_id: str) -> None:
        """Set the assistant that answered last; "" means none."""
        ...

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> None:
        """Pin the conversation to the top of the list, or unpin it."""
        ...

    def set_deleted(self, conversation_id: str, is_deleted: bool) -> None:
        """Hide the conversation, or undo that."""
        ...

    def purge_deleted(self) -> None:
        """Remove hidden conversations permanently, with their messages and interactions."""
        ...

    def add_message(self, message: Message) -> None:
        """Append the message with its sources; its conversation is the last changed."""
        ...

    def replace_message(self, old_message_id: str, message: Message) -> None:
        """Replace an earlier message, as when an answer is generated again."""
        ...

    def remove_message(self, message_id: str) -> int:
        """Remove a message with its sources; returns its position among the others."""
        ...

    def insert_message(self, message: Message, position: int) -> bool:
        """Put a removed message back; False, without effect, when its position is taken."""
        ...

    def set_post_answer(self, message: Message) -> None:
        """Store the follow-ups and claims of an answer in place of earlier ones."""
        ...

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages in order, with their sources as shown and the latest feedback on each."""
        ...

    def add_feedback(self, message_id: str, feedback: Feedback) -> None:
        """Append feedback on an answer to its log; it also holds for copies of the answer."""
        ...

    def feedback_log(self, message_id: str) -> list[tuple[float, Feedback]]:
        """All feedback on an answer with its time, the oldest first."""
        ...

    def all_feedback(self) -> list[GivenFeedback]:
        """All feedback in conversations that are not hidden, the last given first.

        Includes feedback on replaced answers while these are remembered.
        """
        ...

    def places_of(self, id_starts: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Conversation and model of the messages whose ids begin like this, unless hidden."""
        ...


class KeptConversationStore(Protocol):
    """The conversations kept for other programs, outside the person's lists."""

    def keep(self, conversation_id: str, keeper: str) -> None:
        """Keep a conversation for the program with this id from now on."""
        ...

    def of(self, keeper: str = "") -> list[Conversation]:
        """Those kept for a program, or for any, that are not hidden; the last changed first."""
        ...


@dataclass(frozen=True, slots=True)
class UnfinishedAnswer:
    """What was shown of an answer whose process ended before it."""

    answer_id: str
    about: dict[str, Any]  # JSON values from the writer, empty when they were lost
    text: str
    thinking: str


class UnfinishedAnswerStore(Protocol):
    """What was shown of answers in progress, for the next start after a crash.

    A change is on disk when its method returns. AppError when the disk refuses.
    """

    def append(
        self,
        answer_id: str,
        *,
        about: Mapping[str, Any] | None,
        text: str,
        thinking: str,
        is_restated: bool = False,
    ) -> None:
        """Add what was shown since; `about` replaces the one before, if restated the texts, too."""
        ...

    def all(self) -> list[UnfinishedAnswer]:
        """The answers that were not removed, in no order."""
        ...

    def remove(self, answer_id: str) -> None:
        """Forget an answer, because it is stored as a message or gone."""
        ...


class AttachmentStore(Protocol):
    """The attachments of conversations, and attached images.

    An attached file is a source (`SourceStore.add_attached`) with the id of the attachment.
    """

    def of(self, conversation_id: str) -> tuple[Attachment, ...]:
        """The attachments of the conversation; empty for an unknown one."""
        ...

    def set(self, conversation_id: str, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments of the conversation."""
        ...

    def put_image(self, attachment_id: str, image: Image) -> None:
        """Store the image of an attachment."""
        ...

    def image(self, attachment_id: str) -> Image | None:
        """The image of an attachment; None when it has none."""
        ...

    def purge(self, before: float) -> None:
        """Remove images, and attached sources with documents, that no conversation refers to.

        Only those attached before the given time: a newer one may be part of a question to come.
        """
        ...


class AssistantStore(Protocol):
    """Assistants by their id. Each method is one transaction; what is stored comes back equal."""

    def all(self) -> list[Assistant]:
        """Assistants that are not hidden, by name in lower case, then by id."""
        ...

    def put(self, assistant: Assistant) -> None:
        """Store the assistant in place of one with the same id."""
        ...

    def set_deleted(self, assistant_id: str, is_deleted: bool) -> None:
        """Hide the assistant, or undo that."""
        ...

    def purge_deleted(self) -> None:
        """Remove hidden assistants permanently; conversations may still refer to them."""
        ...
