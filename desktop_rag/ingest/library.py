"""The face of ingest: sources in, searchable documents out.

Window, tray, command line, server and evaluation use this and nothing behind it. Methods may be
called from any worker thread; those marked "cheap" also from the Qt thread.
"""

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.anchors import Anchor, PageView
from desktop_rag.core.attachment import Attachment
from desktop_rag.core.domain import (
    Collection,
    Document,
    DocumentState,
    Source,
    SourceRules,
    SourceState,
    WebLinks,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import (
    ChangeSummary,
    DocumentCounts,
    DocumentsChanged,
    FolderPreview,
    IndexProgress,
    LibraryEvent,
    Notice,
    ProgressChanged,
    SourceScanned,
    SourcesChanged,
)
from desktop_rag.core.parsed import Chunk, ChunkSettings
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.background.indexing_pauses import IndexingPauses
from desktop_rag.ingest.background.listeners import Listeners
from desktop_rag.ingest.background.ticker import Ticker
from desktop_rag.ingest.document_reader import DocumentReader
from desktop_rag.ingest.embedding.embedder_registry import EmbedderRegistry
from desktop_rag.ingest.indexing.attacher import Attacher
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.pipeline import LibraryStores, Pipeline
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.scanning.preview import preview
from desktop_rag.ingest.sources.catalogue import Catalogue
from desktop_rag.ingest.sources.source_watch import SourceWatch
from desktop_rag.ingest.watching.watcher import WatchTimes
from desktop_rag.models.gate import ModelGate

_PROGRESS_S = 0.2
# Ticks of the progress thread between two looks at the power supply.
_BATTERY_TICKS = 75
Listener = Callable[[LibraryEvent], None]


class Library:
    """Watches sources, keeps their documents searchable, and tells how that goes."""

    def __init__(
        self,
        stores: LibraryStores,
        dense: EmbedderRegistry | None,
        gate: ModelGate,
        make_parser: Callable[[], ParserProcess],
        *,
        rules: IgnoreRules,
        times: WatchTimes | None = None,
    ) -> None:
        """With no dense indexes documents become searchable by words only.

        `make_parser` makes a parser process: one reads, one draws pages, one reads for chats.
        """
        self._documents = stores.documents
        self._sources = stores.sources
        self._rules = rules
        self._times = times or WatchTimes()
        self._listeners: list[Listener] = []
        self._scans: dict[str, ChangeSummary] = {}
        self._quiet = threading.Condition()
        self._ticker = Ticker("progress", _PROGRESS_S, self._tick)
        self._ticks = itertools.count()
        self._told_progress: IndexProgress | None = None
        self._closing = threading.Event()
        self._is_count_stale = True
        self._catalogue = Catalogue(stores.sources, stores.pages)
        self._reader = DocumentReader(stores.documents, make_parser)
        self._watch = SourceWatch(
            self._catalogue,
            state_changed=self._on_state,
            told=self._emit,
        )
        listeners = Listeners(
            self._on_documents, self._on_scanned, self._watch.reached, self._emit, self._on_stopped
        )
        self._pipeline = Pipeline(
            stores, self._catalogue, dense, gate, make_parser(), rules=rules,
            looks=self._times.looks, listeners=listeners,
        )  # fmt: skip
        self._attacher = Attacher(
            stores.documents, stores.sources, make_parser, self._pipeline.cutter,
            home=self._catalogue.default_collection, stored=self._pipeline.embed_more,
        )  # fmt: skip
        self._pauses = IndexingPauses(self._pipeline.set_paused)

    # --- life ------------------------------------------------------------------------------

    def start(self, *, watch: bool = True) -> None:
        """Take up what was left unfinished, look at every source, and begin to watch."""
        if watch:
            self._watch.start(self._pipeline.look_at, self._rules, self._times)
        for source in self.sources():
            # Pages of the web are fetched when they are due, not at every start.
            self._watch.watch(source)
            if source.links is None:
                self._pipeline.look_at(source)
        self._pipeline.start()
        self._ticker.start()

    def close(self) -> None:
        """Stop watching and indexing. What is unfinished is taken up at the next start.

        Idempotent; whoever waits for quiet or for words is let go.
        """
        self._closing.set()
        with self._quiet:
            self._quiet.notify_all()
        self._watch.close()
        self._pipeline.close()
        self._reader.close()
        self._attacher.close()
        self._ticker.close()

    def apply(self, settings: Settings) -> None:
        """Take over what can change while the app runs."""
        self._pauses.heed_battery(settings.index.pauses_on_battery)
        self._pipeline.apply(settings.index)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear events, on worker threads; returns the way out."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # --- collections -----------------------------------------------------------------------

    def collections(self) -> list[Collection]:
        """All collections, the oldest first."""
        return self._catalogue.collections()

    def add_collection(self, name: str) -> Collection:
        """A new collection; AppError when the name is empty or taken."""
        return self._sources.add_collection(name)

    def find_collection(self, name: str) -> Collection:
        """The collection of this name; AppError with the names there are when there is none."""
        return self._catalogue.find_collection(name)

    def find_or_add_collection(self, name: str) -> Collection:
        """The collection of this name, made if there is none."""
        return self._catalogue.find_or_add_collection(name)

    def rename_collection(self, collection_id: str, name: str) -> Collection:
        """Give it another name; AppError when that is empty or taken."""
        return self._sources.rename_collection(collection_id, name)

    def set_chunking(self, collection_id: str, chunking: ChunkSettings) -> None:
        """Cut its documents in another way, in the background; until then the old cut answers."""
        self._sources.set_chunking(collection_id, chunking)
        self._pipeline.cut_anew()

    def set_embedder(self, collection_id: str, embedder: str) -> None:
        """Embed its documents with another model in the background; the old vectors answer until
        then. AppError when it can't be used.
        """
        self._pipeline.check_embedder(embedder)
        self._sources.set_embedder(collection_id, embedder)
        self._pipeline.embed_anew()

    def remove_collection(self, collection_id: str) -> None:
        """Forget the collection with its sources; files are not touched."""
        for source in [s for s in self.sources() if s.collection_id == collection_id]:
            self.remove_source(source.source_id)
        self._sources.remove_collection(collection_id)

    # --- sources ---------------------------------------------------------------------------

    def sources(self) -> list[Source]:
        """All sources, the oldest first, with their state of now."""
        return self._catalogue.sources()

    def preview(self, path: Path, rules: SourceRules, *, cancel: threading.Event) -> FolderPreview:
        """What adding a folder would mean; reads no file. Stops early when cancelled."""
        return preview(path, self._rules.of(rules), cancel)

    def add_source(
        self, path: Path, collection_id: str = "", rules: SourceRules | None = None
    ) -> Source:
        """Make a folder or file searchable from now on; AppError when it can't be."""
        return self._begin(self._catalogue.add(path, collection_id, rules))

    def add_links(self, links: WebLinks, collection_id: str = "") -> Source:
        """Make pages of the web searchable from now on; AppError when all are known already."""
        return self._begin(self._catalogue.add_links(links, collection_id))

    def set_rules(self, source_id: str, rules: SourceRules) -> None:
        """Leave something else out of a folder from now on."""
        self._sources.set_rules(source_id, rules)
        self._emit(SourcesChanged(tuple(self.sources())))
        self.rescan(source_id)

    def remove_source(self, source_id: str) -> None:
        """Forget the source and what was read from it; its files are not touched."""
        known = self.sources()
        removed = {source.path for source in known if source.source_id == source_id}
        kept = {source.path for source in known if source.source_id != source_id}
        for path in removed - kept:
            self._watch.unwatch(path)
        self._pipeline.forget(source_id)
        self._emit(SourcesChanged(tuple(self.sources())))

    def rescan(self, source_id: str = "") -> None:
        """Compare a source (or all) with the disk, or the web, now."""
        for source in self.sources():
            if source_id in ("", source.source_id):
                self._watch.watch(source)
                self._pipeline.look_at(source)

    # --- documents -------------------------------------------------------------------------

    def documents(
        self, *, source_id: str = "", state: DocumentState | None = None
    ) -> list[Document]:
        """Known documents, of one source or in one state if given, by path."""
        found = self._shown(self._documents.documents(source_id))
        return [d for d in found if state in (None, d.state)]

    def counts(self, source_id: str = "") -> DocumentCounts:
        """How many files and web pages are in each state."""
        total: dict[DocumentState, int] = {}
        for source in self.sources():
            if source_id not in ("", source.source_id):
                continue
            counts = self._documents.counts(source.source_id)
            for state, count in counts.by_state.items():
                shown = self._state_of(source.source_id, state)
                total[shown] = total.get(shown, 0) + count
        return DocumentCounts(total)

    def retry_failed(self) -> int:
        """Read the failed files again; returns how many."""
        waiting = self._pipeline.retry()
        self._on_documents(waiting)
        return len(waiting)

    def attach(self, path: Path, *, cancel: threading.Event) -> Attachment:
        """Read a file for a chat; its text is kept, and found by the chat alone.

        AppError with the reason when it has none for us, Cancelled soon after `cancel` is set.
        """
        return self._attacher.attach(path, cancel=cancel)

    def document(self, document_id: str) -> Document | None:
        """The row of a document; None when it is not known (any more)."""
        found = self._reader.document(document_id)
        return self._shown([found])[0] if found else None

    def text(self, document_id: str) -> str:
        """The whole extracted text; empty when there is none."""
        return self._reader.text(document_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        return self._reader.chunks(document_id)

    def place(self, document_id: str, start: int, end: int) -> Anchor:
        """The exact place of the text [start, end)."""
        return self._reader.place(document_id, start, end)

    def locate(self, document_id: str, quote: str) -> tuple[int, int] | None:
        """Where a quoted sentence stands in the text, by alignment; None without clear support."""
        return self._reader.locate(document_id, quote)

    def page_view(
        self, document_id: str, start: int, end: int, width_px: int, *, cancel: threading.Event
    ) -> PageView | None:
        """A picture of the page of a span, with the span marked; None when there are no pages.

        AppError when the page can't be drawn, Cancelled soon after `cancel` is set.
        """
        return self._reader.page_view(document_id, start, end, width_px, cancel=cancel)

    # --- progress --------------------------------------------------------------------------

    def progress(self) -> IndexProgress:
        """Where indexing stands. Cheap."""
        return self._pipeline.progress(is_paused=self.is_paused)

    @property
    def is_paused(self) -> bool:
        """Whether indexing is held. Cheap."""
        return self._pauses.is_paused

    @property
    def holds_for_battery(self) -> bool:
        """Whether indexing is held only because the computer runs on battery. Cheap."""
        return self._pauses.is_for_battery

    @property
    def last_scans(self) -> dict[str, ChangeSummary]:
        """What the last look at each source found, by its id. Cheap."""
        return dict(self._scans)

    @property
    def words_done_at(self) -> float:
        """When everything that waited had been read last, on the monotonic clock. Cheap."""
        return self._pipeline.words_done_at

    @property
    def embedded_chunks(self) -> int:
        """Passages embedded since the app started. Cheap."""
        return self._pipeline.meter.embedded_ever

    def pause(self) -> None:
        """Hold indexing after the file or batch in work. Cheap."""
        self._pauses.pause()
        self._emit(ProgressChanged(self.progress()))

    def resume(self) -> None:
        """Go on indexing. Cheap."""
        self._pauses.resume()
        self._emit(ProgressChanged(self.progress()))

    def wait_until_quiet(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is left to do; False when the time was over first."""
        return self._wait(lambda: self._pipeline.is_idle, timeout_s)

    def wait_until_words(self, timeout_s: float | None = None) -> bool:
        """Wait until every known file is searchable by words; False when the time was over."""
        return self._wait(lambda: self._pipeline.are_words_done, timeout_s)

    # --- from the threads behind -----------------------------------------------------------

    def _wait(self, is_done: Callable[[], bool], timeout_s: float | None) -> bool:
        with self._quiet:
            return self._quiet.wait_for(lambda: is_done() or self._closing.is_set(), timeout_s)

    def _begin(self, source: Source) -> Source:
        self._watch.watch(source)
        self._pipeline.look_at(source)
        self._emit(SourcesChanged(tuple(self.sources())))
        return source

    def _shown(self, documents: Sequence[Document]) -> list[Document]:
        """The rows with the state that the source's own state makes of them."""
        return [replace(d, state=self._state_of(d.source_id, d.state)) for d in documents]

    def _state_of(self, source_id: str, state: DocumentState) -> DocumentState:
        is_offline = self._catalogue.state(source_id) is SourceState.OFFLINE
        return DocumentState.OFFLINE if is_offline else state

    def _on_state(self, source: Source, is_or_was_offline: bool) -> None:
        self._emit(SourcesChanged(tuple(self.sources())))
        if is_or_was_offline:
            self._on_documents(self._documents.documents(source.source_id))

    def _on_scanned(self, source: Source, summary: ChangeSummary) -> None:
        self._scans[source.source_id] = summary
        self._emit(SourceScanned(source.source_id, summary))

    def _on_documents(self, documents: Sequence[Document]) -> None:
        self._is_count_stale = True
        own = [document for document in documents if not self._attacher.has(document)]
        self._emit(DocumentsChanged(tuple(self._shown(own))))

    def _on_stopped(self, error: AppError) -> None:
        self.pause()
        self._emit(Notice(error.title, f"{error.hint} Indexing is paused: resume it then."))

    def _tick(self) -> None:
        """Tell progress, and wake whoever waits for quiet."""
        if next(self._ticks) % _BATTERY_TICKS == 0:
            self._pauses.check_battery()
        if self._pipeline.is_idle and (self._is_count_stale or self._pipeline.meter.is_running):
            self._is_count_stale = False
            self._pipeline.count_files()
        progress = self.progress()
        if progress != self._told_progress:
            self._emit(ProgressChanged(progress))
            self._told_progress = progress
        with self._quiet:
            self._quiet.notify_all()

    def _emit(self, event: LibraryEvent) -> None:
        for listener in list(self._listeners):
            listener(event)
