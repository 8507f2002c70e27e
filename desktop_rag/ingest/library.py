"""The face of ingest: sources in, searchable documents out.

Window, tray, command line, server and evaluation use this and its parts. Methods may be called
from any worker thread; those marked "cheap" also from the Qt thread.
"""

import shutil
from collections.abc import Callable, Sequence

from desktop_rag.core.database.server_state import ServerState
from desktop_rag.core.domain import Document, Source
from desktop_rag.core.errors import AppError, DiskFullError
from desktop_rag.core.library_events import ChangeSummary, DocumentsChanged, Notice
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.background.event_publisher import EventPublisher, Listener
from desktop_rag.ingest.background.pipeline_callbacks import PipelineCallbacks
from desktop_rag.ingest.background.space_wait import SpaceWait
from desktop_rag.ingest.embedding.embedder_registry import EmbedderRegistry
from desktop_rag.ingest.embedding.meaning_readiness import MeaningReadiness
from desktop_rag.ingest.indexing.attacher import Attacher
from desktop_rag.ingest.library_collections import LibraryCollections
from desktop_rag.ingest.library_documents import LibraryDocuments
from desktop_rag.ingest.library_exclusions import LibraryExclusions
from desktop_rag.ingest.library_indexing import LibraryIndexing
from desktop_rag.ingest.library_passwords import LibraryPasswords
from desktop_rag.ingest.library_sent import LibrarySent
from desktop_rag.ingest.library_sources import LibrarySources
from desktop_rag.ingest.library_tags import LibraryTags
from desktop_rag.ingest.parsing.page_renderer import PageRenderer
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.parsing.sandbox.sandbox_report import SandboxReport, report_on
from desktop_rag.ingest.pipeline import LibraryStores, Pipeline
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.sources.catalogue import Catalogue
from desktop_rag.ingest.sources.source_watch import SourceWatch
from desktop_rag.ingest.watching.watcher import WatchTimes
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.file_passwords import FilePasswords


