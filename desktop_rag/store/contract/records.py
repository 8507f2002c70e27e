"""Conversations and measurements: what nothing else can make again. Protocols; any thread."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from desktop_rag.core.attachment import Attachment, Image
from desktop_rag.core.conversation import Conversation, Feedback, Message


class ConversationStore(Protocol):
    """Conversations, their messages and the sources each answer was shown with.

    Each method is one transaction. What is stored comes back equal, also when the documents it
    speaks of are gone. An id that is not known is a bug of the caller.
    """

    def add(self, title: str, collection_id: str, assistant_id: str = "") -> Conversation:
        """A new, empty conversation; "" means all documents, and no assistant."""
        ...

    def get(self, conversation_id: str) -> Conversation:
        """The conversation, hidden or not; an unknown id is a bug (KeyError)."""
        ...

    def all(self) -> list[Conversation]:
        """Those not hidden: pinned ones first, then the one last written to."""
        ...

    def holding(self, text: str) -> frozenset[str]:
        """The ids of those not hidden with this text in their title or a message, in any case."""
        ...

    def rename(self, conversation_id: str, title: str) -> None:
        """Give the conversation another title; its place in the list stays."""
        ...

    def set_collection(self, conversation_id: str, collection_id: str) -> None:
        """Remember which documents were asked last; "" means all."""
        ...

    def set_assistant(self, conversation_id: str, assistant_id: str) -> None:
        """Remember which assistant was asked last; "" means none."""
        ...

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> None:
        """Put the conversation before the others in the list, or back to its place."""
        ...

    def set_deleted(self, conversation_id: str, is_deleted: bool) -> None:
        """Hide the conversation, or undo that."""
        ...

    def purge_deleted(self) -> None:
        """Remove hidden conversations with their messages and interactions for good."""
        ...

    def add_message(self, message: Message) -> None:
        """Append the message with its sources; `updated_at` becomes its time."""
        ...

    def replace_message(self, old_message_id: str, message: Message) -> None:
        """Put `message` in the place of an earlier one, as when an answer is given again."""
        ...

    def set_after(self, message: Message) -> None:
        """Keep the follow-ups and claims of an answer, in place of those kept before."""
        ...

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages in their order, with the sources as shown and the last feedback on each."""
        ...

    def add_feedback(self, message_id: str, feedback: Feedback) -> None:
        """Note what the person thinks now of an answer, of which copies may stand elsewhere.

        What was noted before stays noted.
        """
        ...

    def feedback_log(self, message_id: str) -> list[tuple[float, Feedback]]:
        """Every change of mind about an answer: when, and to what; the first one first."""
        ...


class AttachmentStore(Protocol):
    """What is attached to conversations, and the images among it.

    An attached file is a source (`SourceStore.add_attached`) of the attachment's id.
    """

    def of(self, conversation_id: str) -> tuple[Attachment, ...]:
        """What is attached to the conversation now; nothing to one that is not known."""
        ...

    def set(self, conversation_id: str, attachments: Sequence[Attachment]) -> None:
        """Have this attached to the conversation, in place of what was."""
        ...

    def put_image(self, attachment_id: str, image: Image) -> None:
        """Keep the image of an attachment."""
        ...

    def image(self, attachment_id: str) -> Image | None:
        """The image of an attachment; None when it has none (any more)."""
        ...

    def purge(self, before: float) -> None:
        """Remove what no conversation speaks of: images, and sources with their documents.

        Not what was attached since: somebody may be about to ask of it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run of a measurement.

    `kind` tells what was measured, `name` on which set, `version` by which version of the app.
    `settings`, `results` (an object a mode) and `queries` (an object a query and mode) are JSON
    values.
    """

    evaluation_id: str
    kind: str
    name: str
    created_at: float
    seconds: float
    version: str
    settings: dict[str, Any]
    results: list[dict[str, Any]]
    queries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def to_json(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Evaluation":
        """The inverse of `to_json`. Unknown fields raise TypeError."""
        return cls(**fields)


class EvaluationStore(Protocol):
    """Measurements of quality, each kept with what it was made with."""

    def add(self, evaluation: Evaluation) -> None:
        """Keep a run for good; it comes back equal."""
        ...

    def all(self) -> list[Evaluation]:
        """Every run without its queries, the newest first, then by id."""
        ...

    def get(self, evaluation_id: str) -> Evaluation:
        """A run with its queries, by its id or the beginning of it.

        AppError when none or more than one begins so.
        """
        ...
