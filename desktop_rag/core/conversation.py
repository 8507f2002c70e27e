"""Conversations, their messages, and the events of an answer on its way. Frozen values."""

import re
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.attachment import Attachment
from desktop_rag.core.domain import Passage

# What to call passages that are shown although nothing seems to be about the question.
NEAREST = "Nearest, but probably not about it"
# What to say of an answer that rests on no document.
OWN_KNOWLEDGE = "not from your documents"


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A numbered source of one answer, as it was shown: kept with the message.

    `quote` is the exact words of the passage that the citing sentence rests on, at [start, end)
    of the document's text; empty while the source is listed but not cited. `also_in` says where
    else the same text stands, as paths or addresses. `document_id` is empty when the document is
    not in the library, as it may be in a conversation that was imported. With a `query`, a SELECT
    over tables of the document, `text` is its result, and [start, end) the rows that it rests on.
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
    also_in: tuple[str, ...] = ()
    query: str = ""

    @property
    def is_in_library(self) -> bool:
        """Whether there is, or was, a document to go to."""
        return bool(self.document_id)

    def narrowed(self, start: int, end: int) -> "SourceRef":
        """The same source with [start, end) of its passage as what is quoted.

        The result of a query stands nowhere in the document: it stays as it is.
        """
        if self.query:
            return self
        passage_start = self.start - max(0, self.text.find(self.quote))
        return replace(
            self,
            quote=self.text[start:end],
            start=passage_start + start,
            end=passage_start + end,
        )


@dataclass(frozen=True, slots=True)
class FileCounts:
    """How many files hold something about a question, and how many of all its answer is from."""

    matched: int
    read: int

    def in_words(self) -> str:
        """`12 files matched, 4 read`."""
        few = ("no file", "1 file")
        matched = few[self.matched] if self.matched < len(few) else f"{self.matched:,} files"
        return f"{matched} matched" + (f", {self.read:,} read" if self.read else "")


@dataclass(frozen=True, slots=True)
class SearchNotes:
    """What the search made of the question.

    `asked` is the question as it was understood, when it leaned on those before it, else empty.
    `repaired` has pairs of a word as written and as it was searched for. `filters` says in words
    what the search was limited to, without a full stop; `searched` is how many passages that left
    to choose from. `hints` are sentences on what else may have been meant. `files` is None where
    they were not counted.
    """

    repaired: tuple[tuple[str, str], ...] = ()
    filters: str = ""
    searched: int = 0
    hints: tuple[str, ...] = ()
    asked: str = ""
    files: FileCounts | None = None

    def in_words(self) -> str:
        """The same as plain sentences on one line; empty when the question was taken as it is."""
        repairs = [f"“{used}” instead of “{written}”" for written, used in self.repaired]
        said = [f"Understood as “{self.asked}”."] if self.asked else []
        said += [f"Searched for {', '.join(repairs)}."] if repairs else []
        if self.filters:
            said.append(self.filters + ("." if self.searched else ": nothing was found there."))
        return " ".join(" ".join([*said, *self.hints]).split())

    def repair(self, text: str) -> str:
        """The text with the words that were searched for in place of those written."""
        used = dict(self.repaired)
        whole_words = "|".join(map(re.escape, used))
        return re.sub(rf"(?<!\w)(?:{whole_words})(?!\w)", lambda m: used.get(m[0], m[0]), text)

    def to_json(self) -> dict[str, Any]:
        """As the command line and the store write them."""
        fields: dict[str, Any] = {
            "repaired": [list(pair) for pair in self.repaired],
            "filters": self.filters,
            "searched": self.searched,
        }
        fields |= {"hints": list(self.hints)} if self.hints else {}
        fields |= {"files": asdict(self.files)} if self.files else {}
        return fields | ({"asked": self.asked} if self.asked else {})

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "SearchNotes":
        """The inverse of `to_json`."""
        repaired = tuple((written, used) for written, used in fields["repaired"])
        hints = tuple(fields.get("hints", ()))
        asked = fields.get("asked", "")
        files = FileCounts(**fields["files"]) if fields.get("files") else None
        return cls(repaired, fields["filters"], fields["searched"], hints, asked, files)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, best first, and what it made of the query if there is anything to say.

    `matching` are the chunks of all passages that seem to be about the query. When none is,
    `is_relevant` is False, and the passages are those that come nearest.
    """

    passages: tuple[Passage, ...]
    notes: SearchNotes | None
    is_relevant: bool
    matching: tuple[int, ...] = ()


class Role(StrEnum):
    """Who speaks in a conversation."""

    USER = "user"
    ASSISTANT = "assistant"


class MessageState(StrEnum):
    """How a message ended."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class Feedback(StrEnum):
    """What the person thinks of an answer."""

    NONE = ""
    LIKED = "liked"
    DISLIKED = "disliked"


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """An earlier answer that served as an example, by its id and the question it answered."""

    interaction_id: str
    question: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. `model` is empty for the person's own and for excerpts.

    A failed answer has the error's title and hint in `error_title` and `error_hint`, and what
    had arrived until then in `text`. When nothing seems to be about the question there are no
    `sources`, and `nearest` holds the passages that come closest to it. `is_rewritten` says that
    the person has an answer of their own to the question. `follow_ups` are what they may ask next,
    `claims` its sentences as they were checked against the sources. An answer that
    `is_own_knowledge` is the model's own: nothing in the documents was about the question.
    `remembered` are the earlier answers that were examples for it.
    A question has the `attachments` that it was asked with.
    A message of a copied conversation is the `copy_of` the first one, by its id, that was said.
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
    nearest: tuple[SourceRef, ...] = ()
    notes: SearchNotes | None = None
    feedback: Feedback = Feedback.NONE
    is_rewritten: bool = False
    follow_ups: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    is_own_knowledge: bool = False
    remembered: tuple[PastAnswer, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    copy_of: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread of messages; `updated_at` orders the list, below those that are pinned.

    It remembers what was asked last, and of which assistant, "" for none.
    """

    conversation_id: str
    title: str
    collection_id: str
    updated_at: float
    is_pinned: bool = False
    assistant_id: str = ""


@dataclass(frozen=True, slots=True)
class QuestionStored:
    """The question is safe on disk; `conversation` is new when none was given."""

    conversation: Conversation
    message: Message


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """Retrieval is done: these numbered sources go into the prompt.

    `notes` says what the search made of the question, if there is anything to say. Where nothing
    was found and the model may answer all the same, it does so from its own knowledge.
    """

    sources: tuple[SourceRef, ...]
    notes: SearchNotes | None = None
    is_own_knowledge: bool = False


@dataclass(frozen=True, slots=True)
class FileAsked:
    """A file is asked by itself, after `done` of `total`, of which `found` had something."""

    done: int
    total: int
    found: int
    title: str


@dataclass(frozen=True, slots=True)
class AnswerWaits:
    """Nothing comes just now; `reason` says in a sentence what is waited for."""

    reason: str


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


@dataclass(frozen=True, slots=True)
class AnswerChanged:
    """More is known of an answer that stands: it is stored and takes the place of the former."""

    message: Message


AnswerEvent = (
    QuestionStored | FileAsked | SourcesFound | AnswerWaits | ThinkingDelta | TextDelta | AnswerDone
)
