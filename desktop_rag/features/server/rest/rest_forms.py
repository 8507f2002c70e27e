"""What the REST API takes: the bodies, queries and paths of its requests, and its operations.

They check requests and make the OpenAPI document, so the two can't differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.values.access_values import USUAL_ALGORITHMS, Algorithm

_LARGEST = 2**53

Name = Annotated[str, Field(min_length=1, max_length=200)]
OwnId = Annotated[
    str, Field(min_length=1, max_length=512, description="The id in the application.")
]
Application = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=r"\S",
        description="The name of the application, as the window shows it. Ids are its own.",
    ),
]
Language = Annotated[str, Field(pattern=r"^([a-z]{2})?$", description="Two letters, as `en`.")]
Address = Annotated[
    str,
    Field(max_length=2048, pattern=r"^(https?://[^\s<>\"]+)?$", description="Sources link to it."),
]
Whole = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
Value = Annotated[str, Field(max_length=2000)] | bool | Whole | Number
Key = Annotated[str, Field(min_length=1, max_length=100)]
Metadata = Annotated[
    dict[Key, Value], Field(max_length=50, description="What the application wants to filter by.")
]
Id = Annotated[str, Field(min_length=1, max_length=100)]
Offset = Annotated[int, Field(ge=0, le=10_000_000)]
PageSize = Annotated[int, Field(ge=1, le=500)]
Title = Annotated[str, Field(max_length=1000)]
FileName = Annotated[str, Field(max_length=255)]
Text = Annotated[str, Field(min_length=1, max_length=4_000_000)]


class Form(BaseModel):
    """Fields that are not declared are refused."""

    model_config = ConfigDict(extra="forbid")


# --- paths ----------------------------------------------------------------------------------------


class CollectionPath(Form):
    """A collection by its id."""

    collection_id: Id


class OwnPath(CollectionPath):
    """A document by the id of its application."""

    own_id: OwnId


class RoundPath(CollectionPath):
    """A round of sending."""

    number: Annotated[int, Field(ge=1, le=_LARGEST)]


class SourcePath(CollectionPath):
    """A source of a collection."""

    source_id: Id


class DocumentPath(Form):
    """A document by its id in the library."""

    document_id: Id


class ChunkPath(DocumentPath):
    """A chunk by its place in the document, from 0."""

    position: Annotated[int, Field(ge=0, le=_LARGEST)]


class PromptPath(Form):
    """A saved prompt by its name."""

    name: Annotated[str, Field(min_length=1, max_length=100)]


class ModelPath(Form):
    """A model on the server's computer, by its name or a part of it."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


class ConversationPath(Form):
    """A stored conversation."""

    conversation_id: Id


# --- collections ----------------------------------------------------------------------------------


class Chunking(Form):
    """How documents become passages. `max_tokens` 0 means the limit of the embedding model."""

    method: Literal["structure", "tokens", "words"] = "structure"
    max_tokens: Annotated[int, Field(ge=0, le=8192)] = 0
    overlap_tokens: Annotated[int, Field(ge=0, le=128)] = 16


class Access(Form):
    """The application that decides which of its users may read what in a collection."""

    key: Annotated[
        str,
        Field(
            max_length=100_000,
            description="The public key of the users' tokens, PEM or JWKS; empty keeps the known.",
        ),
    ] = ""
    algorithms: Annotated[list[Algorithm], Field(min_length=1)] = list(USUAL_ALGORITHMS)
    issuer: Annotated[str, Field(min_length=1, max_length=1000)]
    audience: Annotated[str, Field(min_length=1, max_length=1000)]
    address: Annotated[str, Field(max_length=2000, description="Asked what a user may read.")]


Embedder = Annotated[
    str,
    Field(
        max_length=2000,
        description="A model that another collection uses already: a folder, or the address of an"
        ' endpoint with # and a model. "" is the model of the settings, "bundled:multilingual" the'
        " bundled one for many languages.",
    ),
]


class NewCollection(Form):
    """A collection to be made."""

    name: Name
    chunking: Chunking | None = None
    embedder: Embedder | None = None


class CollectionChange(Form):
    """What is to change; what is left out stays."""

    name: Name | None = None
    chunking: Chunking | None = None
    embedder: Embedder | None = None


class Links(Form):
    """Web pages to be fetched; the address of a sitemap stands for the pages it lists."""

    urls: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=2048)]],
        Field(min_length=1, max_length=100),
    ]
    page_limit: Annotated[int, Field(ge=1, le=10_000)] = 100
    refresh_hours: Annotated[float, Field(ge=0, le=8760, allow_inf_nan=False)] = 24.0


# --- documents ------------------------------------------------------------------------------------


class Described(Form):
    """What an application says of a document."""

    title: Title = ""
    language: Language = ""
    address: Address = ""


class SentText(Described):
    """A document as text. `name` is a file name to be shown."""

    text: Text
    format: Literal["text", "markdown", "html"] = "text"
    name: FileName = ""
    metadata: Metadata = Field(default_factory=dict[Key, Value])


class PutDocument(SentText):
    """A document to be kept in step."""

    application: Application = "api"


class NewDocument(PutDocument):
    """A document to be added; without an `id` it gets one."""

    id: OwnId | None = None


