"""What makes sources searchable, wired together: look, read, embed, cut anew.

Each part owns its thread; this starts and ends them and says when all are at rest.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from desktop_rag.core.domain import Collection, Document, DocumentState, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.settings import IndexSettings
from desktop_rag.core.text import rough_token_counts
from desktop_rag.ingest.background.listeners import Listeners
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.ingest.chunking.rechunker import Rechunker
from desktop_rag.ingest.embedding.chunk_embedder import ChunkEmbedder
from desktop_rag.ingest.embedding.embedder_registry import EmbedderRegistry
from desktop_rag.ingest.embedding.embedding_queue import EmbeddingQueue
from desktop_rag.ingest.indexing.indexer import READERS, Indexer
from desktop_rag.ingest.indexing.postings_maintenance import PostingsMaintenance
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.scanning.recheck_schedule import RecheckTimes
from desktop_rag.ingest.scanning.scanner import Parts, Scanner
from desktop_rag.ingest.sources.catalogue import Catalogue
from desktop_rag.ingest.web.link_refresher import LinkRefresher
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import EmbedderFaultError
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.search import Upkeep
from desktop_rag.store.contract.sources import SourceStore, WebPageStore

log = logging.getLogger(__name__)

_MAX_TOKENS = 256
# A model may read far more, but what it makes of pages at once is too vague to be found by.
_LONGEST_PASSAGE = 512


@dataclass(frozen=True, slots=True)
class LibraryStores:
    """What the library keeps in the store, and `pages`, the folder of what is fetched."""

    documents: DocumentStore
    sources: SourceStore
    web_pages: WebPageStore
    upkeep: Upkeep
    pages: Path


class _Part(Protocol):
    """What owns a thread."""

    def start(self) -> None: ...
    def close(self) -> None: ...
    def set_paused(self, is_paused: bool) -> None: ...
    @property
    def is_idle(self) -> bool: ...


class Pipeline:
    """From sources to searchable documents."""

    def __init__(
        self,
        stores: LibraryStores,
        catalogue: Catalogue,
        dense: EmbedderRegistry | None,
        gate: ModelGate,
        parser: ParserProcess,
        *,
        rules: IgnoreRules,
        looks: RecheckTimes,
        listeners: Listeners,
    ) -> None:
        """With no dense indexes documents become searchable by words only."""
        self._documents = documents = stores.documents
        self._listeners = listeners
        self._catalogue = catalogue
        self._dense = dense
        self._gate = gate
        self.words_done_at = 0.0
        embedder = dense.embedder if dense else None
        self.meter = ProgressMeter(has_embedder=embedder is not None)
        self.cutter = cutter = DocumentChunker(
            embedder.count_tokens if embedder else rough_token_counts,
            min(embedder.max_tokens, _LONGEST_PASSAGE) if embedder else _MAX_TOKENS,
            # Without the hash of its weights: they count no tokens.
            embedder.name.partition("@")[0] if embedder else "",
        )
        self._indexer = Indexer(
            documents, parser, cutter, catalogue.chunking_of, self.meter,
            changed=self._on_read, went_idle=self._on_words_done, stopped=listeners.stopped,
        )  # fmt: skip
        # What came back needs no reading, but its vectors looked after. Whatever rests last makes
        # room for what runs aside.
        heard = replace(listeners, documents=self._on_read, rested=self._on_rested)
        self._scanner = Scanner(documents, stores.sources, self._indexer, rules, heard, looks)
        self._links = LinkRefresher(
            documents, stores.sources, stores.web_pages, self._indexer,
            replace(listeners, rested=self._on_rested), folder=stores.pages,
        )  # fmt: skip
        self._embedding = self._make_embedding(dense, gate) if dense else None
        self._rechunker = Rechunker(
            documents, cutter, catalogue.collections, may_run=self._may_recut,
            is_held=self._has_rests, embed=self._embed_chunks, changed=self._on_recut,
            stopped=listeners.stopped,
        )  # fmt: skip
        self._maintenance = PostingsMaintenance(
            stores.upkeep, self._may_run_aside, listeners.stopped
        )
        parts = (self._scanner, self._links, self._indexer, self._rechunker, self._maintenance)
        self._parts: list[_Part] = [*parts, *([self._embedding] if self._embedding else [])]

    def _make_embedding(self, dense: EmbedderRegistry, gate: ModelGate) -> EmbeddingQueue:
        return EmbeddingQueue(
            dense, gate, self.meter,
            may_run=lambda: self._indexer.is_idle, changed=self._on_embedded,
            rested=self._on_rested, told=self._listeners.told, stopped=self._listeners.stopped,
        )  # fmt: skip

    # --- life ------------------------------------------------------------------------------

    def start(self) -> None:
        """Take up what was left unfinished."""
        self._documents.requeue_older_than(READERS)
        for part in self._parts:
            part.start()

    def close(self) -> None:
        """Stop; what is unfinished is taken up at the next start."""
        if self._dense is not None:
            # Whoever waits for an answer from elsewhere is let go first.
            self._dense.close()
        for part in self._parts:
            part.close()

    def set_paused(self, is_paused: bool) -> None:
        """Hold after the file or batch in work, or go on."""
        for part in self._parts:
            part.set_paused(is_paused)

    @property
    def is_idle(self) -> bool:
        """Nothing is left to do and nothing is being done."""
        return all(part.is_idle for part in self._parts)

    @property
    def is_scanning(self) -> bool:
        """A source is being looked at, or is to be."""
        return not (self._scanner.is_idle and self._links.is_idle)

    @property
    def are_words_done(self) -> bool:
        """Every known file is searchable by words."""
        return not self.is_scanning and self._indexer.is_idle

    def progress(self, *, is_paused: bool) -> IndexProgress:
        """Where indexing stands. Cheap."""
        progress = self.meter.snapshot()
        if is_paused and not self.is_idle:
            return replace(progress, stage=Stage.PAUSED)
        if progress.stage is Stage.IDLE and self.is_scanning:
            return replace(progress, stage=Stage.SCANNING)
        return progress

    def count_files(self) -> None:
        """Let the progress, now that all is done, tell how many files there are."""
        try:
            self.meter.rest(self._documents.counts().total)
        except AppError as error:
            log.info("the files were not counted: %s", error.title)
            self.meter.rest(0)

    # --- what is to be done ------------------------------------------------------------------

    def look_at(self, source: Source, parts: Parts = None) -> None:
        """Compare a source, or only these parts of it, with the disk or the web."""
        if source.links is not None:
            self._links.request(source)
        else:
            self._scanner.request(source, parts)

    def forget(self, source_id: str) -> None:
        """Remove a source with what was read from it."""
        self._scanner.forget(source_id)
        self._links.forget(source_id)
        self._wake_embedding()

    def retry(self) -> list[Document]:
        """Read failed files again, and fetch failed pages; returns the files, which now wait."""
        failed = self._documents.documents(state=DocumentState.FAILED)
        to_fetch = {d.source_id for d in failed if d.url}
        waiting = self._documents.requeue_failed()
        self._indexer.submit(d.document_id for d in waiting)
        for source in self._catalogue.sources():
            if source.source_id in to_fetch:
                self.look_at(source)
        return waiting

    def apply(self, settings: IndexSettings) -> None:
        """Take over what can change while the app runs."""
        if self._dense and self._embedding:
            self._dense.set_threads(settings.embedding_threads)
            self._embedding.make_windows(settings.makes_windows)

    def check_embedder(self, spec: str) -> None:
        """AppError when there is no usable model at this spec. Loads it, or asks the endpoint."""
        if self._dense and spec:
            self._dense.check(spec)

    def embed_anew(self) -> None:
        """Another model was chosen for a collection."""
        if self._embedding:
            self._embedding.choose_anew()

    def embed_more(self) -> None:
        """There are passages without vectors."""
        self._wake_embedding()

    def cut_anew(self) -> None:
        """The settings of a collection changed."""
        self._rechunker.request()

    # --- from the threads behind -----------------------------------------------------------

    def _may_run_aside(self) -> bool:
        return self.are_words_done and (self._embedding is None or self._embedding.is_idle)

    def _may_recut(self) -> bool:
        return self._may_run_aside() and not self._has_rests()

    def _has_rests(self) -> bool:
        return self._embedding is not None and self._embedding.has_rests

    def _embed_chunks(self, chunks: Sequence[Chunk], collection: Collection) -> bool:
        index = self._dense.answering_for(collection) if self._dense else None
        if index is None or self._embedding is None:
            return True
        embedder = ChunkEmbedder(index, self._gate, self.meter)
        try:
            return embedder.embed_chunks(chunks, self._may_recut)
        except EmbedderFaultError as error:
            self._embedding.leave_alone(index.spec, error)
            return False

    def _wake_embedding(self) -> None:
        if self._embedding:
            self._embedding.wake()
        self._rechunker.wake()

    def _on_read(self, documents: Sequence[Document]) -> None:
        # While the indexer is still busy, so that nobody sees everything idle in between.
        self._wake_embedding()
        self._listeners.documents(documents)

    def _on_words_done(self) -> None:
        self.words_done_at = time.monotonic()
        self._wake_embedding()
        self._maintenance.request()

    def _on_embedded(self, document_ids: list[str]) -> None:
        if document_ids:
            self._listeners.documents(self._documents.get(document_ids))

    def _on_rested(self) -> None:
        self._rechunker.wake()
        self._maintenance.request()

    def _on_recut(self, documents: Sequence[Document]) -> None:
        self._wake_embedding()
        self._listeners.documents(documents)
