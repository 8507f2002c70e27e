"""What the REST API answers with. Declarations: each response is checked against its own."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from desktop_rag.features.server.rest.rest_forms import Chunking, Value


class Answered(BaseModel):
    """What is not declared can't be answered."""

    model_config = ConfigDict(extra="forbid")


class CollectionAnswer(Answered):
    """A collection. `answering_model` is the one whose vectors are searched now."""

    id: str
    name: str
    chunking: Chunking
    embedder: str
    answering_model: str
    documents: int
    states: dict[str, int]
    applications: list[str]


class CollectionList(Answered):
    """The collections that the token may read."""

    collections: list[CollectionAnswer]


class AccessAnswer(Answered):
    """The application that decides about the readers of a collection, without its key."""

    collection_id: str
    algorithms: list[str]
    issuer: str
    audience: str
    address: str


class DocumentAnswer(Answered):
    """A document without its text. `url` opens it: its address, or its page on this server."""

    id: str
    own_id: str | None
    application: str | None
    collection_id: str
    title: str
    url: str
    address: str
    path: str
    part: str
    parent_id: str
    format: str
    language: str
    metadata: dict[str, Value]
    tags: list[str]
    dated: str
    state: str
    reason: str
    chunks: int
    size_bytes: int
    indexed_at: float
    sent_at: float | None


class DocumentList(Answered):
    """A part of a list of documents."""

    documents: list[DocumentAnswer]
    total: int
    next_offset: int | None


class TakenAnswer(Answered):
    """A document that was taken in; `state_url` tells when it is searchable."""

    id: str
    own_id: str
    outcome: str
    state_url: str


class BulkAnswer(Answered):
    """What became of each document, and the ids of those that were deleted."""

    documents: list[TakenAnswer]
    deleted: list[str]


class DeletedAnswer(Answered):
    """The ids of what was deleted."""

    deleted: list[str]


class RoundAnswer(Answered):
    """A round of sending that began."""

    round: int


class SourceAnswer(Answered):
    """A folder, links, or what an application sends."""

    id: str
    kind: str
    name: str
    state: str
    documents: int
    refreshed_at: float | None


class SourceList(Answered):
    """The sources of a collection."""

    sources: list[SourceAnswer]


class TextAnswer(Answered):
    """A part of the text of a document."""

    id: str
    text: str
    offset: int
    total_chars: int
    next_offset: int | None


class ChunkAnswer(Answered):
    """A chunk: the characters [start, end) of the text. `next` and `previous` are positions."""

    document_id: str
    position: int
    start: int
    end: int
    text: str
    context: str
    place: str
    previous: int | None
    next: int | None


class ChunkList(Answered):
    """A part of the chunks of a document."""

    chunks: list[ChunkAnswer]
    total: int
    next_offset: int | None


class FoundPassage(Answered):
    """A passage: the characters [start, end) of the text of its document."""

    document_id: str
    own_id: str | None
    application: str | None
    title: str
    url: str
    text: str
    place: str
    start: int
    end: int
    score: float
    relevance: float
    metadata: dict[str, Value]


class SearchAnswer(Answered):
    """The best passages, the best first."""

    results: list[FoundPassage]
    next_offset: int | None


class Citation(Answered):
    """A [n] in the text, and the address of its source."""

    type: str
    url: str
    title: str
    start_index: int
    end_index: int


class AskAnswer(Answered):
    """An answer. `sources` and `claims` are as in `desktop_rag` of the chat completions."""

    answer_id: str
    conversation_id: str | None
    model: str
    text: str
    annotations: list[Citation]
    sources: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    follow_ups: list[str]
    matched: int | None
    read: int | None
    notes: str
    is_excerpts: bool
    is_own_knowledge: bool
    state: str


class PromptAnswer(Answered):
    """A saved prompt."""

    name: str
    text: str


class PromptList(Answered):
    """The saved prompts."""

    prompts: list[PromptAnswer]


class FeedbackAnswer(Answered):
    """The answer that the opinion belongs to now."""

    answer_id: str
    opinion: str
    is_rewritten: bool


class MessageAnswer(Answered):
    """A question, or an answer with its sources."""

    id: str
    role: str
    text: str
    created_at: float
    state: str
    opinion: str
    sources: list[dict[str, Any]]
    follow_ups: list[str]


class ConversationAnswer(Answered):
    """A stored conversation without its messages."""

    id: str
    title: str
    updated_at: float


class ConversationList(Answered):
    """The conversations that are stored for the token."""

    conversations: list[ConversationAnswer]
    total: int
    next_offset: int | None


class WholeConversation(ConversationAnswer):
    """A stored conversation."""

    messages: list[MessageAnswer]


class Fault(Answered):
    """A document that could not be read."""

    id: str
    title: str
    reason: str


class LocalModelAnswer(Answered):
    """A model on the server's computer; speeds in tokens a second, 0 before it was first loaded."""

    name: str
    program: str
    size_gb: float
    quantisation: str
    context_tokens: int
    licence: str
    fits: bool
    is_fetched: bool
    is_used: bool
    read_per_s: float
    written_per_s: float


class OfferedModelAnswer(Answered):
    """A model that can be fetched; `reason` says why it is the one for this computer."""

    name: str
    size_gb: float
    memory_gb: float
    licence: str
    languages: list[str]
    calls_tools: bool
    makes_things_up: bool
    reason: str


class DownloadAnswer(Answered):
    """A download of a model; title and hint say why it failed."""

    name: str
    state: str
    done_bytes: int
    total_bytes: int
    title: str
    hint: str


class LocalModels(Answered):
    """The models that the server's computer runs itself, those to fetch, and the downloads."""

    models: list[LocalModelAnswer]
    offered: list[OfferedModelAnswer]
    downloads: list[DownloadAnswer]


class StatusAnswer(Answered):
    """What is indexed, what waits, and what failed, of what the token may read."""

    version: str
    stage: str
    is_paused: bool
    documents: int
    searchable: int
    waiting: int
    pictures_waiting: int
    failed: int
    states: dict[str, int]
    faults: list[Fault]


class ErrorDetail(BaseModel):
    """Why a request was not answered; `param` names the field at fault."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorAnswer(BaseModel):
    """The one form of errors."""

    error: ErrorDetail
