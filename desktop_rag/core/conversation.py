"""Conversations, messages, and the events of an answer in progress. Frozen values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from desktop_rag.core.claims import Claim
from desktop_rag.core.domain import Passage
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.records import LONGEST_LABEL, LONGEST_PATH, Count, Id, Offset, Record, Within


class AttachmentKind(StrEnum):
    """The form in which a model receives an attachment."""

    FILE = "file"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Image:
    """An image as it is sent to a model: its MIME type, such as `image/png`, and its bytes."""

    mime: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Attachment(Record):
    """A file or image attached to a chat.

    Its text is stored as the document `document_id`, with `words` words on `pages` pages (0 for
    formats without pages). The id is empty for an image without text and in an imported
    conversation.
    """

    attachment_id: Id
    name: Annotated[str, Within(0, LONGEST_LABEL)]
    kind: AttachmentKind = AttachmentKind.FILE
    document_id: Annotated[str, Within(0, LONGEST_PATH)] = ""
    words: Count = 0
    pages: Count = 0

    @property
    def has_text(self) -> bool:
        """True when there is text that an answer can cite."""
        return bool(self.document_id)

    def extent(self) -> str:
        """Its size in words: `3 pages · 1,204 words`."""
        parts = [_count(self.pages, "page"), _count(self.words, "word")]
        is_image = self.kind is AttachmentKind.IMAGE
        return " · ".join(["image"] * is_image + [part for part in parts if part])


def in_words(attachments: Sequence[Attachment]) -> str:
    """All attachments on one line: `Attached: lease.pdf (3 pages · 1,204 words)`; "" for none."""
    told = [f"{' '.join(a.name.split())} ({a.extent()})" for a in attachments]
    return f"Attached: {', '.join(told)}" if told else ""


def sees_no_images(model: str) -> AppError:
    """The error for a model without image input, with the ways out."""
    return AppError(
        f"{model} sees no images.",
        "Choose another model above the chat, or remove the image and ask again.",
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}" if number else ""


# Heading above passages shown although none seems relevant to the question.
NEAREST = "Nearest, but probably not about it"
# Label of an answer that is based on no document.
OWN_KNOWLEDGE = "not from your documents"
_MOST_LISTED = 4


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A numbered source of one answer, stored with the message as it was shown.

    `quote` holds the words of the passage that support the citing sentence, at [start, end) of the
    document's text; it is empty unless the source is cited. `also_in` lists other places with the
    same text, as paths or addresses. `document_id` is empty for a document outside the library.
    With a `query`, a SELECT over the document's tables, `text` is the result and [start, end)
    covers the rows it is based on.
    """

    n: Count
    document_id: Annotated[str, Within(0, LONGEST_PATH)] = ""
    path: Annotated[str, Within(0, LONGEST_PATH)] = ""
    title: str = ""
    anchor: Anchor = field(default_factory=Anchor)
    text: str = ""
    score: float = 0.0
    quote: str = ""
    start: Offset = 0
    end: Offset = 0
    is_cited: bool = False
    part: str = ""
    url: str = ""
    also_in: tuple[str, ...] = ()
    query: str = ""

    @property
    def is_in_library(self) -> bool:
        """True when the library has, or had, the document."""
        return bool(self.document_id)

    @property
    def passage(self) -> tuple[object, ...]:
        """What it shares with a source that quotes the same passage for another sentence."""
        return self.document_id, self.path, self.part, self.anchor, self.text, self.query

    @property
    def where(self) -> str:
        """The title, the place in the document, and its path or address, on one line."""
        parts = (self.title, self.part, self.anchor.label(), self.url or self.path)
        return ", ".join(dict.fromkeys(part for part in parts if part))

    def narrowed(self, start: int, end: int) -> "SourceRef":
        """The source with [start, end) of its passage as the quote; a query result is unchanged."""
        if self.query:
            return self
        passage_start = self.start - max(0, self.text.find(self.quote))
        return replace(
            self, quote=self.text[start:end], start=passage_start + start, end=passage_start + end
        )


@dataclass(frozen=True, slots=True)
class FileCounts:
    """The number of files that match a question, and of those that were read for its answer.

    An answer that counts reads more files than match. With a `total`, each of so many files was to
    be asked separately, and `read` of them were.
    """

    matched: Count
    read: Count
    total: Count = 0

    def in_words(self) -> str:
        """A phrase: `Passages of 4 files were read`; `6 of 91 files asked, 4 matched`."""
        if self.total:
            return tr(
                "{read:,} of {files} asked, {matched:,} matched",
                read=self.read,
                files=count_of(self.total, tr("file"), tr("files")),
                matched=self.matched,
            )
        files = count_of(self.read, tr("file"), tr("files"))
        if self.read > self.matched > 0:
            return tr("{files} were read, {fit:,} with a match", files=files, fit=self.matched)
        return tr("Passages of {files} were read", files=files) if self.read else tr("No file fits")


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """What a model did before it answered, in a phrase, and the numbers of what it found."""

    said: str
    sources: tuple[int, ...] = ()

    def to_json(self) -> list[str | int]:
        """The phrase, then the numbers."""
        return [self.said, *self.sources]

    @classmethod
    def from_json(cls, value: Any) -> "AnswerStep":  # noqa: ANN401  a value of JSON
        """The inverse of `to_json`."""
        said, *sources = value
        return cls(str(said), tuple(map(int, sources)))


