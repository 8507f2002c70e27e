"""Rounds over sources that are fetched: asked for or due, one after the other on one thread.

A kind of a wing says what a round does (`FetchRun`). Here is when it runs, how a pause holds it,
how it ends, and what is told of it. A killed round is due again at the next start.
"""

import contextlib
import logging
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from threading import Event

from desktop_rag.core.crawling import CrawlReport, CrawlState
from desktop_rag.core.domain import DocumentState, Source
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.library_events import Notice
from desktop_rag.ingest.background.background_thread import BackgroundThread, Ticker
from desktop_rag.ingest.sources.fetched_documents import FetchLog, FetchReports, Findings, stat_of
from desktop_rag.ingest.sources.source_kinds import SourceKind, SourceKit

log = logging.getLogger(__name__)

_HOUR_S = 3600.0
_CHECK_S = 30.0
# The retry delay when nothing was reachable, much shorter than the schedule.
_RETRY_S = 900.0
_FOLDER = re.compile(r"[0-9a-f]{32}")


class FetchRun:
    """One round over a source with its connections, which a pause can hold. It must be closed.

    Setting `stop`, from any thread, ends a running request and the round with Cancelled. The rest
    is for the thread that fetches.
    """

    # It could not be reached, so nothing is known of it; a limit left documents out.
    is_offline = is_cut_off = False
    # Unreached, it is tried again after so long; not, where only the person can change anything.
    retry_s = _RETRY_S
    waits_for_person = False

    def __init__(self, source: Source, began_at: float) -> None:
        self.source = source
        self.stop = Event()
        self.log = FetchLog(began_at)
        self.findings = Findings()

    def go_on(self) -> bool:
        """Fetch what is new; False when interrupted. Called again, it goes on where it was.

        Raises AppError when something can't be stored, Cancelled when it was stopped.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the connections."""
        raise NotImplementedError


