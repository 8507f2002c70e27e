"""Documents and the state of indexing for other programs. JSON; worker threads."""

from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.parsed import Chunk
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.library_calls import LinkTo
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.readable_library import ReadableLibrary
from desktop_rag.features.server.rest.rest_forms import DocumentsQuery, Page, TextQuery
from desktop_rag.ingest.library import Library


class DocumentCalls:
    """Lists documents, and gives what is stored of one."""

    def __init__(self, library: Library, readable: ReadableLibrary, link: LinkTo) -> None:
        self._library = library
        self._readable = readable
        self._link = link

    def all(self, caller: Caller, query: DocumentsQuery) -> dict[str, Any]:
        """A page of the documents that fit the query, source by source, by path."""
        if query.collection_id is not None:
            self._readable.collection(caller, query.collection_id)
        found = self.matching(caller, query)
        page = found[query.offset : query.offset + query.limit]
        end = query.offset + len(page)
        return {
            "documents": [self.json(caller, document, source) for document, source in page],
            "total": len(found),
            "next_offset": end if page and end < len(found) else None,
        }

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

    def one(self, caller: Caller, document_id: str) -> dict[str, Any]:
        """A document without its text."""
        return self.json(caller, *self._readable.document(caller, document_id))

    def text(self, caller: Caller, document_id: str, query: TextQuery) -> dict[str, Any]:
        """A part of its text."""
        self._readable.document(caller, document_id)
        text = self._library.documents.text(document_id)
        part = text[query.offset : query.offset + query.limit]
        end = query.offset + len(part)
        return {
            "id": document_id,
            "text": part,
            "offset": query.offset,
            "total_chars": len(text),
            "next_offset": end if part and end < len(text) else None,
        }

    def chunks(self, caller: Caller, document_id: str, query: Page) -> dict[str, Any]:
        """A part of its chunks, in reading order."""
        self._readable.document(caller, document_id)
        chunks = self._library.documents.chunks(document_id)
        page = chunks[query.offset : query.offset + query.limit]
        end = query.offset + len(page)
        first = enumerate(page, start=query.offset)
        return {
            "chunks": [_chunk_json(document_id, chunks, place) for place, _ in first],
            "total": len(chunks),
            "next_offset": end if page and end < len(chunks) else None,
        }

    def chunk(self, caller: Caller, document_id: str, position: int) -> dict[str, Any]:
        """One chunk."""
        self._readable.document(caller, document_id)
        chunks = self._library.documents.chunks(document_id)
        if position >= len(chunks):
            raise Refusal(404, "There is no such chunk.", code="no_such_chunk")
        return _chunk_json(document_id, chunks, position)

    def json(self, caller: Caller, document: Document, source: Source) -> dict[str, Any]:
        """A document in the form of the wire."""
        sent = self._library.sent.find(document)
        address = document.address
        return {
            "id": document.document_id,
            "own_id": sent.own_id if sent else None,
            "application": source.program or None,
            "collection_id": source.collection_id,
            "title": document.title or document.name,
            "url": address or self._link(caller, document.document_id, 0, 0),
            "address": address,
            "path": "" if sent or document.url else str(document.path),
            "part": document.part,
            "parent_id": document.parent_id,
            "format": document.format,
            "language": document.language,
            "metadata": dict(sent.metadata) if sent else {},
            "tags": list(document.all_tags),
            "dated": document.dated,
            "state": document.state.value,
            "reason": document.reason,
            "chunks": document.chunk_count,
            "size_bytes": document.stat.size_bytes,
            "indexed_at": document.indexed_at,
            "sent_at": sent.sent_at if sent else None,
        }

    def _has(self, document: Document, key: str, value: str) -> bool:
        sent = self._library.sent.find(document)
        return sent is not None and key in sent.metadata and _said(sent.metadata[key]) == value


def _said(value: object) -> str:
    """A value as it is written in a query."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _chunk_json(document_id: str, chunks: Sequence[Chunk], place: int) -> dict[str, Any]:
    chunk = chunks[place]
    return {
        "document_id": document_id,
        "position": place,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "context": chunk.context,
        "place": chunk.anchor.label(),
        "previous": place - 1 if place else None,
        "next": place + 1 if place + 1 < len(chunks) else None,
    }


_MOST_FAULTS = 100


class StatusCalls:
    """Tells how far indexing is, with the numbers of what the caller may read."""

    def __init__(self, library: Library, readable: ReadableLibrary) -> None:
        self._library = library
        self._readable = readable

    def status(self, caller: Caller) -> dict[str, Any]:
        """The state of what the caller may read; the library's stage only if that is all of it."""
        indexing = self._library.indexing
        documents = [d for d in self._readable.documents(caller) if not d.parent_id]
        states = Counter(document.state for document in documents)
        failed = [d for d in documents if d.state is DocumentState.FAILED]
        return {
            "version": version("desktop-rag"),
            "stage": "" if caller.is_limited else indexing.progress().stage.value,
            "is_paused": indexing.is_paused,
            "documents": len(documents),
            "searchable": sum(n for state, n in states.items() if state.is_searchable),
            "waiting": states[DocumentState.WAITING] + states[DocumentState.READING],
            "pictures_waiting": sum(document.pictures_waiting for document in documents),
            "failed": len(failed),
            "states": {state.value: n for state, n in states.items()},
            "faults": [_fault(document) for document in failed[:_MOST_FAULTS]],
        }


def _fault(document: Document) -> dict[str, Any]:
    return {
        "id": document.document_id,
        "title": document.title or document.name,
        "reason": document.reason,
    }
