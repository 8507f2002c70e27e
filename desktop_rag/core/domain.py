"""The words everything else is written in: sources, documents, chunks, passages, answers.

Frozen values and pure functions only, so they can cross threads freely. Offsets are indices into
a document's extracted text, in code points, end exclusive. Times are seconds since the epoch.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

SearchMode = Literal["hybrid", "lexical", "dense"]
HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in a file that a person can go to. Pages, slides and lines count from 1.

    `heading` is the path of headings joined by HEADING_SEPARATOR; `cells` is a range such as
    `A5:D9` on `sheet` (a CSV file has cells and no sheet).
    """

    page: int | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: str | None = None
    heading: str | None = None
    line: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The set fields only, as the command line and the store write them."""
        pairs = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: value for name, value in pairs if value is not None}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Anchor":
        """The inverse of `to_json`. Unknown fields raise TypeError: they are a bug of ours."""
        return cls(**fields)

    def label(self) -> str:
        """The place in words: `page 4`, `Budget!A5:D9`, `Fees › Members`, `line 12`."""
        if self.page is not None:
            return f"page {self.page}"
        if self.slide is not None:
            return f"slide {self.slide}"
        if self.sheet is not None:
            return f"{self.sheet}!{self.cells}" if self.cells else self.sheet
        if self.cells is not None:
            return f"cells {self.cells}"
        if self.heading:
            return self.heading
        return f"line {self.line}" if self.line is not None else ""


@dataclass(frozen=True, slots=True)
class Mark:
    """From `offset` on, until the next mark, the text stands at `anchor`."""

    offset: int
    anchor: Anchor


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the document's outline; its section runs from `offset` (its own line)."""

    offset: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a parser made of one file. Marks and headings are in rising order of offset."""

    format: str
    title: str
    text: str
    marks: tuple[Mark, ...] = ()
    headings: tuple[Heading, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that fits the embedder, with where it stands.

    `text` is exactly document text [start, end). `content_hash` is the hash of what is embedded
    (heading path and text), so equal content needs only one vector.
    """

    position: int
    start: int
    end: int
    text: str
    anchor: Anchor
    heading: str
    content_hash: str

    @property
    def embedded_text(self) -> str:
        """What the embedder sees: the heading path gives a short passage its subject."""
        return embedded_text(self.heading, self.text)


def embedded_text(heading: str, text: str) -> str:
    """The heading path above the passage; only embedded, never stored or shown as the passage."""
    return f"{heading}\n{text}" if heading else text


class DocumentState(StrEnum):
    """Every known file is in exactly one of these."""

    WAITING = "waiting"
    READING = "reading"
    SEARCHABLE_BY_WORDS = "searchable by words"
    SEARCHABLE = "searchable"
    SKIPPED = "skipped"
    FAILED = "failed"
    OFFLINE = "offline"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of sources that is asked as one."""

    collection_id: str
    name: str


class SourceState(StrEnum):
    """Whether a source can be read just now."""

    WATCHED = "watched"
    POLLED = "polled"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class Source:
    """Something the person chose to be searchable: a folder or a single file."""

    source_id: str
    collection_id: str
    path: Path
    added_at: float
    state: SourceState = SourceState.WATCHED


@dataclass(frozen=True, slots=True)
class FileStat:
    """What tells one state of a file from another without reading it."""

    size_bytes: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Document:
    """A known file without its text, as the library page shows it."""

    document_id: str
    source_id: str
    path: Path
    title: str
    format: str
    stat: FileStat
    content_hash: str
    state: DocumentState
    reason: str = ""
    chunk_count: int = 0
    indexed_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Passage:
    """A search result: a piece of a document with its place and score (higher is better)."""

    chunk_id: int
    document_id: str
    path: str
    title: str
    text: str
    anchor: Anchor
    start: int
    end: int
    score: float


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


# --- events of an answer, in the order they come ---------------------------------------------


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


# --- what the library tells --------------------------------------------------------------------


class Stage(StrEnum):
    """What the indexer is doing now."""

    IDLE = "idle"
    SCANNING = "scanning"
    READING = "reading"
    EMBEDDING = "embedding"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """A snapshot of indexing. Fractions are 0..1; `seconds_left` is None while unknown."""

    stage: Stage = Stage.IDLE
    files_total: int = 0
    files_read: int = 0
    chunks_total: int = 0
    chunks_embedded: int = 0
    current_file: str = ""
    fraction: float = 1.0
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """How many documents of a source (or of all) are in each state."""

    by_state: dict[DocumentState, int] = field(default_factory=dict[DocumentState, int])

    @property
    def total(self) -> int:
        """All known files but those that are gone."""
        return sum(n for state, n in self.by_state.items() if state is not DocumentState.GONE)

    def of(self, state: DocumentState) -> int:
        """How many are in this state."""
        return self.by_state.get(state, 0)


@dataclass(frozen=True, slots=True)
class ProgressChanged:
    """Indexing moved on. Sent a few times a second at most."""

    progress: IndexProgress


@dataclass(frozen=True, slots=True)
class DocumentsChanged:
    """The state of these documents changed (or they are new, or gone: then state is GONE)."""

    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class SourcesChanged:
    """A source was added, removed, or went offline or came back."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know that stops nothing: shown until dismissed."""

    title: str
    hint: str = ""


LibraryEvent = ProgressChanged | DocumentsChanged | SourcesChanged | Notice


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """What testing an endpoint found: `models` it offers and whether the chosen one answered."""

    title: str
    hint: str
    is_ok: bool
    models: tuple[str, ...] = ()
    seconds: float = 0.0
