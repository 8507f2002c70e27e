"""Documents that applications send: put, described, deleted, in rounds. Worker threads."""

import uuid
from typing import Annotated, Literal

from pydantic import Field

from desktop_rag.answer.chat import Chat
from desktop_rag.core.crawling import Sending, SentDocument, SentOutcome, Taken
from desktop_rag.core.domain import Document, Source
from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.operations import (
    API,
    LARGEST,
    READ,
    WRITE,
    Answered,
    Application,
    DeletedAnswer,
    Form,
    Id,
    Key,
    Language,
    Metadata,
    OwnId,
    Title,
    Value,
    operation,
)
from desktop_rag.features.server.readable_library import Calls, LinkTo, need_whole_rights
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.document_calls import DocumentAnswer, DocumentCalls
from desktop_rag.ingest.library import Library

# The status of a request whose work is done later, and of one without work.
QUEUED, DONE = 202, 200
_ENDINGS = {"text": ".txt", "markdown": ".md", "html": ".html"}
_LONGEST_NAME = 200
Address = Annotated[
    str,
    Field(max_length=2048, pattern=r"^(https?://[^\s<>\"]+)?$", description="Sources link to it."),
]
FileName = Annotated[str, Field(max_length=255)]
Text = Annotated[str, Field(min_length=1, max_length=4_000_000)]


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


class Whose(Form):
    """Whose documents are meant."""

    application: Application = "api"


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


class RoundAnswer(Answered):
    """A round of sending that began."""

    round: int


Result = tuple[int, TakenAnswer]


