"""The library as a caller may see it: what they may not read does not exist. Worker threads."""

from collections.abc import Iterator

from desktop_rag.core.domain import Collection, Document, Source
from desktop_rag.ingest.library import Library
from desktop_rag.serve.access.callers import Caller
from desktop_rag.serve.refusals import Refusal


class ReadableLibrary:
    """Finds collections, sources and documents for a caller. Refuses with 404 what is not there."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def collections(self, caller: Caller) -> list[Collection]:
        """The collections of the caller, the oldest first.

        One whose documents are limited sees those with one of them.
        """
        every = self._library.collections.all()
        own = [c for c in every if caller.may_read_collection(c.collection_id)]
        if caller.document_ids is None:
            return own
        return [c for c in own if any(self.documents(caller, c.collection_id))]

    def collection(self, caller: Caller, collection_id: str) -> Collection:
        """A collection by its id."""
        for collection in self.collections(caller):
            if collection.collection_id == collection_id:
                return collection
        raise Refusal(404, "There is no such collection.", code="no_such_collection")

    def sources(self, caller: Caller, collection_id: str = "") -> list[Source]:
        """The sources in a collection, or in all that the caller may read."""
        return [
            source
            for source in self._library.sources.all()
            if collection_id in ("", source.collection_id)
            and caller.may_read_collection(source.collection_id)
        ]

    def documents(self, caller: Caller, collection_id: str = "") -> Iterator[Document]:
        """The documents in a collection, or in all that the caller may read, in any state."""
        for source in self.sources(caller, collection_id):
            yield from self.of_source(caller, source)

    def of_source(self, caller: Caller, source: Source) -> list[Document]:
        """The documents of a source that the caller may read."""
        found = self._library.documents.all(source_id=source.source_id)
        if caller.document_ids is None:
            return found
        allowed = frozenset(caller.document_ids)
        return [document for document in found if document.document_id in allowed]

    def document(self, caller: Caller, document_id: str) -> tuple[Document, Source]:
        """A document by its id, with its source."""
        is_open = caller.document_ids is None or document_id in caller.document_ids
        document = self._library.documents.get(document_id) if is_open else None
        for source in self.sources(caller) if document else ():
            if document and source.source_id == document.source_id:
                return document, source
        raise Refusal(404, "There is no such document.", code="no_such_document")


def need_whole_rights(caller: Caller) -> None:
    """Refuses a caller that stands for a user of another application: it may only read."""
    if caller.document_ids is not None:
        said = "This is not for the users of another application."
        raise Refusal(403, said, code="not_for_users")


def need_every_collection(caller: Caller) -> None:
    """Refuses a token of some collections: what it asks for is in none of them."""
    need_whole_rights(caller)
    if caller.token.collection_ids:
        raise Refusal(403, "This token is for some collections only.", code="not_allowed")
