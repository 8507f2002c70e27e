"""Documents that applications send: put, described, deleted, in rounds. Worker threads."""

import uuid
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.core.sent_document import Sending, SentOutcome, Taken
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.document_calls import DocumentCalls
from desktop_rag.features.server.rest.readable_library import ReadableLibrary, need_whole_rights
from desktop_rag.features.server.rest.rest_forms import (
    Bulk,
    DocumentChange,
    NewDocument,
    PutDocument,
    SentText,
    UploadQuery,
)
from desktop_rag.ingest.library import Library

# The status of a request whose work is done later, and of one without work.
QUEUED, DONE = 202, 200
_ENDINGS = {"text": ".txt", "markdown": ".md", "html": ".html"}
_LONGEST_NAME = 200
Result = tuple[int, dict[str, Any]]


class SendingCalls:
    """Keeps collections in step with the content of applications."""

    def __init__(
        self, library: Library, readable: ReadableLibrary, documents: DocumentCalls
    ) -> None:
        self._library = library
        self._readable = readable
        self._documents = documents

    def add(self, caller: Caller, collection_id: str, new: NewDocument) -> Result:
        """Take in a text, under an id of its own if it has none."""
        return self.put(caller, collection_id, new.id or uuid.uuid4().hex, new)

    def put(self, caller: Caller, collection_id: str, own_id: str, sent: PutDocument) -> Result:
        """Take in a text under its id, in place of an earlier one."""
        [taken] = self._take(caller, collection_id, sent.application, [_sending(own_id, sent)])
        return _status(taken), _taken_json(taken)

    def upload(
        self, caller: Caller, collection_id: str, own_id: str, said: UploadQuery, content: bytes
    ) -> Result:
        """Take in a file under its id, in place of an earlier one."""
        if not content:
            raise Refusal(400, "The file is empty.", code="empty_file")
        sending = Sending(own_id, content, said.name, said.title, said.language, said.address)
        [taken] = self._take(caller, collection_id, said.application, [sending])
        return _status(taken), _taken_json(taken)

    def bulk(self, caller: Caller, collection_id: str, bulk: Bulk) -> Result:
        """Take in many texts, and delete others."""
        sent = [_sending(each.id, each) for each in bulk.documents]
        taken = self._take(caller, collection_id, bulk.application, sent)
        deleted: list[str] = []
        source = self._library.sent.source(collection_id, bulk.application)
        if source and bulk.delete:
            deleted = self._library.sent.remove(source.source_id, bulk.delete)
        return max(map(_status, taken), default=DONE), {
            "documents": [_taken_json(each) for each in taken],
            "deleted": deleted,
        }

    def one(
        self, caller: Caller, collection_id: str, own_id: str, application: str
    ) -> dict[str, Any]:
        """A document by the id of its application."""
        return self._documents.one(caller, self._find(caller, collection_id, own_id, application))

    def remove(
        self, caller: Caller, collection_id: str, own_id: str, application: str
    ) -> dict[str, Any]:
        """Delete a document by the id of its application."""
        self._readable.writable(caller, collection_id)
        source = self._library.sent.source(collection_id, application)
        known = self._library.sent.of(source.source_id) if source else {}
        if source is None or own_id not in known:
            raise _no_document()
        self._library.sent.remove(source.source_id, [own_id])
        return {"deleted": [known[own_id].document_id]}

    def remove_document(self, caller: Caller, document_id: str) -> dict[str, Any]:
        """Delete a document that an application sent; refuses any other."""
        need_whole_rights(caller)
        document, source = self._readable.document(caller, document_id)
        sent = self._library.sent.find(document)
        if sent is None or document.parent_id:
            said = "Only what an application sent can be deleted here."
            raise Refusal(409, said, code="not_sent")
        self._library.sent.remove(source.source_id, [sent.own_id])
        return {"deleted": [document_id]}

    def describe(self, caller: Caller, document_id: str, change: DocumentChange) -> Result:
        """Change what is said of a sent document; its content stays."""
        need_whole_rights(caller)
        document, source = self._readable.document(caller, document_id)
        sent = self._library.sent.find(document)
        if sent is None or document.parent_id:
            said = "Only what an application sent can be changed here."
            raise Refusal(409, said, code="not_sent")
        given = change.model_dump(exclude_none=True)
        sending = Sending(
            sent.own_id, self._library.sent.content(document), sent.name,
            given.get("title", sent.title), given.get("language", sent.language),
            given.get("address", sent.url), given.get("metadata", sent.metadata),
        )  # fmt: skip
        [taken] = self._take(caller, source.collection_id, source.program, [sending])
        return _status(taken), _taken_json(taken)

    def begin_round(self, caller: Caller, collection_id: str, application: str) -> dict[str, Any]:
        """Begin to send everything: what is not sent before the end of the round is deleted."""
        self._readable.writable(caller, collection_id)
        return {"round": self._library.sent.begin_round(collection_id, application)}

    def end_round(
        self, caller: Caller, collection_id: str, number: int, application: str
    ) -> dict[str, Any]:
        """Delete what was not sent since the round began."""
        self._readable.writable(caller, collection_id)
        source = self._library.sent.source(collection_id, application)
        if source is None:
            raise Refusal(404, "There is no such application.", code="no_such_application")
        try:
            return {"deleted": self._library.sent.end_round(source.source_id, number)}
        except AppError as error:
            refusal = Refusal.of_error(error, 409)
            refusal.code = "not_the_last_round"
            raise refusal from error

    def _take(
        self, caller: Caller, collection_id: str, application: str, sent: list[Sending]
    ) -> list[Taken]:
        self._readable.writable(caller, collection_id)
        return list(self._library.sent.take(collection_id, application, sent)) if sent else []

    def _find(self, caller: Caller, collection_id: str, own_id: str, application: str) -> str:
        self._readable.collection(caller, collection_id)
        source = self._library.sent.source(collection_id, application)
        sent = self._library.sent.of(source.source_id).get(own_id) if source else None
        if sent is None:
            raise _no_document()
        return sent.document_id


def _sending(own_id: str, sent: SentText) -> Sending:
    ending = _ENDINGS[sent.format]
    name = (sent.name or own_id).replace("/", "-")[:_LONGEST_NAME]
    named = name if name.lower().endswith(ending) else f"{name}{ending}"
    return Sending(
        own_id, sent.text.encode(), named, sent.title, sent.language, sent.address, sent.metadata
    )


def _no_document() -> Refusal:
    return Refusal(404, "There is no such document.", code="no_such_document")


def _status(taken: Taken) -> int:
    return DONE if taken.outcome is SentOutcome.SAME else QUEUED


def _taken_json(taken: Taken) -> dict[str, Any]:
    document_id = taken.document.document_id
    return {
        "id": document_id,
        "own_id": taken.document.own_id,
        "outcome": taken.outcome.value,
        "state_url": f"/api/v1/documents/{document_id}",
    }
