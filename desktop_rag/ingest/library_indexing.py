"""Progress, pauses and completion of indexing. Any thread; owns one that publishes progress."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import IndexProgress, LibraryEvent, ProgressChanged, Stage
from desktop_rag.ingest.background.background_thread import Ticker
from desktop_rag.ingest.background.indexing_pauses import IndexingPauses, SpaceWait
from desktop_rag.ingest.pipeline import Pipeline
from desktop_rag.store.contract.documents import DocumentStore

log = logging.getLogger(__name__)

_PROGRESS_S = 0.2
# The longest rest of the progress thread. Some work begins without waking it.
_REST_S = 2.0
_BATTERY_S = 15.0


class LibraryIndexing:
    """Reports and pauses the background work of the library: `library.indexing`."""

    def __init__(
        self,
        pipeline: Pipeline,
        documents: DocumentStore,
        space: SpaceWait,
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
        """Release everyone who waits for indexing, for good."""
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
            # Nobody is to take a library that is not known yet for an empty one.
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
    def is_paused_for_space(self) -> bool:
        """True while indexing waits for room on a full disk. Cheap."""
        return self._pauses.is_for_space

    def pause_for_space(self) -> bool:
        """Pause until there may be room on the disk; False when that is no news. Cheap."""
        is_news = self._pauses.pause_for_space()
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
        self._ticker.wake()

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
        """Publish new progress, and wake those who wait; returns how long nothing is to be done."""
        now = time.monotonic()
        if now >= self._battery_due_at:
            self._battery_due_at = now + _BATTERY_S
            self._pauses.check_battery()
        self._pauses.check_space()
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
            rests = (is_idle or self.is_paused) and not self._waiters
            return _REST_S if rests else 0.0

    def _count(self) -> None:
        try:
            counts = self._documents.counts()
            unread = counts.of(DocumentState.FAILED) + counts.of(DocumentState.SKIPPED)
            self._pipeline.meter.set_files(counts.total, unread)
        except AppError as error:
            log.info("the files were not counted: %s", error.title)