class SendingCalls(Calls):
    """Keeps collections in step with the content of applications."""

    def __init__(self, chat: Chat, library: Library, link: LinkTo) -> None:
        super().__init__(chat, library, link)
        self._documents = DocumentCalls(chat, library, link)

    @operation("POST collections/{collection_id}/documents", WRITE, QUEUED, DONE)
    def add_document(self, caller: Caller, collection_id: Id, body: NewDocument) -> Result:
        """Add a text; it is indexed later.

        It gets an id if it has none.
        """
        return self.put_document(caller, collection_id, body.id or uuid.uuid4().hex, body)

    @operation("POST collections/{collection_id}/bulk", WRITE, QUEUED, DONE)
    def put_documents(
        self, caller: Caller, collection_id: Id, body: Bulk
    ) -> tuple[int, BulkAnswer]:
        """Keep many texts in step and delete others."""
        sent = [_sending(each.id, each) for each in body.documents]
        taken = self._take(caller, collection_id, body.application, sent)
        deleted: list[str] = []
        source = self._library.sent.source(collection_id, body.application)
        if source and body.delete:
            deleted = self._library.sent.remove(source.source_id, body.delete)
        results = [_result(each) for each in taken]
        shown = BulkAnswer(documents=[each for _, each in results], deleted=deleted)
        return max((status for status, _ in results), default=DONE), shown

    @operation("PUT collections/{collection_id}/documents/{own_id:path}", WRITE, QUEUED, DONE)
    def put_document(
        self, caller: Caller, collection_id: Id, own_id: OwnId, body: PutDocument
    ) -> Result:
        """Keep a text in step; equal content is not indexed again."""
        [taken] = self._take(caller, collection_id, body.application, [_sending(own_id, body)])
        return _result(taken)

    @operation("GET collections/{collection_id}/documents/{own_id:path}", READ)
    def get_own_document(
        self, caller: Caller, collection_id: Id, own_id: OwnId, query: Whose
    ) -> DocumentAnswer:
        """Show a document by the application's id."""
        self._readable.collection(caller, collection_id)
        _, sent = self._find(collection_id, own_id, query.application)
        return self._documents.get_document(caller, sent.document_id)

    @operation("DELETE collections/{collection_id}/documents/{own_id:path}", WRITE)
    def delete_own_document(
        self, caller: Caller, collection_id: Id, own_id: OwnId, query: Whose
    ) -> DeletedAnswer:
        """Delete a document by the application's id."""
        self._readable.writable(caller, collection_id)
        source_id, sent = self._find(collection_id, own_id, query.application)
        self._library.sent.remove(source_id, [own_id])
        return DeletedAnswer(deleted=[sent.document_id])

    @operation("PUT collections/{collection_id}/files/{own_id:path}", WRITE, QUEUED, DONE)
    def put_file(
        self, caller: Caller, collection_id: Id, own_id: OwnId, query: UploadQuery, content: bytes
    ) -> Result:
        """Keep a file in step; the body is its content."""
        if not content:
            raise Refusal(400, "The file is empty.", code="empty_file")
        said = query
        sending = Sending(own_id, content, said.name, said.title, said.language, said.address)
        [taken] = self._take(caller, collection_id, said.application, [sending])
        return _result(taken)

    @operation("POST collections/{collection_id}/rounds", WRITE, 201)
    def begin_round(self, caller: Caller, collection_id: Id, body: Whose) -> RoundAnswer:
        """Begin to send everything that is to stay."""
        self._readable.writable(caller, collection_id)
        return RoundAnswer(round=self._library.sent.begin_round(collection_id, body.application))

    @operation("POST collections/{collection_id}/rounds/{number}/end", WRITE)
    def end_round(
        self,
        caller: Caller,
        collection_id: Id,
        number: Annotated[int, Field(ge=1, le=LARGEST)],
        body: Whose,
    ) -> DeletedAnswer:
        """Delete what was not sent since the round began."""
        self._readable.writable(caller, collection_id)
        source = self._library.sent.source(collection_id, body.application)
        if source is None:
            raise Refusal(404, "There is no such application.", code="no_such_application")
        try:
            return DeletedAnswer(deleted=self._library.sent.end_round(source.source_id, number))
        except AppError as error:
            raise Refusal.of_error(error, 409, code="not_the_last_round") from error

    @operation("PATCH documents/{document_id}", WRITE, QUEUED, DONE)
    def describe_document(self, caller: Caller, document_id: Id, body: DocumentChange) -> Result:
        """Change what is said of a sent document.

        Its content stays.
        """
        document, source, sent = self._sent(caller, document_id, "changed")
        given = body.model_dump(exclude_none=True)
        sending = Sending(
            sent.own_id, self._library.sent.content(document), sent.name,
            given.get("title", sent.title), given.get("language", sent.language),
            given.get("address", sent.url), given.get("metadata", sent.metadata),
        )  # fmt: skip
        [taken] = self._take(caller, source.collection_id, source.program, [sending])
        return _result(taken)

    @operation("DELETE documents/{document_id}", WRITE)
    def delete_document(self, caller: Caller, document_id: Id) -> DeletedAnswer:
        """Delete a sent document."""
        _, source, sent = self._sent(caller, document_id, "deleted")
        self._library.sent.remove(source.source_id, [sent.own_id])
        return DeletedAnswer(deleted=[document_id])

    def _sent(
        self, caller: Caller, document_id: str, done: str
    ) -> tuple[Document, Source, SentDocument]:
        """A document that an application sent; refuses any other, which can't be `done` so."""
        need_whole_rights(caller)
        document, source = self._readable.document(caller, document_id)
        sent = self._library.sent.find(document)
        if sent is None or document.parent_id:
            said = f"Only what an application sent can be {done} here."
            raise Refusal(409, said, code="not_sent")
        return document, source, sent

    def _take(
        self, caller: Caller, collection_id: str, application: str, sent: list[Sending]
    ) -> list[Taken]:
        self._readable.writable(caller, collection_id)
        return list(self._library.sent.take(collection_id, application, sent)) if sent else []

    def _find(self, collection_id: str, own_id: str, application: str) -> tuple[str, SentDocument]:
        """The source of a document, and the document as it was sent."""
        source = self._library.sent.source(collection_id, application)
        sent = self._library.sent.of(source.source_id).get(own_id) if source else None
        if source is None or sent is None:
            raise Refusal(404, "There is no such document.", code="no_such_document")
        return source.source_id, sent


def _sending(own_id: str, sent: SentText) -> Sending:
    ending = _ENDINGS[sent.format]
    name = (sent.name or own_id).replace("/", "-")[:_LONGEST_NAME]
    named = name if name.lower().endswith(ending) else f"{name}{ending}"
    return Sending(
        own_id, sent.text.encode(), named, sent.title, sent.language, sent.address, sent.metadata
    )


def _result(taken: Taken) -> Result:
    document = taken.document
    shown = TakenAnswer(
        id=document.document_id,
        own_id=document.own_id,
        outcome=taken.outcome.value,
        state_url=f"{API}/documents/{document.document_id}",
    )
    return DONE if taken.outcome is SentOutcome.SAME else QUEUED, shown