@dataclass(frozen=True, slots=True)
class SearchNotes(Record):
    """How the search interpreted a question.

    `asked` is the standalone form of a follow-up question, else empty. `repaired` pairs each
    misspelt word with the word searched for. `filters` describes the filters, without a full stop;
    `searched` counts the passages left after filtering. `hints` are sentences about other possible
    meanings. `files` is None when files were not counted. `scope` names the only files that were
    read. `rails` has a line for each event of the assistant's rails, `proposal` the id of the
    command they propose. `steps` are what the model looked up beside the first search, `unbacked`
    the sentences of a weak model that no source has. Excerpts that are `is_unsure` may not be about
    the question.
    """

    is_brief: ClassVar = True
    needed: ClassVar = frozenset({"repaired", "filters", "searched"})
    repaired: tuple[tuple[str, str], ...] = ()
    filters: str = ""
    searched: Count = 0
    hints: tuple[str, ...] = ()
    asked: str = ""
    files: FileCounts | None = None
    scope: tuple[str, ...] = ()
    rails: tuple[str, ...] = ()
    proposal: str = ""
    steps: tuple[AnswerStep, ...] = ()
    unbacked: tuple[str, ...] = ()
    is_unsure: bool = False

    def in_words(self) -> str:
        """Plain sentences on one line; empty when the question was taken literally."""
        repairs = [
            tr("“{used}” instead of “{written}”", used=used, written=written)
            for written, used in self.repaired
        ]
        names = _listed(self.scope) if self.scope else ""
        said = [tr("Searched only in {names}.", names=names)] if names else []
        said += [tr("Understood as “{asked}”.", asked=self.asked)] if self.asked else []
        said += [tr("Searched for {repairs}.", repairs=", ".join(repairs))] if repairs else []
        if self.filters:
            said.append(self.filters + ("." if self.searched else ": nothing was found there."))
        return " ".join(" ".join([*said, *self.hints]).split())

    def repair(self, text: str) -> str:
        """The text with misspelt words replaced by the words searched for."""
        used = dict(self.repaired)
        whole_words = "|".join(map(re.escape, used))
        return re.sub(rf"(?<!\w)(?:{whole_words})(?!\w)", lambda m: used.get(m[0], m[0]), text)


def _listed(names: tuple[str, ...]) -> str:
    """The names in a sentence: `a.md, b.md and 3 others`."""
    if len(names) > _MOST_LISTED:
        others = tr("{count:,} others", count=len(names) - _MOST_LISTED + 1)
        names = (*names[: _MOST_LISTED - 1], others)
    *first, last = names
    return tr("{first} and {last}", first=", ".join(first), last=last) if first else last


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages found, best first, with notes on the query if there are any.

    `matching` lists the chunks of all passages that seem relevant. When there are none,
    `is_relevant` is False and `passages` holds the nearest ones.
    """

    passages: tuple[Passage, ...]
    notes: SearchNotes | None
    is_relevant: bool
    matching: tuple[int, ...] = ()


class Role(StrEnum):
    """The speaker of a message."""

    USER = "user"
    ASSISTANT = "assistant"


class MessageState(StrEnum):
    """The outcome of a message. One is cut when the app ended while it was being written."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    CUT = "cut"


class Feedback(StrEnum):
    """The person's opinion of an answer."""

    NONE = ""
    LIKED = "liked"
    DISLIKED = "disliked"


