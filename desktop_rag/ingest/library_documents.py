"""The documents of the library, and the progress and pauses of indexing. Any worker thread."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.conversation import Attachment
from desktop_rag.core.domain import (
    LINKS,
    Document,
    DocumentState,
    FileCondition,
    SourceState,
    StoredText,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import (
    DocumentCounts,
    FileChange,
    IndexProgress,
    LibraryEvent,
    LibraryFacets,
    ProgressChanged,
    Stage,
)
from desktop_rag.core.parsed import Anchor, Chunk, ColourSpan, PageView, PageWish, ParsedDocument
from desktop_rag.core.places import Places, places_from_json
from desktop_rag.core.quotes import locate
from desktop_rag.core.shared_library import is_shared
from desktop_rag.ingest.background.background_thread import Ticker
from desktop_rag.ingest.background.indexing_pauses import IndexingPauses, RetryWait
from desktop_rag.ingest.indexing.attacher import Attacher
from desktop_rag.ingest.parsing.page_renderer import PageRenderer
from desktop_rag.ingest.pipeline import Pipeline
from desktop_rag.ingest.sources.catalogue import Catalogue
from desktop_rag.store.contract.documents import DocumentStore, TagStore

log = logging.getLogger(__name__)

_LONGEST_QUOTE_CHARS = 4000
# For more documents than this the tags of all files are read.
_FEW = 500
_NONE = DocumentCounts()


class LibraryDocuments:
    """Reads what the library has of each document: `library.documents`."""

    def __init__(
        self,
        store: DocumentStore,
        tags: TagStore,
        catalogue: Catalogue,
        pipeline: Pipeline,
        pages: PageRenderer,
        attacher: Attacher,
        *,
        findable: DocumentStore,
        changed: Callable[[Sequence[Document]], None],
    ) -> None:
        """`findable` has the documents of a shared library too, which can only be read."""
        self._store = store
        self._findable = findable
        self._tags = tags
        self._catalogue = catalogue
        self._pipeline = pipeline
        self._pages = pages
        self._attacher = attacher
        self._changed = changed

    def all(self, *, source_id: str = "", state: DocumentState | None = None) -> list[Document]:
        """Documents, of one source or in one state if given, by path."""
        found = self._as_now(self._store.documents(source_id))
        return [d for d in found if state in (None, d.state)]

    def by_source(self, source_ids: Sequence[str]) -> dict[str, list[Document]]:
        """The documents of each of these own sources, by path. Two reads for all of them."""
        found: dict[str, list[Document]] = {source_id: [] for source_id in source_ids}
        for document in self._as_now(self._store.of_sources(source_ids)):
            found[document.source_id].append(document)
        return found

    def get(self, document_id: str) -> Document | None:
        """The row of a document; None when it does not exist (any more)."""
        return next(iter(self.of_ids([document_id])), None)

    def of_ids(self, document_ids: Sequence[str]) -> list[Document]:
        """The rows of these documents, in any order, without those that do not exist (any more)."""
        return self._as_now(self._findable.get(document_ids))

    def below(self, path: Path) -> list[Document]:
        """The document of this file, or those of all files in this folder, parts included."""
        near = [
            source.source_id
            for source in self._catalogue.sources()
            if path.is_relative_to(source.path) or source.path.is_relative_to(path)
        ]
        found = (d for source_id in near for d in self.all(source_id=source_id))
        return [d for d in found if d.path.is_relative_to(path)]

    def listed(self, documents: Sequence[Document]) -> list[Document]:
        """Of these rows those that `all` lists, with their current state."""
        return self._as_now([d for d in documents if not self._attacher.has(d)])

    def counts(self, source_id: str = "") -> DocumentCounts:
        """The numbers of files and web pages in each state, of all own sources or of any one."""
        if is_shared(source_id):
            return self._findable.counts(source_id)
        if source_id:
            known = any(s.source_id == source_id for s in self._catalogue.sources())
            return self._now(source_id, self._store.counts(source_id) if known else _NONE)
        return DocumentCounts.sum_of(self.counts_by_source().values())

    def counts_by_source(self) -> dict[str, DocumentCounts]:
        """The numbers of each own source, by its id: one query, however many there are."""
        found = self._store.counts_by_source()
        ids = [source.source_id for source in self._catalogue.sources()]
        return {each: self._now(each, found.get(each, _NONE)) for each in ids}

    def facets(self) -> LibraryFacets:
        """The formats and folders of the documents that searches may find."""
        return self._findable.facets()

    def changes_since(self, at: float) -> list[FileChange]:
        """The changes of files from this time on, the newest first; kept for a week."""
        return self._store.changes_since(at)

    # --- content ---------------------------------------------------------------------------

    def text(self, document_id: str) -> str:
        """The whole extracted text; empty when there is none."""
        return self._findable.text(document_id) or ""

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        return self._findable.chunks(document_id)

    def place(self, document_id: str, start: int, end: int) -> Anchor:
        """The exact place of a span of the text."""
        marks, headings, _ = places_from_json(self._findable.content(document_id)[1])
        return Places(marks, headings).anchor(start, end)

    def locate(self, document_id: str, quote: str) -> tuple[int, int] | None:
        """The span of a quoted sentence in the text, by alignment; None without clear support."""
        return locate(quote, self.text(document_id))

    def stored_text(self, document_id: str) -> StoredText | None:
        """A document with its content; None when it does not exist (any more)."""
        document = self.get(document_id)
        if document is None:
            return None
        text, places = self._findable.content(document_id)
        return StoredText(document, text or "", places, tuple(self._findable.parts(document_id)))

    def file_condition(self, document: Document) -> FileCondition:
        """How its file is now. It may take long where the file is far away."""
        if is_shared(document.document_id):
            # A file with this path here would be another one.
            return FileCondition.ELSEWHERE
        if self._state(document.source_id, document.state) is DocumentState.OFFLINE:
            return FileCondition.OUT_OF_REACH
        try:
            found = document.path.stat()
        except FileNotFoundError:
            return FileCondition.MISSING
        except OSError:
            return FileCondition.OUT_OF_REACH
        stored = document.stat
        is_same = (found.st_size, found.st_mtime_ns) == (stored.size_bytes, stored.mtime_ns)
        return FileCondition.SAME if is_same else FileCondition.CHANGED

    def page_view(
        self, document: Document, wish: PageWish, *, cancel: threading.Event
    ) -> PageView | None:
        """A picture of a page with the words marked; None for a file in another, or elsewhere.

        AppError when the page can't be drawn, Cancelled soon after `cancel` is set.
        """
        if document.part or is_shared(document.document_id):
            return None
        wish = replace(wish, quote=wish.quote[:_LONGEST_QUOTE_CHARS])
        return self._pages.draw(document.path, wish, cancel=cancel)

    def code_colours(
        self, document: Document, text: str, *, cancel: threading.Event
    ) -> tuple[ColourSpan, ...]:
        """The colours of the stored text of source code; none if the file has changed since."""
        if is_shared(document.document_id):
            return ()
        return self._pages.colours(document.path, text, cancel=cancel)

    def prepare_pages(self) -> None:
        """Start the process that draws pages, so that the first one comes at once."""
        self._pages.warm_up()

    # --- reading ---------------------------------------------------------------------------

    def parsed(self, path: Path, *, cancel: threading.Event) -> ParsedDocument | None:
        """What is in any file, read in the parser process and not stored; None after `close`.

        AppError with the reason when it can't be read, Cancelled soon after `cancel` is set.
        """
        return self._pages.parsed(path, cancel=cancel)

    def attach(self, path: Path, *, cancel: threading.Event) -> Attachment:
        """Read a file for a chat; its text is stored and searched by that chat only.

        AppError with the reason when it has no readable text, Cancelled soon after `cancel` is
        set.
        """
        return self._attacher.attach(path, cancel=cancel)

    def retry_failed(self) -> list[str]:
        """Read failed files again, and fetch failed pages; returns the ids of their documents."""
        failed = self._store.documents(state=DocumentState.FAILED)
        self._pipeline.pictures.forget(failed)
        to_fetch = self._link_sources() & {d.source_id for d in failed}
        waiting = self._store.requeue_failed()
        self._read(waiting, to_fetch)
        return [d.document_id for d in waiting]

    def read_again(self, document_ids: Sequence[str]) -> int:
        """Read these files again, even unchanged ones, and fetch failed pages; returns how many.

        Files that a rule leaves out stay as they are. A document inside a file stands for the file.
        """
        rows = self._store.get(document_ids)
        files = {d.parent_id or d.document_id for d in rows}
        wanted = [d for d in self._store.get(list(files)) if d.can_be_read_again]
        self._pipeline.pictures.forget(wanted)
        links = self._link_sources()
        to_fetch = links & {d.source_id for d in wanted}
        waiting = self._store.requeue([d.document_id for d in wanted if d.source_id not in links])
        self._read(waiting, to_fetch)
        return len(wanted)

    def read_left_out(self) -> None:
        """Read files again that were left out for want of their text, if that can be had now."""
        late = self._pipeline.late
        if not late.can_read:
            return
        skipped = self._store.documents(state=DocumentState.SKIPPED)
        left_out = [d.document_id for d in skipped if d.reason.startswith(late.reason)]
        self._read(self._store.requeue(left_out))

    def read_waiting(self) -> int:
        """Read what waits, after rows were changed in the store; returns the number of files."""
        rows = self._store.documents(state=DocumentState.WAITING)
        waiting = [d for d in rows if d.is_to_be_read]
        self._read(waiting)
        return len(waiting)

    def _read(self, waiting: Sequence[Document], to_fetch: Collection[str] = ()) -> None:
        """Queue documents, and the sources whose pages are to be fetched."""
        self._pipeline.indexer.submit(d.document_id for d in waiting)
        for source in self._catalogue.sources() if to_fetch else ():
            if source.source_id in to_fetch:
                self._pipeline.scans.request(source)
        self._changed(waiting)

    def _link_sources(self) -> set[str]:
        """The sources of web pages, which are fetched to be read again."""
        return {s.source_id for s in self._catalogue.sources() if s.kind == LINKS}

    def _as_now(self, documents: Sequence[Document]) -> list[Document]:
        """The rows with their current state and with the tags given to their files."""
        own = [d for d in documents if not is_shared(d.document_id)]
        paths = [d.path for d in own] if len(own) <= _FEW else None
        given = self._tags.given(paths)
        sited = self._pipeline.scans.with_pages(self._store.with_sites(own))
        now = [
            replace(d, state=self._state(d.source_id, d.state), given_tags=given.get(d.path, ()))
            for d in map(self._pipeline.late.as_now, sited)
        ]
        return [*now, *(d for d in documents if is_shared(d.document_id))]

    def _now(self, source_id: str, counts: DocumentCounts) -> DocumentCounts:
        """The stored counts of a source with its state now: all its documents share that."""
        if not counts.by_state or not self._is_offline(source_id):
            return counts
        return DocumentCounts({DocumentState.OFFLINE: sum(counts.by_state.values())})

    def _state(self, source_id: str, stored: DocumentState) -> DocumentState:
        """The stored state, or OFFLINE while the source can't be reached."""
        return DocumentState.OFFLINE if self._is_offline(source_id) else stored

    def _is_offline(self, source_id: str) -> bool:
        return self._catalogue.state(source_id) is SourceState.OFFLINE


