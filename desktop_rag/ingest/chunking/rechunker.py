"""Cuts documents anew from their stored text when the settings changed. Owns one named thread.

One document at a time, and only while nothing else is to be done. The vectors of the new chunks
are made before they take the place of the old ones, so the old ones answer until then.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from desktop_rag.core.domain import Collection, Document
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Chunk, ParsedDocument
from desktop_rag.core.places import places_from_json
from desktop_rag.ingest.background.background_thread import BackgroundThread
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.store.contract.documents import DocumentStore, IndexingOutcome

_PAGE = 50


class Rechunker:
    """Finds documents that were cut in another way than their collection says."""

    def __init__(
        self,
        documents: DocumentStore,
        cutter: DocumentChunker,
        collections: Callable[[], list[Collection]],
        *,
        may_run: Callable[[], bool],
        is_held: Callable[[], bool],
        embed: Callable[[Sequence[Chunk], Collection], bool],
        changed: Callable[[Sequence[Document]], None],
        stopped: Callable[[AppError], None],
    ) -> None:
        """`embed` makes the vectors that chunks of a collection lack, False if it had to stop.

        While it `is_held`, by a model that does not answer, nobody waits for what is left to do.
        `changed` hears of documents with new chunks, `stopped` why the store refused.
        """
        self._documents = documents
        self._cutter = cutter
        self._collections = collections
        self._may_run = may_run
        self._embed = embed
        self._changed = changed
        self._is_due = True
        self._background = BackgroundThread(
            "recut", self._work, has_work=lambda: self._is_due and not is_held(),
            may_work=may_run, stopped=stopped,
        )  # fmt: skip

    def start(self) -> None:
        """Begin with what an earlier run left."""
        self._background.start()

    def close(self) -> None:
        """Stop after the document under way; the rest is found again at the next start."""
        self._background.close()

    def wake(self) -> None:
        """There may be documents to cut anew, or room to work."""
        self._background.wake()

    def request(self) -> None:
        """The settings changed: look for documents to cut anew."""
        with self._background.condition:
            self._is_due = True
        self._background.wake()

    def set_paused(self, is_paused: bool) -> None:
        """Hold after the document in work, or go on."""
        self._background.set_paused(is_paused)

    @property
    def is_idle(self) -> bool:
        """Nothing is known to be left to cut anew, or not now."""
        return self._background.is_idle

    def _work(self) -> None:
        self._is_due = False
        is_done = False
        try:
            is_done = all(self._recut_collection(c) for c in self._collections())
        finally:
            self._is_due = self._is_due or not is_done

    def _recut_collection(self, collection: Collection) -> bool:
        """False when it had to stop before the end."""
        chunking = self._cutter.signature(collection.chunking)
        while page := self._documents.outdated(collection.collection_id, chunking, _PAGE):
            for document in page:
                if not self._background.may_go_on() or not self._may_run():
                    return False
                if not self._recut(document, collection):
                    return False
        return True

    def _recut(self, document: Document, collection: Collection) -> bool:
        text, places = self._documents.content(document.document_id)
        marks, headings, table_headers = places_from_json(places)
        parsed = ParsedDocument(
            document.format,
            document.title,
            text or "",
            marks,
            headings,
            table_headers,
            language=document.language,
        )
        cut = self._cutter.cut(parsed, collection.chunking)
        if not self._embed(cut.chunks, collection):
            return False
        row = replace(document, chunk_count=len(cut.chunks), chunking=cut.chunking)
        stored = self._documents.recut(
            IndexingOutcome(row, parsed.text, cut.chunks, cut.term_counts)
        )
        if stored is not None:
            self._changed([stored])
        return True