class Library:
    """Watches sources and keeps their documents searchable.

    Its parts: `collections`, `sources`, `documents`, `sent`, `exclusions`, `tags`, `passwords`, and
    `indexing`, the work in the background.
    """

    def __init__(
        self,
        stores: LibraryStores,
        embedders: EmbedderRegistry | None,
        priority: AnswerPriority,
        make_parser: Callable[[], ParserProcess],
        *,
        rules: IgnoreRules,
        times: WatchTimes | None = None,
        passwords: FilePasswords | None = None,
    ) -> None:
        """Without `embedders` documents are searchable by words only.

        `make_parser` makes a parser process: one each for files, their pictures, the links of
        pages, drawn pages, attachments and passwords. They ask for `passwords` themselves.
        """
        self._stores = stores
        self._make_parser = make_parser
        self._rules = rules
        self._times = times or WatchTimes()
        self._is_started = False
        self._events = EventPublisher()
        publish, findable = self._events.publish, stores.findable
        catalogue = Catalogue(stores.sources, stores.pages, stores.sent)
        self._watch = SourceWatch(catalogue, state_changed=self._on_state_changed, notify=publish)
        self._pipeline = pipeline = Pipeline(
            stores, catalogue, embedders, priority, make_parser, rules=rules,
            recheck_times=self._times.recheck,
            callbacks=self._callbacks(),
        )  # fmt: skip
        self._pages = PageRenderer(make_parser)
        self._attacher = self._make_attacher(catalogue)
        self.sources = LibrarySources(
            stores.sources, stores.documents, catalogue, self._watch, pipeline.scans,
            pipeline.rules, publish=publish, changed=self._on_documents_changed,
        )  # fmt: skip
        self.collections = LibraryCollections(stores.sources, findable, self.sources, pipeline)
        self.documents = LibraryDocuments(
            stores.documents, stores.tags, catalogue, pipeline, self._pages, self._attacher,
            findable=findable.documents, changed=self._on_documents_changed,
        )  # fmt: skip
        self.sent = self._make_sent(catalogue)
        self.tags = LibraryTags(stores.tags, stores.documents, changed=self._on_documents_changed)
        self.exclusions = self._make_exclusions()
        self.passwords = LibraryPasswords(
            stores.documents, pipeline, passwords or FilePasswords(), make_parser,
            changed=self._on_documents_changed,
        )  # fmt: skip
        space = SpaceWait(lambda: shutil.disk_usage(stores.pages).free, self._times.space)
        self.indexing = LibraryIndexing(pipeline, stores.documents, space, publish=publish)

    @property
    def readiness(self) -> MeaningReadiness:
        """What questions are told about files without vectors."""
        stores, pipeline = self._stores, self._pipeline
        return MeaningReadiness(
            stores.documents, stores.sources, pipeline.embedders, lambda: pipeline.is_idle
        )

    def _callbacks(self) -> PipelineCallbacks:
        publish = self._events.publish
        return PipelineCallbacks(
            documents_changed=self._on_documents_changed,
            source_scanned=self._on_scanned,
            source_reached=self._watch.set_reached,
            notify=publish,
            failed=self._on_failed,
            refused=publish,
        )

    def _make_attacher(self, catalogue: Catalogue) -> Attacher:
        pipeline, stores = self._pipeline, self._stores
        return Attacher(
            stores.documents, stores.sources, self._make_parser, pipeline.chunker,
            collection=catalogue.default_collection, stored=pipeline.wake_embedding,
        )  # fmt: skip

    def _make_sent(self, catalogue: Catalogue) -> LibrarySent:
        return LibrarySent(
            self._pipeline.sent, self._stores.documents, catalogue, self._pipeline.indexer,
            changed=self._on_documents_changed, sources_changed=self.sources.publish_changed,
        )  # fmt: skip

    def _make_exclusions(self) -> LibraryExclusions:
        return LibraryExclusions(
            self._stores.sources, self._stores.documents, self._pipeline,
            changed=self._on_documents_changed, rules_changed=self.sources.publish_changed,
        )  # fmt: skip

    def start(self, *, watch: bool = True) -> None:
        """Resume unfinished work, scan every source, and begin to watch."""
        scans = self._pipeline.scans
        if watch:
            self._watch.start(scans.request, self._rules, self._times)
        for source in self.sources.all():
            self._watch.watch(source)
            # Web pages are fetched when they are due, not at every start.
            if source.links is None:
                scans.request(source)
        self._pipeline.start()
        self.indexing.start()
        self._is_started = True
        if self._pipeline.recordings.can_transcribe:
            self.documents.read_refused_recordings()

    def close(self) -> None:
        """Stop watching and indexing; unfinished work is resumed at the next start. Idempotent."""
        self.indexing.stop_waiting()
        self._watch.close()
        self._pipeline.close()
        self._pages.close()
        self._attacher.close()
        self.indexing.close()

    def let_go(self) -> None:
        """End the processes that read files, unless they are needed; they start again by need."""
        self._pipeline.indexer.let_go()
        self._pipeline.picture_reader.let_go()
        self._pipeline.scans.let_go()
        self._pages.let_go()
        self._attacher.let_go()

    def apply(self, settings: Settings) -> None:
        """Apply the settings that can change while the app runs."""
        if self._pipeline.apply_transcription(settings.transcription) and self._is_started:
            self._look_for_recordings()
        self.indexing.set_pauses_on_battery(settings.index.pauses_on_battery)
        self._pipeline.apply(settings.index)

    def _look_for_recordings(self) -> None:
        """Another server transcribes, or none: look at the recordings again."""
        if self._pipeline.recordings.can_transcribe:
            self.documents.read_refused_recordings()
        for source in self.sources.all():
            if source.is_on_disk:
                self._pipeline.scans.request(source)

    def sandbox_report(self) -> SandboxReport:
        """What the system keeps parser processes from, asked of one that is started for it.

        AppError when it does not start.
        """
        return sandbox_report(self._make_parser)

    @property
    def is_on_server(self) -> bool:
        """True when a database server keeps the library. Cheap."""
        return self._stores.server is not None

    def server_state(self) -> ServerState | None:
        """Sizes, indexes and slow searches of the library's server; None without one."""
        return self._stores.server.state() if self._stores.server else None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with events, on worker threads; returns how to unsubscribe."""
        return self._events.subscribe(listener)

    # --- from the threads of the pipeline ----------------------------------------------------

    def _on_state_changed(self, source: Source, is_or_was_offline: bool) -> None:
        self.sources.publish_changed()
        if is_or_was_offline:
            self._on_documents_changed(self._stores.documents.documents(source.source_id))

    def _on_scanned(self, source: Source, summary: ChangeSummary) -> None:
        self.sources.note_scan(source, summary)

    def _on_documents_changed(self, documents: Sequence[Document]) -> None:
        self._pipeline.note_pictures(documents)
        self.indexing.note_changed_documents()
        self._events.publish(DocumentsChanged(tuple(self.documents.listed(documents))))

    def _on_failed(self, error: AppError) -> None:
        if isinstance(error, DiskFullError):
            if self.indexing.pause_for_space():
                goes_on = "Indexing goes on by itself once there is room."
                self._events.publish(Notice(error.title, f"{error.hint} {goes_on}"))
            return
        self.indexing.pause()
        self._events.publish(
            Notice(error.title, f"{error.hint} Indexing is paused until you resume it.")
        )


def sandbox_report(make_parser: Callable[[], ParserProcess]) -> SandboxReport:
    """The report of `Library.sandbox_report`, without a library."""
    parser = make_parser()
    try:
        return report_on(parser.guards())
    finally:
        parser.close()
