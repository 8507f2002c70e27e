"""Search for other programs: passages with places, filtered and in pages. Worker threads."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Role
from desktop_rag.core.domain import Document, Passage, Source
from desktop_rag.core.question import SearchScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.asked import Asked, message_of
from desktop_rag.features.server.filters.filter_chain import FilterChain
from desktop_rag.features.server.library_calls import LinkTo
from desktop_rag.features.server.model_names import COLLECTION, EVERYTHING
from desktop_rag.features.server.operations import READ, Answered, Form, operation
from desktop_rag.features.server.readable_library import ReadableLibrary
from desktop_rag.features.server.rest.document_calls import DocumentCalls, DocumentsQuery
from desktop_rag.features.server.rest.rest_fields import (
    Application,
    Format,
    Ids,
    Language,
    Metadata,
    Question,
    Value,
)
from desktop_rag.ingest.library import Library


class Search(Form):
    """What is searched, and where. The query may have filters, as in the window."""

    query: Question
    mode: Literal["hybrid", "lexical", "dense"] = "hybrid"
    collection_ids: Ids | None = None
    document_ids: Ids | None = None
    application: Application | None = None
    language: Language | None = None
    format: Format | None = None
    metadata: Metadata | None = None
    offset: Annotated[int, Field(ge=0, le=500)] = 0
    limit: Annotated[int, Field(ge=1, le=100)] = 10


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


class SearchCalls:
    """Finds passages."""

    def __init__(
        self,
        chat: Chat,
        library: Library,
        readable: ReadableLibrary,
        documents: DocumentCalls,
        chain: FilterChain,
        link: LinkTo,
    ) -> None:
        self._chat = chat
        self._library = library
        self._readable = readable
        self._documents = documents
        self._chain = chain
        self._link = link

    @operation("POST search", READ)
    def search(self, caller: Caller, body: Search) -> SearchAnswer:
        """Find passages."""
        setup = replace(self._chat.set_up(), reach=self._wanted(caller, body))
        message = message_of(Role.USER, body.query)
        asked = Asked(caller, self._name(caller, body), (message,), setup)
        reach = self._chain.prepared(asked).setup.reach
        end = body.offset + body.limit
        found: list[Passage] = []
        if reach.document_ids != ():
            found = self._chat.search(body.query, mode=body.mode, limit=end + 1, reach=reach)
        page = found[body.offset : end]
        ids = list(dict.fromkeys(passage.document_id for passage in page))
        rows = {d.document_id: d for d in self._library.documents.of_ids(ids)}
        sources = {source.source_id: source for source in self._readable.sources(caller)}
        shown = [
            self._shown(caller, passage, rows[passage.document_id], sources)
            for passage in page
            if passage.document_id in rows
        ]
        return SearchAnswer(results=shown, next_offset=end if len(found) > end else None)

    def _wanted(self, caller: Caller, search: Search) -> SearchScope:
        """The documents that the search asks for; refuses collections that are not there."""
        collection_ids = tuple(dict.fromkeys(search.collection_ids or ()))
        for collection_id in collection_ids:
            self._readable.collection(caller, collection_id)
        document_ids = search.document_ids
        has_filter = search.application or search.language or search.format or search.metadata
        if has_filter:
            named = None if document_ids is None else frozenset(document_ids)
            document_ids = [
                document.document_id
                for document in self._filtered(caller, search)
                if named is None or document.document_id in named
            ]
        return SearchScope(
            collection_ids, document_ids=None if document_ids is None else tuple(document_ids)
        )

    def _filtered(self, caller: Caller, search: Search) -> list[Document]:
        query = DocumentsQuery(
            application=search.application, language=search.language, format=search.format
        )
        found = [document for document, _ in self._documents.matching(caller, query)]
        return [d for d in found if self._has(d, search.metadata)] if search.metadata else found

    def _has(self, document: Document, wanted: dict[str, Any]) -> bool:
        sent = self._library.sent.find(document)
        return sent is not None and all(
            key in sent.metadata and sent.metadata[key] == value for key, value in wanted.items()
        )

    def _name(self, caller: Caller, search: Search) -> str:
        """The model name by which request filters know the search."""
        if search.collection_ids and len(search.collection_ids) == 1:
            collection = self._readable.collection(caller, search.collection_ids[0])
            return f"{COLLECTION}{collection.name}"
        return EVERYTHING

    def _shown(
        self, caller: Caller, passage: Passage, row: Document, sources: dict[str, Source]
    ) -> FoundPassage:
        sent = self._library.sent.find(row)
        source = sources.get(row.source_id)
        link = self._link(caller, passage.document_id, passage.start, passage.end)
        return FoundPassage.of(
            passage,
            own_id=sent.own_id if sent else None,
            application=(source.program or None) if source else None,
            title=passage.title or row.name,
            url=passage.url or link,
            place=passage.anchor.label(),
            score=round(passage.score, 6),
            relevance=round(passage.relevance, 6),
            metadata=dict(sent.metadata) if sent else {},
        )
