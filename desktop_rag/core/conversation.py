"""Conversations, their messages, and the events of an answer on its way. Frozen values."""

from dataclasses import dataclass
from enum import StrEnum

from desktop_rag.core.anchors import Anchor


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A numbered source of one answer, as it was shown: kept with the message.

    `quote` is the exact words of the passage that the citing sentence rests on, at [start, end)
    of the document's text; empty while the source is listed but not cited.
    """

    n: int
    document_id: str
    path: str
    title: str
    anchor: Anchor
    text: str
    score: float
    quote: str = ""
    start: int = 0
    end: int = 0
    is_cited: bool = False
    part: str = ""
    url: str = ""


class Role(StrEnum):
    """Who speaks in a conversation."""

    USER = "user"
    ASSISTANT = "assistant"


class MessageState(StrEnum):
    """How a message ended."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. `model` is empty for the person's own and for excerpts.

    A failed answer has the error's title and hint in `error_title` and `error_hint`, and what
    had arrived until then in `text`.
    """

    message_id: str
    conversation_id: str
    role: Role
    text: str
    created_at: float
    state: MessageState = MessageState.DONE
    model: str = ""
    is_excerpts: bool = False
    seconds: float = 0.0
    error_title: str = ""
    error_hint: str = ""
    thinking: str = ""
    sources: tuple[SourceRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread of messages; `updated_at` orders the list."""

    conversation_id: str
    title: str
    collection_id: str
    updated_at: float


@dataclass(frozen=True, slots=True)
class QuestionStored:
    """The question is safe on disk; `conversation` is new when none was given."""

    conversation: Conversation
    message: Message


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """Retrieval is done: these numbered sources go into the prompt."""

    sources: tuple[SourceRef, ...]


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of the model's thinking, kept apart from the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer, as the model wrote it; [n] are not yet validated."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The answer as stored: unknown citations removed, known ones located.

    Its state tells whether it was finished, stopped by the person, or failed (with title and
    hint). It is the last event of every answer.
    """

    message: Message


AnswerEvent = QuestionStored | SourcesFound | ThinkingDelta | TextDelta | AnswerDone