class FetchRounds(SourceKind):
    """A queue of sources of one kind, and the thread that fetches them."""

    def __init__(self, kit: SourceKit, kind: str, clock: Callable[[], float] = time.time) -> None:
        """`clock` is the wall clock."""
        self.kind = kind
        self._kit = kit
        self._clock = clock
        self._reports = FetchReports(kit.storage)
        self._queue: dict[str, Source] = {}
        self._forgotten: set[str] = set()
        self._run: FetchRun | None = None
        # Runs that were held by a pause, by the id of their source.
        self._held: dict[str, FetchRun] = {}
        self._is_sweep_due = False
        # When to try again those that were not reached, and how long that was to wait.
        self._retry_at: dict[str, tuple[float, float]] = {}
        self._background = BackgroundThread(
            f"fetch-{kind}", self._work, has_work=lambda: bool(self._queue) or self._is_sweep_due,
            callbacks=kit.callbacks,
        )  # fmt: skip
        self._ticker = Ticker(f"due-{kind}", _CHECK_S, self.check_schedule)

    # --- what a kind says ----------------------------------------------------------------------

    def open_run(self, source: Source, may_go_on: Callable[[], bool]) -> FetchRun:
        """A round over the source; it asks `may_go_on` before each piece of work."""
        raise NotImplementedError

    def notices(self, run: FetchRun) -> Iterable[Notice]:
        """What to tell the person after a round."""
        raise NotImplementedError

    def purge(self) -> None:
        """Remove what was stored for documents and sources that are gone."""
        raise NotImplementedError

    # --- the threads ---------------------------------------------------------------------------

    def start(self) -> None:
        """Queue fetched documents that were not read yet, and the sources that are due."""
        self._is_sweep_due = True
        self.check_schedule()
        super().start()
        self._ticker.start()

    def close(self) -> None:
        """Stop at once; unfinished rounds are due again at the next start. Idempotent."""
        self._ticker.close()
        self._background.closing.set()
        self._stop_run("")
        super().close()
        for run in self._held.values():
            run.close()
        self._held.clear()

    @property
    def reports(self) -> dict[str, CrawlReport]:
        """The report on fetching each source, so far or at the end, by the id of the source."""
        with self._background.condition:
            runs = [run for run in (*self._held.values(), self._run) if run]
        return self._reports.all() | {run.source.source_id: run.log.report for run in runs}

    # --- requests ------------------------------------------------------------------------------

    def request(self, source: Source, _places: frozenset[Path] | None = None, /) -> None:
        """Fetch what is new in a source now."""
        with self._background.condition:
            self._queue[source.source_id] = source
        self.wake()

    def forget(self, source_id: str) -> None:
        """Delete the files of a removed source and stop fetching it."""
        with self._background.condition:
            self._queue.pop(source_id, None)
            self._forgotten.add(source_id)
            self._is_sweep_due = True
        self._stop_run(source_id)
        self.wake()

    def stop(self, source_id: str) -> None:
        """End the fetching of a source where it is; what was read stays, until the next time."""
        with self._background.condition:
            source = self._queue.pop(source_id, None)
            held = self._held.pop(source_id, None)
        if held:
            held.close()
            self._finish(held, CrawlState.STOPPED)
        elif source and source_id not in self._forgotten:
            self._kit.sources.set_refreshed(source_id, self._clock())
        self._stop_run(source_id)

    def _stop_run(self, source_id: str) -> None:
        with self._background.condition:
            if self._run and source_id in ("", self._run.source.source_id):
                self._run.stop.set()

    def check_schedule(self) -> None:
        """Queue the sources that are due. If the store fails, the next check tries again."""
        try:
            due = [source for source in self._kit.sources.sources() if self._is_due(source)]
        except AppError as error:
            log.info("the schedule of %s was not looked at: %s", self.kind, error.title)
            return
        with self._background.condition:
            known = {*self._queue, self._run.source.source_id if self._run else ""}
            self._queue.update({s.source_id: s for s in due if s.source_id not in known})
        self.wake()

    def _is_due(self, source: Source) -> bool:
        if source.links is None or source.kind != self.kind or self._is_waiting(source.source_id):
            return False
        if not source.refreshed_at:
            return True
        hours = source.links.refresh_hours
        elapsed_s = self._clock() - source.refreshed_at
        # A time ahead was written before the clock was set back: waiting for it could take years.
        return hours > 0 and not -_HOUR_S <= elapsed_s < hours * _HOUR_S

    def _is_waiting(self, source_id: str) -> bool:
        """True for a while after the source could not be reached."""
        until, wait_s = self._retry_at.get(source_id, (0.0, 0.0))
        return 0 < until - self._clock() <= wait_s

    # --- on the thread -------------------------------------------------------------------------

    def _work(self) -> None:
        if self._is_sweep_due:
            self._sweep()
        while run := self._next():
            try:
                is_done = self._fetch(run)
            except BaseException:
                # It may have taken note of a document that was not stored: it begins anew.
                self._end(run, is_done=False, is_held=False)
                raise
            self._end(run, is_done=is_done)

    def _next(self) -> FetchRun | None:
        """The next source to fetch, with what is known of an earlier attempt."""
        if not self._background.may_go_on():
            return None
        with self._background.condition:
            if not self._queue:
                return None
            source = self._queue.pop(next(iter(self._queue)))
            run = self._held.pop(source.source_id, None)
        wanted = (source.links, source.collection_id)
        if run and (run.source.links, run.source.collection_id) != wanted:
            run.close()
            run = None
        run = run or self._open(source)
        with self._background.condition:
            self._run = run
            if self._background.closing.is_set():
                run.stop.set()
        return run

    def _open(self, source: Source) -> FetchRun:
        def may_go_on() -> bool:
            return self._background.may_go_on() and source.source_id not in self._forgotten

        return self.open_run(source, may_go_on)

    def _end(self, run: FetchRun, *, is_done: bool, is_held: bool = True) -> None:
        """Hold an interrupted round, or close it, and queue it again."""
        source = run.source
        is_left = source.source_id in self._forgotten or self._background.closing.is_set()
        with self._background.condition:
            self._run = None
            if not is_done and source.source_id not in self._forgotten:
                self._queue.setdefault(source.source_id, source)
            if is_held and not is_done and not is_left:
                self._held[source.source_id] = run
                run.log.change(state=CrawlState.PAUSED)
                return
        run.close()

    def _fetch(self, run: FetchRun) -> bool:
        """Run a round; False when interrupted."""
        run.log.change(state=CrawlState.RUNNING)
        try:
            if not run.go_on():
                return False
        except Cancelled:
            if self._background.closing.is_set() or run.source.source_id in self._forgotten:
                raise
            self._finish(run, CrawlState.STOPPED)
            return True
        if run.is_offline:
            self._retry_at[run.source.source_id] = (self._clock() + run.retry_s, run.retry_s)
            self._finish(run, CrawlState.OFFLINE)
        else:
            self._retry_at.pop(run.source.source_id, None)
            self.purge()
            self._finish(run, CrawlState.DONE)
        return True

    def _finish(self, run: FetchRun, state: CrawlState) -> None:
        source, is_offline = run.source, state is CrawlState.OFFLINE
        if not is_offline or run.waits_for_person:
            self._kit.sources.set_refreshed(source.source_id, self._clock())
        run.log.change(state=state, ended_at=self._clock(), waiting=0, is_cut_off=run.is_cut_off)
        self._reports.put(source.source_id, run.log.report)
        summary = run.findings.summary
        log.info(
            "%s: +%d ~%d >%d -%d unchanged %d, of these not reached %d", self.kind, summary.added,
            summary.changed, summary.moved, summary.gone, summary.unchanged,
            len(run.findings.missed),
        )  # fmt: skip
        callbacks = self._kit.callbacks
        callbacks.source_reached(source, not is_offline)
        callbacks.source_scanned(source, summary)
        for notice in self.notices(run):
            callbacks.notify(notice)

    def _sweep(self) -> None:
        """Delete files without a source, and queue documents that are still to be read."""
        with self._background.condition:
            self._is_sweep_due = False
        sources = self._kit.sources.sources()
        _drop_folders_but(self._kit.folder, {source.source_id for source in sources})
        self._reports.purge()
        self.purge()
        for source in [source for source in sources if source.kind == self.kind]:
            waiting = self._kit.documents.documents(source.source_id, DocumentState.WAITING)
            waiting = [d for d in waiting if d.is_to_be_read]
            kept = [d.document_id for d in waiting if stat_of(d.path)]
            self._kit.indexer.submit(kept, unless_taken=True)
            if len(kept) < len(waiting):
                self.request(source)


def _drop_folders_but(folder: Path, kept: Collection[str]) -> None:
    """Delete the folders of removed sources; anything else there stays."""
    with contextlib.suppress(FileNotFoundError):
        for each in folder.iterdir():
            is_ours = _FOLDER.fullmatch(each.name) and each.is_dir() and not each.is_symlink()
            if is_ours and each.name not in kept:
                shutil.rmtree(each, ignore_errors=True)