@dataclass(frozen=True, slots=True)
class GivenFeedback:
    """One entry of the log of feedback, with the conversation and the model of the answer."""

    noted_at: float
    feedback: Feedback
    conversation_id: str
    model: str


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """An earlier answer used as an example: its id and the question it answered."""

    interaction_id: str
    question: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. `model` is empty for the person's turns and for excerpts, unless
    a weak model has added to them.

    A failed or cut answer has `error_title` and `error_hint`, and in `text` the part received
    before. Without a relevant passage, `sources` is empty and `nearest` holds the closest ones.
    `is_rewritten` marks a question for which the person wrote an answer. With `is_own_knowledge`
    the model answered without documents. `remembered` lists the earlier answers given as examples.
    A question keeps its `attachments` and its `scope`; an answer has a scope only if it was to be
    without documents. `copy_of` is the id of the original in a copied conversation. With
    `is_unstored` the disk was full, and the message waits in memory.
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
    is_unstored: bool = False
    scope: QuestionScope = ALL_DOCUMENTS

    @property
    def text_with_sources(self) -> str:
        """The Markdown of an answer with a line for each cited source, to paste elsewhere."""
        cited = [f"[{source.n}] {source.where}" for source in self.sources if source.is_cited]
        return "\n\n".join(filter(None, [self.text, "  \n".join(cited)]))

    @property
    def is_of_every_file(self) -> bool:
        """True for an answer that asked each file separately."""
        return bool(self.notes and self.notes.files and self.notes.files.total)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread of messages. The store keeps the order of the list; `updated_at` is only shown.

    The last collection and assistant are remembered, "" for none. `kept_by` is the id of the token
    of the program it belongs to, "" for the person, whose are those of the TERMINAL and in MEMORY
    too.
    """

    conversation_id: str
    title: str
    collection_id: str
    updated_at: float
    is_pinned: bool = False
    assistant_id: str = ""
    kept_by: str = ""


# What keeps the conversations that were begun in a terminal.
TERMINAL = "terminal"
# What keeps those that are never stored: they end with the app.
MEMORY = "memory"
# In characters.
LONGEST_TITLE = 60


def plain_title(question: str) -> str:
    """The title of a new conversation: the first words of its question."""
    title = " ".join(question.split())
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class QuestionStored:
    """The question is stored; `conversation` is new when none was given."""

    conversation: Conversation
    message: Message


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """Retrieval is done: these numbered sources go into the prompt.

    `notes` describes the interpretation of the question, if there is anything to say. With
    `is_own_knowledge` nothing was found and the model answers from its own knowledge.
    """

    sources: tuple[SourceRef, ...]
    notes: SearchNotes | None = None
    is_own_knowledge: bool = False


@dataclass(frozen=True, slots=True)
class FileAsked:
    """One file is being asked; `done` of `total` are finished, `found` had something to say."""

    done: int
    total: int
    found: int
    title: str


@dataclass(frozen=True, slots=True)
class StepTaken:
    """The model looked something up; `sources` are all of the answer now, `notes` its steps."""

    step: AnswerStep
    sources: tuple[SourceRef, ...]
    notes: SearchNotes


@dataclass(frozen=True, slots=True)
class AnswerWaits:
    """The answer is on hold; `reason` explains in a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of the model's reasoning, kept apart from the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer; its citations are in one form, but not validated yet."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerRestated:
    """The whole answer so far and its thinking, replacing what was shown of them."""

    text: str
    thinking: str


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The stored answer: unknown citations removed, known ones located. The last event.

    The message's state says if it was finished, stopped or failed (with title and hint).
    """

    message: Message


@dataclass(frozen=True, slots=True)
class AnswerChanged:
    """An update to a finished answer, stored in place of the previous version."""

    message: Message


@dataclass(frozen=True, slots=True)
class ChatTitled:
    """A model gave a conversation its title, replacing the first words of its question."""

    conversation: Conversation


@dataclass(frozen=True, slots=True)
class ModelCheckOffered:
    """A remote model could read the sentences of this answer that words leave open.

    One request as estimated: `tokens` in and out, and the `cost` in the currency of the prices, 0
    where none are known. The person was not asked yet.
    """

    answer: Message
    model: str
    host: str
    tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class MessagesStored:
    """The messages with these ids, which waited for disk space, are stored now."""

    message_ids: frozenset[str]


AnswerEvent = (
    QuestionStored
    | FileAsked
    | SourcesFound
    | AnswerWaits
    | StepTaken
    | ThinkingDelta
    | TextDelta
    | AnswerRestated
    | AnswerDone
)


class InteractionOutcome(StrEnum):
    """The outcome of an interaction."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    NOTHING_FOUND = "nothing found"


@dataclass(frozen=True, slots=True)
class Interaction:
    """A question with its answer as remembered for later; its id is that of the answer's message.

    `asked` is the standalone form of the question; `model` is empty for excerpts.
    `has_several_steps` marks answers assembled from several files or parts.
    """

    interaction_id: str
    conversation_id: str
    question: str
    asked: str
    answer: str
    outcome: InteractionOutcome
    ended_at: float
    model: str = ""
    has_several_steps: bool = False
    assistant_id: str = ""
    feedback: Feedback = Feedback.NONE


def outcome_of(answer: Message) -> InteractionOutcome:
    """The outcome of an answer. Without a single citation it counts as nothing found."""
    if answer.state in (MessageState.STOPPED, MessageState.CUT):
        return InteractionOutcome.STOPPED
    if answer.state is MessageState.FAILED:
        return InteractionOutcome.FAILED
    is_backed = any(source.is_cited for source in answer.sources)
    return InteractionOutcome.DONE if is_backed else InteractionOutcome.NOTHING_FOUND