class BulkDocument(SentText):
    """One of many documents."""

    id: OwnId


class Bulk(Form):
    """Documents to be kept in step, and ids to be deleted, in one request."""

    application: Application = "api"
    documents: Annotated[list[BulkDocument], Field(max_length=500)] = Field(
        default_factory=list[BulkDocument]
    )
    delete: Annotated[list[OwnId], Field(max_length=10_000)] = Field(default_factory=list[OwnId])


class DocumentChange(Form):
    """What is to change of a sent document; what is left out stays."""

    title: Title | None = None
    language: Language | None = None
    address: Address | None = None
    metadata: Metadata | None = None


class UploadQuery(Described):
    """What is said of an uploaded file; the end of `name` tells its format."""

    name: Annotated[str, Field(min_length=1, max_length=255)]
    application: Application = "api"


class ApplicationQuery(Form):
    """Whose documents are meant."""

    application: Application = "api"


class Round(Form):
    """Whose documents are meant."""

    application: Application = "api"


class Page(Form):
    """A part of a list."""

    offset: Offset = 0
    limit: PageSize = 100


State = Literal[
    "waiting", "reading", "searchable by words", "searchable", "skipped", "failed", "offline",
    "gone",
]  # fmt: skip


class DocumentsQuery(Page):
    """Which documents are listed. `metadata` is `key=value`, `text` is a part of the title."""

    collection_id: Id | None = None
    application: Application | None = None
    state: State | None = None
    language: Language | None = None
    format: Annotated[str, Field(max_length=50)] | None = None
    title: Title | None = None
    metadata: Annotated[str, Field(max_length=2200, pattern=r"^[^=]+=")] | None = None


class TextQuery(Form):
    """A part of a text, in characters."""

    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=1_000_000)] = 200_000


# --- asking ---------------------------------------------------------------------------------------

Question = Annotated[str, Field(min_length=1, max_length=50_000, pattern=r"\S")]
Ids = Annotated[list[Id], Field(min_length=1, max_length=1000)]


class Search(Form):
    """What is searched, and where. The query may have filters, as in the window."""

    query: Question
    mode: Literal["hybrid", "lexical", "dense"] = "hybrid"
    collection_ids: Ids | None = None
    document_ids: Ids | None = None
    application: Application | None = None
    language: Language | None = None
    format: Annotated[str, Field(max_length=50)] | None = None
    metadata: Metadata | None = None
    offset: Annotated[int, Field(ge=0, le=500)] = 0
    limit: Annotated[int, Field(ge=1, le=100)] = 10


class Turn(Form):
    """An earlier turn of a conversation that is not stored here."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=200_000)]


class Ask(Form):
    """A question. `conversation` is "new", or the id of a stored one that it continues.

    `collection_ids` limits what is read, as `document_ids` does.
    """

    question: Question
    model: Annotated[str, Field(min_length=1, max_length=300)] | None = None
    collection_id: Id | None = None
    collection_ids: Ids | None = None
    document_ids: Ids | None = None
    history: Annotated[list[Turn], Field(max_length=200)] = Field(default_factory=list[Turn])
    instructions: Annotated[str, Field(max_length=32_000)] = ""
    conversation: Id | None = None
    stream: bool = False


class PromptText(Form):
    """The text of a prompt; {{name}} is a gap to be filled in."""

    text: Annotated[str, Field(min_length=1, max_length=20_000, pattern=r"\S")]


class ModelName(Form):
    """The name of a model, or a part of it."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class Opinion(Form):
    """An opinion of an answer: of a stored one by its id, or of any by its question and text.

    The latter is stored with it. `rewrite` is the answer as it should have been.
    """

    answer_id: Id | None = None
    question: Question | None = None
    answer: Annotated[str, Field(min_length=1, max_length=200_000)] | None = None
    opinion: Literal["like", "dislike", "none"]
    rewrite: Annotated[str, Field(min_length=1, max_length=200_000, pattern=r"\S")] | None = None


class Nothing(Form):
    """Nothing."""


_Kind = TypeVar("_Kind", bound=Form)
Result = dict[str, Any] | tuple[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Given:
    """The checked parts of a request. `content` is the body of one that takes a file."""

    path: Form
    query: Form
    body: Form
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Operation:
    """What may be asked, by whom, and how it is answered; `run` works on a worker thread.

    `statuses` are those of success, the usual one first. `run` is None for an answer in a stream.
    """

    method: str
    path: str
    name: str
    summary: str
    scope: TokenScope
    answer: type[BaseModel]
    run: Callable[[Caller, Given], Result] | None
    path_form: type[Form] = Nothing
    query: type[Form] = Nothing
    body: type[Form] = Nothing
    takes_file: bool = False
    statuses: tuple[int, ...] = (200,)

    @property
    def tag(self) -> str:
        """The group that it is shown in: the first part of its path."""
        return self.path.strip("/").split("/")[0]

    @property
    def has_body(self) -> bool:
        """True when it takes fields as JSON."""
        return self.body is not Nothing


def as_kind(form: Form, kind: type[_Kind]) -> _Kind:
    """The form, which was checked against this declaration."""
    assert isinstance(form, kind), "the table names the form"
    return form
