"""Search for other programs: passages with places, filtered and in pages. Worker threads."""

from dataclasses import replace
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Role
from desktop_rag.core.domain import Document, Passage, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import SearchScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.asked import Asked, message_of
from desktop_rag.features.server.filters.filter_chain import FilterChain
from desktop_rag.features.server.library_calls import LinkTo
from desktop_rag.features.server.model_names import COLLECTION, EVERYTHING
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.document_calls import DocumentCalls
from desktop_rag.features.server.rest.readable_library import ReadableLibrary
from desktop_rag.features.server.rest.rest_forms import DocumentsQuery, Search
from desktop_rag.ingest.library import Library


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

    def search(self, caller: Caller, search: Search) -> dict[str, Any]:
        """A page of the best passages, the best first."""
        wanted = self._wanted(caller, search)
        setup = replace(self._chat.set_up(), reach=wanted)
        message = message_of(Role.USER, search.query)
        asked = Asked(caller, self._name(caller, search), (message,), setup)
        reach = self._chain.prepared(asked).setup.reach
        end = search.offset + search.limit
        found: list[Passage] = []
        if reach.document_ids != ():
            try:
                found = self._chat.search(
                    search.query, mode=search.mode, limit=end + 1, reach=reach
                )
            except AppError as error:
                raise Refusal.of_error(error) from error
        page = found[search.offset : end]
        ids = list(dict.fromkeys(passage.document_id for passage in page))
        rows = {d.document_id: d for d in self._library.documents.of_ids(ids)}
        sources = {source.source_id: source for source in self._readable.sources(caller)}
        return {
            "results": [
                self._json(caller, passage, rows[passage.document_id], sources)
                for passage in page
                if passage.document_id in rows
            ],
            "next_offset": end if len(found) > end else None,
        }

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

    def _json(
        self, caller: Caller, passage: Passage, row: Document, sources: dict[str, Source]
    ) -> dict[str, Any]:
        sent = self._library.sent.find(row)
        source = sources.get(row.source_id)
        link = self._link(caller, passage.document_id, passage.start, passage.end)
        return {
            "document_id": passage.document_id,
            "own_id": sent.own_id if sent else None,
            "application": (source.program or None) if source else None,
            "title": passage.title or row.name,
            "url": passage.url or link,
            "text": passage.text,
            "place": passage.anchor.label(),
            "start": passage.start,
            "end": passage.end,
            "score": round(passage.score, 6),
            "relevance": round(passage.relevance, 6),
            "metadata": dict(sent.metadata) if sent else {},
        }
