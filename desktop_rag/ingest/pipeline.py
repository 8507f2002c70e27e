"""Builds the parts that make sources searchable: scan, read, embed, chunk again.

Each part owns its thread; the pipeline starts, pauses and ends them, and passes work on.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from desktop_rag.core.domain import Collection, Document
from desktop_rag.core.errors import DiskError
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.pictures import PICTURES_WAIT, TO_HAVE_THEM_READ
from desktop_rag.core.server_state import ServerState
from desktop_rag.core.settings import IndexSettings
from desktop_rag.core.text import rough_token_counts
from desktop_rag.ingest.background.background_thread import (
    BackgroundPart,
    BackgroundThread,
    PipelineCallbacks,
)
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.ingest.chunking.rechunker import Rechunker
from desktop_rag.ingest.embedding.embedder_registry import EmbedderRegistry
from desktop_rag.ingest.embedding.embedding_queue import EmbeddingQueue
from desktop_rag.ingest.indexing.indexer import READERS, Indexer, OwnKinds
from desktop_rag.ingest.indexing.late_texts import LateKit, LateTexts
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.pictures.picture_reader import PictureReader
from desktop_rag.ingest.pictures.pictures import Pictures
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.scanning.scanner import RecheckTimes, Scanner
from desktop_rag.ingest.sent_files import SentFolders
from desktop_rag.ingest.sources.catalogue import Catalogue
from desktop_rag.ingest.sources.sent_check import SentCheck
from desktop_rag.ingest.sources.source_kinds import SourceKit, SourceScans
from desktop_rag.models.answer_priority import AnswerPriority, FairShare
from desktop_rag.models.ports import Embedder
from desktop_rag.store.contract.database import Database
from desktop_rag.store.contract.documents import DocumentStore, TagStore
from desktop_rag.store.contract.search import Upkeep
from desktop_rag.store.contract.sources import SourceStore


class PostingsMaintenance(BackgroundPart):
    """Merges postings while the library is idle, to keep search fast. Owns one named thread."""

    def __init__(
        self, upkeep: Upkeep, may_run: Callable[[], bool], callbacks: PipelineCallbacks
    ) -> None:
        """`may_run` is true when all other work is done."""
        self._upkeep = upkeep
        self._is_due = True
        self._background = BackgroundThread(
            "postings-maintenance", self._work, has_work=lambda: self._is_due, may_work=may_run,
            callbacks=callbacks,
        )  # fmt: skip

    def request(self) -> None:
        """All other work is done: run the upkeep if it is due."""
        self._is_due = True
        self.wake()

    def _work(self) -> None:
        self._is_due = False
        if self._upkeep.is_due():
            self._upkeep.run()


_MAX_TOKENS = 256
# Many models read far more, but one vector of several pages is too vague to be found by.
_LONGEST_PASSAGE = 512


@dataclass(frozen=True, slots=True)
class Findable:
    """The documents and sources that questions may find: with a shared library, those of both."""

    documents: DocumentStore
    sources: SourceStore


@dataclass(frozen=True, slots=True)
class LibraryStores:
    """The stores of the library, and its folders of fetched pages and of sent documents.

    Without `pictures`, the folder for their texts, the pictures in a file are read with it and not
    last. Without `joined` there is no other library
    beside it, without `server` it is a file of this computer.
    """

    documents: DocumentStore
    sources: SourceStore
    storage: Database
    tags: TagStore
    upkeep: Upkeep
    pages: Path
    sent: Path
    late: LateTexts = field(default_factory=LateTexts)
    pictures: Path | None = None
    joined: Findable | None = None
    server: Callable[[], ServerState] | None = None

    @property
    def findable(self) -> Findable:
        """What questions may find."""
        return self.joined or Findable(self.documents, self.sources)


class Pipeline:
    """The way from sources to searchable documents. Its parts are used directly."""

    def __init__(
        self,
        stores: LibraryStores,
        catalogue: Catalogue,
        embedders: EmbedderRegistry | None,
        priority: AnswerPriority,
        make_parser: Callable[[], ParserProcess],
        *,
        rules: IgnoreRules,
        recheck_times: RecheckTimes,
        callbacks: PipelineCallbacks,
    ) -> None:
        """Without `embedders` documents are searchable by words only."""
        self.late = stores.late
        self.rules = rules = replace(rules, late=self.late.refusal)
        self._documents = documents = stores.documents
        # The last part that becomes idle makes room for the rechunker and the maintenance.
        self._callbacks = callbacks = replace(callbacks, became_idle=self._on_idle)
        # A file that came back is not read again, but may lack vectors.
        on_disk = replace(callbacks, documents_changed=self._on_content_changed)
        self.embedders = embedders
        self.searchable_at = 0.0
        embedder = embedders.embedder if embedders else None
        self.meter = ProgressMeter(has_embedder=embedder is not None)
        self.chunker = _make_chunker(embedder)
        self.sent = SentFolders(stores.sent)
        parser = make_parser()
        self.pictures = Pictures(stores.pictures, self.meter, are_read=parser.reads_pictures)
        self.indexer = self._make_indexer(parser, catalogue, priority, on_disk)
        scanner = Scanner(documents, stores.sources, self.indexer, rules, on_disk, recheck_times)
        sent = SentCheck(documents, self.sent, self.indexer, callbacks)
        kit = SourceKit(
            documents, stores.sources, stores.storage, self.indexer, callbacks, make_parser,
            stores.pages, rules,
        )  # fmt: skip
        self.scans = SourceScans(scanner, sent, kit, self._forget_content)
        self.embedding = self._make_embedding(embedders, priority) if embedders else None
        self.rechunker = self._make_rechunker(catalogue, on_disk)
        # Its own end is no reason for more of it.
        maintained = replace(callbacks, became_idle=lambda: None)
        self._maintenance = PostingsMaintenance(stores.upkeep, self._is_all_embedded, maintained)
        self._late_worker = self._make_late_worker(priority)
        parts = (self.scans, self.indexer, self.rechunker, self._maintenance)
        self.picture_reader = self._make_picture_reader(make_parser(), priority)
        others = (self.embedding, self._late_worker, self.picture_reader)
        self._parts: list[BackgroundPart | SourceScans] = [
            *parts,
            *(part for part in others if part),
        ]

    def _make_late_worker(self, priority: AnswerPriority) -> BackgroundPart | None:
        return self.late.worker(
            LateKit(
                self._documents, self.indexer.submit, FairShare(priority),
                may_run=lambda: self.indexer.is_idle, callbacks=self._callbacks,
            )
        )  # fmt: skip

    def _make_rechunker(self, catalogue: Catalogue, callbacks: PipelineCallbacks) -> Rechunker:
        return Rechunker(
            self._documents, self.chunker, catalogue.collections, may_run=self._may_rechunk,
            is_held=self._is_backing_off, embed=self._embed_chunks, callbacks=callbacks,
        )  # fmt: skip

    def _make_picture_reader(
        self, parser: ParserProcess, priority: AnswerPriority
    ) -> PictureReader:
        return PictureReader(
            self.pictures, parser, self._documents, self.indexer, self.meter,
            priority=priority, may_run=self._may_read_pictures, callbacks=self._callbacks,
        )  # fmt: skip

    def _make_indexer(
        self,
        parser: ParserProcess,
        catalogue: Catalogue,
        priority: AnswerPriority,
        callbacks: PipelineCallbacks,
    ) -> Indexer:
        return Indexer(
            self._documents, parser, self.chunker, catalogue.chunking_of, self.meter,
            share=FairShare(priority),
            kinds=OwnKinds(self.sent, self.late, self.pictures, catalogue.source),
            callbacks=replace(callbacks, became_idle=self._on_searchable),
        )  # fmt: skip

    def _make_embedding(
        self, embedders: EmbedderRegistry, priority: AnswerPriority
    ) -> EmbeddingQueue:
        return EmbeddingQueue(
            embedders, priority, self.meter,
            may_run=lambda: self.indexer.is_idle, changed=self._on_embedded,
            callbacks=self._callbacks,
        )  # fmt: skip

    # --- lifetime --------------------------------------------------------------------------

    def start(self) -> None:
        """Resume unfinished work."""
        try:
            self._documents.requeue_older_than(READERS)
            self._find_pictures()
            self._forget_content()
        except DiskError as error:
            # What waits already goes on when there is room, the others at the next start.
            self._callbacks.failed(error)
        for part in self._parts:
            part.start()

    def _find_pictures(self) -> None:
        """Go on with the pictures that wait, or read files again where that was switched."""
        is_on = self.pictures.folder is not None
        switched = self._documents.with_reason(TO_HAVE_THEM_READ if is_on else PICTURES_WAIT)
        self._documents.requeue([d.document_id for d in switched])
        if is_on:
            self.pictures.note(self._documents.with_reason(PICTURES_WAIT))

    def _forget_content(self) -> None:
        """Forget texts of pictures and late texts whose files the store has no more."""
        if self.pictures.folder is not None:
            self.pictures.folder.keep_only(self._documents.content_hashes())
        self.late.forget_content(self._documents)

    def close(self) -> None:
        """Stop; unfinished work is resumed at the next start."""
        if self.embedders is not None:
            # Ends requests to endpoints, which other parts may be waiting for.
            self.embedders.close()
        for part in self._parts:
            part.close()

    def set_paused(self, is_paused: bool) -> None:
        """Pause after the current file or batch, or resume."""
        self.meter.forget_time()
        for part in self._parts:
            part.set_paused(is_paused)

    def apply(self, settings: IndexSettings) -> None:
        """Apply the settings that can change while the app runs."""
        if self.embedders and self.embedding:
            self.embedders.set_threads(settings.embedding_threads)
            self.embedding.set_makes_windows(settings.makes_windows)
        self.pictures.apply(settings.long_pictures)
        self.picture_reader.wake()

    def note_pictures(self, documents: Sequence[Document]) -> None:
        """Take note of rows that are new, changed or gone: their pictures may wait."""
        self.pictures.note(documents)
        self.picture_reader.wake()

    @property
    def is_idle(self) -> bool:
        """True when nothing is left to do and nothing is being done."""
        return all(part.is_idle for part in self._parts)

    @property
    def is_searchable(self) -> bool:
        """True when every known file is searchable by words."""
        return self.scans.is_idle and self.indexer.is_idle

    def wake_embedding(self) -> None:
        """Look for passages without vectors."""
        if self.embedding:
            self.embedding.wake()
        self.rechunker.wake()

    # --- from the threads of the parts -------------------------------------------------------

    def _is_all_embedded(self) -> bool:
        return self.is_searchable and (self.embedding is None or self.embedding.is_idle)

    def _may_read_pictures(self) -> bool:
        # An embedding model that does not answer holds nothing else up.
        is_embedded = self.embedding is None or self.embedding.is_idle or self._is_backing_off()
        return self.is_searchable and is_embedded

    def _may_rechunk(self) -> bool:
        return self._is_all_embedded() and not self._is_backing_off()

    def _is_backing_off(self) -> bool:
        return self.embedding is not None and self.embedding.is_backing_off

    def _embed_chunks(self, chunks: Sequence[Chunk], collection: Collection, language: str) -> bool:
        if self.embedding is None:
            return True
        return self.embedding.embed_chunks(chunks, collection, language, self._may_rechunk)

    def _on_content_changed(self, documents: Sequence[Document]) -> None:
        # Before the part that calls is idle, so that nobody sees everything idle in between.
        self.wake_embedding()
        self._callbacks.documents_changed(documents)

    def _on_searchable(self) -> None:
        self.searchable_at = time.monotonic()
        if self._late_worker:
            self._late_worker.wake()
        self.wake_embedding()
        self.picture_reader.wake()
        self._maintenance.request()

    def _on_embedded(self, document_ids: list[str]) -> None:
        if document_ids:
            self._callbacks.documents_changed(self._documents.get(document_ids))

    def _on_idle(self) -> None:
        self.rechunker.wake()
        self.picture_reader.wake()
        self._maintenance.request()


def _make_chunker(embedder: Embedder | None) -> DocumentChunker:
    if embedder is None:
        return DocumentChunker(rough_token_counts, _MAX_TOKENS, "")
    # Without the hash of the weights, which token counts do not depend on.
    name = embedder.name.partition("@")[0]
    return DocumentChunker(embedder.count_tokens, min(embedder.max_tokens, _LONGEST_PASSAGE), name)
