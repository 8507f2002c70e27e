"""The face of ingest: sources in, searchable documents out.

Window, tray, command line, server and evaluation use this and nothing behind it. Methods may be
called from any worker thread; those marked "cheap" also from the Qt thread.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.domain import (
    Collection,
    Document,
    DocumentCounts,
    DocumentsChanged,
    DocumentState,
    IndexProgress,
    LibraryEvent,
    Notice,
    ProgressChanged,
    Source,
    SourcesChanged,
    SourceState,
    Stage,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.text import rough_token_counts
from desktop_rag.ingest.embedding_queue import EmbeddingQueue
from desktop_rag.ingest.ignore import IgnoreRules
from desktop_rag.ingest.indexer import Indexer
from desktop_rag.ingest.progress import ProgressMeter
from desktop_rag.ingest.scanner import Scanner
from desktop_rag.ingest.watcher import FolderWatcher, WatchTimes
from desktop_rag.ingest.worker import ParserProcess
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import Embedder
from desktop_rag.store.documents import DocumentStore
from desktop_rag.store.search import VectorStore

log = logging.getLogger(__name__)

DEFAULT_COLLECTION = "My documents"
_MAX_TOKENS = 256
_PROGRESS_S = 0.2
Listener = Callable[[LibraryEvent], None]


class Library:
    """Watches sources, keeps their documents searchable, and tells how that goes."""

    def __init__(
        self,
        documents: DocumentStore,
        vectors: VectorStore | None,
        embedder: Embedder | None,
        gate: ModelGate,
        parser: ParserProcess,
        rules: IgnoreRules,
        *,
        times: WatchTimes | None = None,
    ) -> None:
        """With no embedder (and so no vectors) documents become searchable by words only."""
        self._documents = documents
        self._vectors = vectors
        self._rules = rules
        self._times = times
        self._listeners: list[Listener] = []
        self._states: dict[str, SourceState] = {}
        self._polled: set[Path] = set()
        self._quiet = threading.Condition()
        self._words_done_at = 0.0
        self._meter = ProgressMeter(has_embedder=embedder is not None)
        self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)
        self._closing = threading.Event()
        self._is_paused = False
        self._is_count_stale = True
        self._indexer = Indexer(
            documents, parser, embedder.count_tokens if embedder else rough_token_counts,
            embedder.max_tokens if embedder else _MAX_TOKENS, self._meter,
            changed=self._on_read, went_idle=self._on_words_done, stopped=self._on_stopped,
        )  # fmt: skip
        self._scanner = Scanner(
            documents, self._indexer, rules,
            changed=self._on_documents, reached=self._on_reached, stopped=self._on_stopped,
        )  # fmt: skip
        self._embedding = None
        if embedder is not None and vectors is not None:
            self._embedding = EmbeddingQueue(
                vectors, embedder, gate, self._meter,
                may_run=lambda: self._indexer.is_idle, finished=self._on_embedded,
                stopped=self._on_stopped,
            )  # fmt: skip
        self._watcher: FolderWatcher | None = None

    # --- life ------------------------------------------------------------------------------

    def start(self, *, watch: bool = True) -> None:
        """Take up what was left unfinished, look at every source, and begin to watch."""
        if self._vectors is not None:
            self._vectors.reopen_documents()
        if watch:
            self._watcher = FolderWatcher(
                self._on_dirty, self._on_polling, self._rules, self._times
            )
        for source in self.sources():
            self._look_at(source)
        self._scanner.start()
        self._indexer.start()
        if self._embedding:
            self._embedding.start()
        self._ticker.start()

    def close(self) -> None:
        """Stop watching and indexing. What is unfinished is taken up at the next start.

        Idempotent; whoever waits for quiet or for words is let go.
        """
        self._closing.set()
        with self._quiet:
            self._quiet.notify_all()
        if self._watcher:
            self._watcher.close()
        self._scanner.close()
        self._indexer.close()
        if self._embedding:
            self._embedding.close()
        if self._ticker.is_alive():
            self._ticker.join()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear events, on worker threads; returns the way out."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # --- collections and sources -----------------------------------------------------------

    def collections(self) -> list[Collection]:
        """All collections, the oldest first."""
        return self._documents.collections()

    def add_collection(self, name: str) -> Collection:
        """A new collection; AppError when the name is empty or taken."""
        return self._documents.add_collection(name)

    def find_collection(self, name: str) -> Collection:
        """The collection of this name; AppError with the names there are when there is none."""
        found = self.collections()
        for collection in found:
            if collection.name.casefold() == name.strip().casefold():
                return collection
        names = ", ".join(f"“{c.name}”" for c in found) or "none yet"
        raise AppError(f"There is no collection “{name}”.", f"Collections: {names}.")

    def find_or_add_collection(self, name: str) -> Collection:
        """The collection of this name, made if there is none."""
        known = {c.name.casefold(): c for c in self.collections()}
        return known.get(name.strip().casefold()) or self.add_collection(name)

    def sources(self) -> list[Source]:
        """All sources, the oldest first, with their state of now."""
        known = self._documents.sources()
        return [replace(s, state=self._states.get(s.source_id, SourceState.WATCHED)) for s in known]

    def add_source(self, path: Path, collection_id: str = "") -> Source:
        """Make a folder or file searchable from now on; AppError when it can't be."""
        path = path.expanduser().resolve()
        if not path.exists():
            raise AppError(f"{path.name} does not exist.", f"Nothing was found at {path}.")
        if not collection_id:
            default = self._documents.default_collection(DEFAULT_COLLECTION)
            collection_id = default.collection_id
        self._refuse_overlap(path, collection_id)
        source = self._documents.add_source(path, collection_id)
        self._look_at(source)
        self._emit(SourcesChanged(tuple(self.sources())))
        return source

    def remove_source(self, source_id: str) -> None:
        """Forget the source and what was read from it; its files are not touched."""
        known = self._documents.sources()
        removed = {source.path for source in known if source.source_id == source_id}
        kept = {source.path for source in known if source.source_id != source_id}
        for path in removed - kept:
            if self._watcher:
                self._watcher.unwatch(path)
        self._scanner.forget(source_id)
        if self._embedding:
            self._embedding.wake()
        self._emit(SourcesChanged(tuple(self.sources())))

    def rescan(self, source_id: str = "") -> None:
        """Compare a source (or all) with the disk now."""
        for source in self.sources():
            if source_id in ("", source.source_id):
                self._scanner.request(source)

    # --- documents -------------------------------------------------------------------------

    def documents(
        self, *, source_id: str = "", state: DocumentState | None = None
    ) -> list[Document]:
        """Known documents, of one source or in one state if given, by path."""
        return self._documents.documents(source_id, state)

    def counts(self, source_id: str = "") -> DocumentCounts:
        """How many documents are in each state."""
        return self._documents.counts(source_id)

    def retry_failed(self) -> int:
        """Read the failed files again; returns how many."""
        waiting = self._documents.requeue_failed()
        self._indexer.submit(d.document_id for d in waiting)
        self._on_documents(waiting)
        return len(waiting)

    # --- progress --------------------------------------------------------------------------

    def progress(self) -> IndexProgress:
        """Where indexing stands. Cheap."""
        progress = self._meter.snapshot()
        if self._is_paused and not self._is_all_idle():
            return replace(progress, stage=Stage.PAUSED)
        if progress.stage is Stage.IDLE and not self._scanner.is_idle:
            return replace(progress, stage=Stage.SCANNING)
        return progress

    @property
    def is_paused(self) -> bool:
        """Whether indexing is held. Cheap."""
        return self._is_paused

    @property
    def words_done_at(self) -> float:
        """When everything that waited had been read last, on the monotonic clock. Cheap."""
        return self._words_done_at

    @property
    def embedded_chunks(self) -> int:
        """Passages embedded since the app started. Cheap."""
        return self._meter.embedded_ever

    def pause(self) -> None:
        """Hold indexing after the file or batch in work. Cheap."""
        self._set_paused(True)

    def resume(self) -> None:
        """Go on indexing. Cheap."""
        self._set_paused(False)

    def wait_until_quiet(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is left to do; False when the time was over first."""
        with self._quiet:
            return self._quiet.wait_for(
                lambda: self._is_all_idle() or self._closing.is_set(), timeout_s
            )

    def wait_until_words(self, timeout_s: float | None = None) -> bool:
        """Wait until every known file is searchable by words; False when the time was over."""
        with self._quiet:
            return self._quiet.wait_for(
                lambda: (self._scanner.is_idle and self._indexer.is_idle) or self._closing.is_set(),
                timeout_s,
            )

    # --- from the threads behind -----------------------------------------------------------

    def _look_at(self, source: Source) -> None:
        if self._watcher:
            self._watcher.watch(source.path)
        self._scanner.request(source)

    def _refuse_overlap(self, path: Path, collection_id: str) -> None:
        for source in self._documents.sources():
            if source.collection_id != collection_id:
                continue
            if path == source.path or path.is_relative_to(source.path):
                raise AppError(f"{path.name} is in the library already.",
                               f"It is part of {source.path}.")  # fmt: skip
            if source.path.is_relative_to(path):
                raise AppError(f"A part of {path.name} is in the library already.",
                               f"Remove {source.path} first, then add {path}.")  # fmt: skip

    def _set_paused(self, is_paused: bool) -> None:
        self._is_paused = is_paused
        self._scanner.set_paused(is_paused)
        self._indexer.set_paused(is_paused)
        if self._embedding:
            self._embedding.set_paused(is_paused)
        self._emit(ProgressChanged(self.progress()))

    def _is_all_idle(self) -> bool:
        embedding_idle = self._embedding is None or self._embedding.is_idle
        return self._scanner.is_idle and self._indexer.is_idle and embedding_idle

    def _on_dirty(self, root: Path, places: frozenset[Path]) -> None:
        for source in self._sources_at(root):
            self._scanner.request(source, None if root in places else places)

    def _on_polling(self, root: Path, reason: str) -> None:
        self._polled.add(root)
        for source in self._sources_at(root):
            self._set_state(source, SourceState.POLLED)
        self._emit(Notice(f"{root.name} is looked at once a minute.", reason))

    def _sources_at(self, root: Path) -> list[Source]:
        """Called by the watcher, which no failing store may end: the next scan makes up for it."""
        try:
            return [source for source in self._documents.sources() if source.path == root]
        except AppError as error:
            log.info("a change was not looked up: %s", error.title)
            return []

    def _on_reached(self, source: Source, is_online: bool) -> None:
        was_offline = self._states.get(source.source_id) is SourceState.OFFLINE
        if not is_online:
            self._set_state(source, SourceState.OFFLINE)
        elif was_offline:
            is_polled = source.path in self._polled
            self._set_state(source, SourceState.POLLED if is_polled else SourceState.WATCHED)

    def _set_state(self, source: Source, state: SourceState) -> None:
        if self._states.get(source.source_id) is not state:
            self._states[source.source_id] = state
            self._emit(SourcesChanged(tuple(self.sources())))

    def _on_documents(self, documents: Sequence[Document]) -> None:
        self._is_count_stale = True
        self._emit(DocumentsChanged(tuple(documents)))

    def _on_read(self, documents: Sequence[Document]) -> None:
        # While the indexer is still busy, so that nobody sees everything idle in between.
        if self._embedding:
            self._embedding.wake()
        self._on_documents(documents)

    def _on_words_done(self) -> None:
        self._words_done_at = time.monotonic()
        if self._embedding:
            self._embedding.wake()

    def _on_embedded(self, document_ids: list[str]) -> None:
        if document_ids:
            self._on_documents(self._documents.get(document_ids))

    def _on_stopped(self, error: AppError) -> None:
        self.pause()
        self._emit(Notice(error.title, f"{error.hint} Indexing is paused: resume it then."))

    def _tick(self) -> None:
        """Tell progress a few times a second, and wake whoever waits for quiet."""
        before: IndexProgress | None = None
        while not self._closing.wait(_PROGRESS_S):
            if self._is_count_stale and self._is_all_idle():
                self._is_count_stale = False
                self._meter.rest(self._file_count())
            progress = self.progress()
            if progress != before:
                self._emit(ProgressChanged(progress))
                before = progress
            with self._quiet:
                self._quiet.notify_all()

    def _file_count(self) -> int:
        try:
            return self._documents.counts().total
        except AppError as error:
            log.info("the files were not counted: %s", error.title)
            return 0

    def _emit(self, event: LibraryEvent) -> None:
        for listener in list(self._listeners):
            listener(event)
