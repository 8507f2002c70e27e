"""Documents, their passages by search, and the state of indexing, for programs. Workers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Annotated, Any, Literal

from pydantic import Field

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Role
from desktop_rag.core.domain import Document, DocumentState, Passage, Source
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.question import SearchScope
from desktop_rag.features.server.access.callers import Asked, Caller, message_of
from desktop_rag.features.server.access.user_rights import path_in
from desktop_rag.features.server.filters.filter_chain import FilterChain
from desktop_rag.features.server.model_names import COLLECTION, EVERYTHING
from desktop_rag.features.server.operations import (
    LARGEST,
    READ,
    Answered,
    Application,
    Form,
    Format,
    Id,
    Ids,
    Language,
    Listed,
    Metadata,
    Page,
    Question,
    Title,
    Value,
    operation,
    page_of,
)
from desktop_rag.features.server.readable_library import Calls, LinkTo
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.ingest.library import Library

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
    format: Format | None = None
    title: Title | None = None
    metadata: Annotated[str, Field(max_length=2200, pattern=r"^[^=]+=")] | None = None


class TextQuery(Page):
    """A part of a text, in characters."""

    limit: Annotated[int, Field(ge=1, le=1_000_000)] = 200_000


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


class DocumentList(Listed):
    """A part of a list of documents."""

    documents: list[DocumentAnswer]


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


class ChunkList(Listed):
    """A part of the chunks of a document."""

    chunks: list[ChunkAnswer]


class DocumentCalls(Calls):
    """Lists documents, and gives what is stored of one."""

    @operation("GET documents", READ)
    def list_documents(self, caller: Caller, query: DocumentsQuery) -> DocumentList:
        """List documents.

        Source by source, by path.
        """
        if query.collection_id is not None:
            self._readable.collection(caller, query.collection_id)
        found = self.matching(caller, query)
        page, after = page_of(found, query)
        rows = [self.shown(caller, *each) for each in page]
        return DocumentList(documents=rows, total=len(found), next_offset=after)

    def matching(self, caller: Caller, query: DocumentsQuery) -> list[tuple[Document, Source]]:
        """All documents that fit the query, with their sources."""
        key, _, value = (query.metadata or "").partition("=")
        title = (query.title or "").casefold()
        found: list[tuple[Document, Source]] = []
        every = self._readable.sources(caller, query.collection_id or "")
        sources = [s for s in every if query.application in (None, s.program)]
        for source, documents in self._readable.by_source(caller, sources):
            for document in documents:
                is_it = (
                    query.state in (None, document.state.value)
                    and query.language in (None, document.language)
                    and query.format in (None, document.format)
                    and title in (document.title or document.name).casefold()
                    and (not key or self._has(document, key, value))
                )
                if is_it:
                    found.append((document, source))
        return found

    @operation("GET documents/{document_id}", READ)
    def get_document(self, caller: Caller, document_id: Id) -> DocumentAnswer:
        """Show a document and its state."""
        return self.shown(caller, *self._readable.document(caller, document_id))

    @operation("GET documents/{document_id}/text", READ)
    def get_text(self, caller: Caller, document_id: Id, query: TextQuery) -> TextAnswer:
        """Read its text."""
        self._readable.document(caller, document_id)
        text = self._library.documents.text(document_id)
        part, after = page_of(text, query)
        return TextAnswer.of(
            query, id=document_id, text=part, total_chars=len(text), next_offset=after
        )

    @operation("GET documents/{document_id}/chunks", READ)
    def list_chunks(self, caller: Caller, document_id: Id, query: Page) -> ChunkList:
        """List its chunks."""
        self._readable.document(caller, document_id)
        chunks = self._library.documents.chunks(document_id)
        page, after = page_of(range(len(chunks)), query)
        shown = [_shown_chunk(document_id, chunks, place) for place in page]
        return ChunkList(chunks=shown, total=len(chunks), next_offset=after)

    @operation("GET documents/{document_id}/chunks/{position}", READ)
    def get_chunk(
        self, caller: Caller, document_id: Id, position: Annotated[int, Field(ge=0, le=LARGEST)]
    ) -> ChunkAnswer:
        """Read a chunk, with the positions of its neighbours."""
        self._readable.document(caller, document_id)
        chunks = self._library.documents.chunks(document_id)
        if position >= len(chunks):
            raise Refusal(404, "There is no such chunk.", code="no_such_chunk")
        return _shown_chunk(document_id, chunks, position)

    def shown(self, caller: Caller, document: Document, source: Source) -> DocumentAnswer:
        """A document as the caller sees it."""
        sent = self._library.sent.find(document)
        path = str(document.path) if caller.sees_paths else path_in(source, document)
        return DocumentAnswer.of(
            document,
            id=document.document_id,
            own_id=sent.own_id if sent else None,
            application=source.program or None,
            collection_id=source.collection_id,
            title=document.title or document.name,
            url=document.address or self._link(caller, document.document_id, 0, 0),
            path="" if sent or document.url else path,
            metadata=dict(sent.metadata) if sent else {},
            tags=document.all_tags,
            state=document.state.value,
            chunks=document.chunk_count,
            size_bytes=document.stat.size_bytes,
            sent_at=sent.sent_at if sent else None,
        )

    def _has(self, document: Document, key: str, value: str) -> bool:
        sent = self._library.sent.find(document)
        return sent is not None and key in sent.metadata and _said(sent.metadata[key]) == value


def _said(value: object) -> str:
    """A value as it is written in a query."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown_chunk(document_id: str, chunks: Sequence[Chunk], place: int) -> ChunkAnswer:
    return ChunkAnswer.of(
        chunks[place],
        document_id=document_id,
        position=place,
        place=chunks[place].anchor.label(),
        previous=place - 1 if place else None,
        next=place + 1 if place + 1 < len(chunks) else None,
    )


_MOST_FAULTS = 100


class Fault(Answered):
    """A document that could not be read."""

    id: str
    title: str
    reason: str


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


class StatusCalls(Calls):
    """Tells how far indexing is, with the numbers of what the caller may read."""

    @operation("GET status", READ)
    def get_status(self, caller: Caller) -> StatusAnswer:
        """Tell what is indexed, what waits and what failed.

        The library's stage is told only to those who may read all of it.
        """
        indexing = self._library.indexing
        documents = [d for d in self._readable.documents(caller) if not d.parent_id]
        states = Counter(document.state for document in documents)
        failed = [d for d in documents if d.state is DocumentState.FAILED]
        return StatusAnswer(
            version=version("desktop-rag"),
            stage="" if caller.is_limited else indexing.progress().stage.value,
            is_paused=indexing.is_paused,
            documents=len(documents),
            searchable=sum(n for state, n in states.items() if state.is_searchable),
            waiting=states[DocumentState.WAITING] + states[DocumentState.READING],
            pictures_waiting=sum(document.pictures_waiting for document in documents),
            failed=len(failed),
            states={state.value: n for state, n in states.items()},
            faults=[
                Fault(id=d.document_id, title=d.title or d.name, reason=d.reason)
                for d in failed[:_MOST_FAULTS]
            ],
        )


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


class SearchCalls(Calls):
    """Finds passages."""

    def __init__(self, chat: Chat, library: Library, link: LinkTo, chain: FilterChain) -> None:
        super().__init__(chat, library, link)
        self._documents = DocumentCalls(chat, library, link)
        self._chain = chain

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
