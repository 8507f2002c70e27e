"""Files attached to a chat: read immediately, kept apart from the library.

The text is stored as a document of a source of its own, which no list or search of the library
shows; the file itself is neither copied nor watched. Any worker thread; one file is read at
a time, in a parser process of its own, so that no attachment waits for a folder being indexed.
"""

import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from desktop_rag.core.conversation import Attachment
from desktop_rag.core.domain import Collection, Document, DocumentState
from desktop_rag.core.errors import AppError, Cancelled, os_error_as
from desktop_rag.core.files.file_state import hash_of, stat_of
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.ingest.chunking.indexing_outcome import indexing_outcome_of
from desktop_rag.ingest.indexing.indexer import READERS
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.store.contract.documents import DocumentStore, IndexingOutcome
from desktop_rag.store.contract.sources import SourceStore

_POLL_S = 0.05


class Attacher:
    """Reads attached files and stores their text."""

    def __init__(
        self,
        documents: DocumentStore,
        sources: SourceStore,
        parser: ParserProcess,
        cutter: DocumentChunker,
        *,
        collection: Callable[[], Collection],
        stored: Callable[[], None],
    ) -> None:
        """The `parser` is for attached files alone.

        Files are chunked and embedded with the settings of `collection`; `stored` is called when
        there are passages without vectors.
        """
        self._documents = documents
        self._sources = sources
        self._parser = parser
        self._cutter = cutter
        self._collection = collection
        self._stored = stored
        self._reading = threading.Lock()
        self._closing = threading.Event()
        self._source_ids = set(sources.attached_ids())

    def close(self) -> None:
        """End the parser process, for good."""
        self._closing.set()
        self.release()

    def release(self) -> None:
        """End the parser process once nothing is being read; the next file starts another."""
        with self._reading:
            self._parser.close()

    def has(self, document: Document) -> bool:
        """True when the document was attached to a chat. Cheap."""
        return document.source_id in self._source_ids

    def attach(self, path: Path, *, cancel: threading.Event) -> Attachment:
        """Read a file and keep its text, to be found by the chat it is attached to.

        AppError with the reason when it can't be read or has no text, Cancelled soon after
        `cancel` is set; then nothing is kept.
        """
        path = path.expanduser().absolute()
        if path.is_dir():
            raise AppError("A folder can't be attached.", "Add it to the library instead.")
        with os_error_as("The file can't be opened."):
            stat, digest = stat_of(path), hash_of(path)
        cancel = _AnyOf(cancel, self._closing)
        parsed = self._parse(path, cancel)
        if cancel.is_set():
            raise Cancelled
        collection = self._collection()
        source = self._sources.add_attached(path, collection.collection_id)
        self._source_ids.add(source.source_id)
        waiting = Document(
            uuid.uuid4().hex, source.source_id, path, parsed.title, parsed.format, stat, digest,
            DocumentState.WAITING, indexed_at=time.time(), readers=READERS,
        )  # fmt: skip
        outcome = indexing_outcome_of(waiting, parsed, self._cutter, collection.chunking)
        self._documents.apply_changes(source.source_id, [waiting], {}, [])
        self._documents.settle([outcome])
        self._stored()
        return _attachment(source.source_id, outcome)

    def _parse(self, path: Path, cancel: threading.Event) -> ParsedDocument:
        while not self._reading.acquire(timeout=_POLL_S):
            if cancel.is_set():
                raise Cancelled
        try:
            if cancel.is_set():
                raise Cancelled
            return self._parser.parse(path, cancel=cancel)
        finally:
            self._reading.release()


class _AnyOf(threading.Event):
    """Set once one of two events is; `wait` is not supported."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._events = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._events)


def _attachment(source_id: str, outcome: IndexingOutcome) -> Attachment:
    every = (outcome, *outcome.parts)
    pages = {chunk.anchor.page for chunk in outcome.chunks if chunk.anchor.page}
    return Attachment(
        source_id,
        outcome.document.path.name,
        document_id=outcome.document.document_id,
        words=sum(len(each.text.split()) for each in every),
        pages=max(pages, default=0),
    )