_PROGRESS_S = 0.2
# Work that begins wakes the progress thread.
_IDLE_S = 60.0
# It may go on after a pause.
_PAUSED_S = 2.0
_BATTERY_S = 15.0


class LibraryIndexing:
    """Reports and pauses the background work of the library: `library.indexing`. Any thread."""

    def __init__(
        self,
        pipeline: Pipeline,
        documents: DocumentStore,
        space: RetryWait,
        *,
        publish: Callable[[LibraryEvent], None],
    ) -> None:
        self._pipeline = pipeline
        self._documents = documents
        self._publish = publish
        self._pauses = IndexingPauses(pipeline.set_paused, space)
        self._ticker = Ticker("progress", _PROGRESS_S, self._tick)
        self._ticked = threading.Condition()
        self._waiters = 0
        self._battery_due_at = 0.0
        self._closing = threading.Event()
        self._published: IndexProgress | None = None
        self._is_started = False
        self._is_count_stale = True
        pipeline.meter.began = self._ticker.wake

    def start(self) -> None:
        """Begin to publish progress."""
        self._count()
        self._is_started = True
        self._ticker.start()

    def stop_waiting(self) -> None:
        """End all waits for indexing, for good."""
        self._closing.set()
        with self._ticked:
            self._ticked.notify_all()

    def close(self) -> None:
        """Publish nothing more. Idempotent."""
        self._ticker.close()

    # --- progress --------------------------------------------------------------------------

    def progress(self) -> IndexProgress:
        """The current stage and figures. Cheap."""
        pictures = self._pipeline.pictures.waiting
        progress = replace(self._pipeline.meter.snapshot(), pictures=pictures)
        if not self._is_started:
            # A library that is not known yet must not look empty.
            return IndexProgress(Stage.STARTING)
        if self.is_paused and not self._pipeline.is_idle:
            return replace(progress, stage=Stage.PAUSED)
        if progress.stage is Stage.IDLE and not self._pipeline.scans.is_idle:
            return replace(progress, stage=Stage.SCANNING)
        return progress

    @property
    def is_idle(self) -> bool:
        """True when nothing is left to do. Cheap."""
        return self._pipeline.is_idle

    @property
    def searchable_at(self) -> float:
        """The monotonic time when the last waiting file had been read. Cheap."""
        return self._pipeline.searchable_at

    @property
    def embedded_chunks(self) -> int:
        """Passages embedded since the app started. Cheap."""
        return self._pipeline.meter.embedded_ever

    def note_changed_documents(self) -> None:
        """Count the files again once indexing is idle."""
        self._is_count_stale = True
        self.wake()

    def wake(self) -> None:
        """Publish progress soon, as a part begins to work. Cheap."""
        self._ticker.wake()

    # --- pauses ----------------------------------------------------------------------------

    @property
    def is_paused(self) -> bool:
        """True while indexing is paused. Cheap."""
        return self._pauses.is_paused

    @property
    def is_paused_for_battery(self) -> bool:
        """True while indexing is paused only because the computer runs on battery. Cheap."""
        return self._pauses.is_for_battery

    @property
    def is_retrying_later(self) -> bool:
        """True while indexing waits until it is time to try again. Cheap."""
        return self._pauses.is_retrying_later

    def retry_later(self) -> bool:
        """Pause until it is time to try again; False when that is no news. Cheap."""
        is_news = self._pauses.retry_later()
        self._publish(ProgressChanged(self.progress()))
        return is_news

    def pause(self) -> None:
        """Pause indexing after the current file or batch. Cheap."""
        self._pauses.pause()
        self._publish(ProgressChanged(self.progress()))

    def resume(self) -> None:
        """Resume indexing. Cheap."""
        self._pauses.resume()
        self._publish(ProgressChanged(self.progress()))
        self.wake()

    def pause_pictures(self) -> None:
        """Read no more pictures after the current one; all else goes on. Cheap."""
        self._set_pictures(lambda: self._pipeline.pictures.set_paused(True))

    def resume_pictures(self) -> None:
        """Read pictures again. Cheap."""
        self._set_pictures(lambda: self._pipeline.pictures.set_paused(False))

    def read_pictures(self) -> None:
        """Read the pictures that wait, however long it takes, until the app ends. Cheap."""
        self._set_pictures(self._pipeline.pictures.allow)

    def _set_pictures(self, change: Callable[[], None]) -> None:
        change()
        self._pipeline.picture_reader.wake()
        self._publish(ProgressChanged(self.progress()))
        self._ticker.wake()

    def set_pauses_on_battery(self, is_wanted: bool) -> None:
        """Pause while the computer runs on battery, or don't."""
        self._pauses.set_pauses_on_battery(is_wanted)

    # --- completion ------------------------------------------------------------------------

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is left to do; False after the timeout."""
        return self._wait(lambda: self._pipeline.is_idle, timeout_s)

    def wait_until_searchable(self, timeout_s: float | None = None) -> bool:
        """Wait until every known file is searchable by words; False after the timeout."""
        return self._wait(lambda: self._pipeline.is_searchable, timeout_s)

    def _wait(self, is_done: Callable[[], bool], timeout_s: float | None) -> bool:
        with self._ticked:
            self._waiters += 1
            self._ticker.wake()
            try:
                return self._ticked.wait_for(lambda: is_done() or self._closing.is_set(), timeout_s)
            finally:
                self._waiters -= 1

    # --- on the progress thread --------------------------------------------------------------

    def _tick(self) -> float:
        """Publish new progress and wake waiting threads; returns the seconds to rest."""
        now = time.monotonic()
        if now >= self._battery_due_at:
            self._battery_due_at = now + _BATTERY_S
            self._pauses.check_battery()
        self._pauses.check_retry()
        is_idle = self._pipeline.is_idle
        if is_idle and (self._is_count_stale or self._pipeline.meter.is_running):
            self._is_count_stale = False
            self._pauses.note_progress()
            self._count()
            self._pipeline.meter.end_run()
        progress = self.progress()
        if progress != self._published:
            self._publish(ProgressChanged(progress))
            self._published = progress
        with self._ticked:
            self._ticked.notify_all()
            if self._waiters or not (is_idle or self.is_paused):
                return 0.0
            return _PAUSED_S if self.is_paused else _IDLE_S

    def _count(self) -> None:
        try:
            counts = self._documents.counts()
            unread = counts.of(DocumentState.FAILED) + counts.of(DocumentState.SKIPPED)
            self._pipeline.meter.set_files(counts.total, unread)
        except AppError as error:
            log.info("the files were not counted: %s", error.title)
