"""Rechunks documents from their stored text when the settings change. Owns one named thread.

It handles one document at a time, and only while nothing else is pending. New chunks are embedded
before they replace the old ones, which stay searchable until then.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from desktop_rag.core.domain import Collection, Document
from desktop_rag.core.parsed import Chunk, ParsedDocument
from desktop_rag.core.places import places_from_json
from desktop_rag.ingest.background.background_thread import (
    BackgroundPart,
    BackgroundThread,
    PipelineCallbacks,
)
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.store.contract.documents import DocumentStore, IndexingOutcome

_PAGE = 50


class Rechunker(BackgroundPart):
    """Finds and rechunks documents whose chunking differs from their collection's settings."""

    def __init__(
        self,
        documents: DocumentStore,
        cutter: DocumentChunker,
        collections: Callable[[], list[Collection]],
        *,
        may_run: Callable[[], bool],
        is_held: Callable[[], bool],
        embed: Callable[[Sequence[Chunk], Collection, str], bool],
        callbacks: PipelineCallbacks,
    ) -> None:
        """`embed` makes the vectors that chunks lack; False if interrupted.

        While `is_held`, because a model does not respond, pending work does not count as busy.
        """
        self._documents = documents
        self._cutter = cutter
        self._collections = collections
        self._may_run = may_run
        self._embed = embed
        self._changed = callbacks.documents_changed
        self._is_due = True
        self._background = BackgroundThread(
            "rechunk", self._work, has_work=lambda: self._is_due and not is_held(),
            may_work=may_run, callbacks=callbacks,
        )  # fmt: skip

    def request(self) -> None:
        """The settings changed: look for outdated documents."""
        self._is_due = True
        self.wake()

    def _work(self) -> None:
        self._is_due = False
        is_done = False
        try:
            is_done = all(self._recut_collection(c) for c in self._collections())
        finally:
            self._is_due = self._is_due or not is_done

    def _recut_collection(self, collection: Collection) -> bool:
        """False when interrupted."""
        chunking = self._cutter.signature(collection.chunking)
        while page := self._documents.outdated(collection.collection_id, chunking, _PAGE):
            for document in page:
                may_go_on = self._background.may_go_on() and self._may_run()
                if not may_go_on or not self._recut(document, collection):
                    return False
        return True

    def _recut(self, document: Document, collection: Collection) -> bool:
        text, places = self._documents.content(document.document_id)
        marks, headings, table_headers = places_from_json(places)
        parsed = ParsedDocument(
            document.format, document.title, text or "", marks, headings, table_headers,
            language=document.language,
        )  # fmt: skip
        cut = self._cutter.cut(parsed, collection.chunking)
        if not self._embed(cut.chunks, collection, document.language):
            return False
        row = replace(document, chunk_count=len(cut.chunks), chunking=cut.chunking)
        stored = self._documents.recut(
            IndexingOutcome(row, parsed.text, cut.chunks, cut.term_counts)
        )
        if stored is not None:
            self._changed([stored])
        return True
