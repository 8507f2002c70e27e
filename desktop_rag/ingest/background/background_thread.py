"""Threads of background work: a worker that waits for work, a ticker; the pipeline's callbacks."""

import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from desktop_rag.core.domain import Document, Source
from desktop_rag.core.errors import AppError, Cancelled, PassingError
from desktop_rag.core.library_events import ChangeSummary, Notice, RequestRefused

log = logging.getLogger(__name__)

# Of 20 steps; a tenth of the processor's time while something else wants all of it.
NICENESS = 10


def lower_priority() -> None:
    """Lower the priority of this thread and of all that it starts, for good. On Linux only."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):
            now = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, max(now, NICENESS))


@dataclass(frozen=True, slots=True)
class PipelineCallbacks:
    """Functions that the parts of the pipeline call on their threads when something happens.

    `documents_changed`: rows are new, changed or gone. `source_scanned`: a scan finished.
    `source_reached`: a source was reachable, or not. `notify`: show a notice to the person.
    `failed`: an error stops all indexing. `became_busy`: a part begins to work. `became_idle`: it
    has nothing left to do. `refused`: a web page was not fetched because that is forbidden.
    """

    documents_changed: Callable[[Sequence[Document]], None]
    source_scanned: Callable[[Source, ChangeSummary], None]
    source_reached: Callable[[Source, bool], None]
    notify: Callable[[Notice], None]
    failed: Callable[[AppError], None]
    became_busy: Callable[[], None] = lambda: None
    became_idle: Callable[[], None] = lambda: None
    refused: Callable[[RequestRefused], None] = lambda _: None


class BackgroundThread:
    """Calls `work` in a loop while `has_work()` and `may_work()` are true.

    `condition` guards the state that those two read; both are called with it held and must not
    wait for a lock whose owner may be waiting for this one. Of `callbacks` three are called,
    without it. When `work` raises, the thread pauses and calls `failed` with the AppError; for a
    bug, which is logged, with one that says so. `set_paused(False)` resumes. The thread has a low
    priority, and so have the processes that `work` starts.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], None],
        *,
        has_work: Callable[[], bool],
        callbacks: PipelineCallbacks,
        may_work: Callable[[], bool] = lambda: True,
    ) -> None:
        self.condition = threading.Condition()
        self.closing = threading.Event()
        self._work = work
        self._has_work = has_work
        self._may_work = may_work
        self._callbacks = callbacks
        self._is_paused = False
        self._is_busy = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self) -> None:
        """Ask the work under way to end and wait for the thread. Idempotent."""
        self.closing.set()
        self.wake()
        if self._thread.is_alive():
            self._thread.join()

    def wake(self) -> None:
        """Check again for work."""
        with self.condition:
            self.condition.notify_all()

    def set_paused(self, is_paused: bool) -> None:
        """Pause when the current work next calls `may_go_on`, or resume."""
        with self.condition:
            self._is_paused = is_paused
            self.condition.notify_all()

    def may_go_on(self) -> bool:
        """Called by `work` between two pieces: True unless paused, closing or no longer allowed."""
        with self.condition:
            return not self.closing.is_set() and not self._is_paused and self._may_work()

    @property
    def is_idle(self) -> bool:
        """True when nothing is left to do and nothing is being done."""
        with self.condition:
            return not self._is_busy and not self._has_work()

    def while_idle(self, work: Callable[[], None]) -> None:
        """Run `work` here, while the thread waits, if it is idle; else do nothing."""
        with self.condition:
            if not self._is_busy and not self._has_work():
                work()

    def _run(self) -> None:
        lower_priority()
        while self._wait():
            try:
                self._work()
            except Cancelled:
                log.info("cancelled")
            except AppError as error:
                self._pause_for(error)
            except Exception:
                log.exception("a bug stopped background work")
                self._pause_for(
                    AppError("An error in the app interrupted indexing.",
                             "The log file has the details.")
                )  # fmt: skip

    def _wait(self) -> bool:
        with self.condition:
            self._is_busy = False
            is_done = not self._has_work()
        if is_done:
            self._callbacks.became_idle()
        with self.condition:
            self.condition.wait_for(
                lambda: (
                    self.closing.is_set()
                    or (not self._is_paused and self._has_work() and self._may_work())
                )
            )
            self._is_busy = not self.closing.is_set()
        if self._is_busy:
            self._callbacks.became_busy()
        return self._is_busy

    def _pause_for(self, error: AppError) -> None:
        self.set_paused(True)
        self._callbacks.failed(error)


class BackgroundPart:
    """A part of the pipeline, which works on a thread of its own. Any thread."""

    _background: BackgroundThread

    def start(self) -> None:
        """Begin to work, also on what an earlier run left."""
        self._background.start()

    def close(self) -> None:
        """End the work under way; the next start finds the rest. Idempotent."""
        self._background.close()

    def wake(self) -> None:
        """Check again for work."""
        self._background.wake()

    def set_paused(self, is_paused: bool) -> None:
        """Pause after the piece of work under way, or resume."""
        self._background.set_paused(is_paused)

    @property
    def is_idle(self) -> bool:
        """True when nothing is left to do now and nothing is being done."""
        return self._background.is_idle


class Ticker:
    """A thread that calls `tick`, at least `seconds` apart, until it is closed.

    When `tick` returns a number of seconds, the thread rests that long, or until `wake`: a thread
    that wakes up for nothing keeps a processor from sleeping.
    """

    def __init__(
        self, name: str, seconds: float, tick: Callable[[], float] | Callable[[], None]
    ) -> None:
        self._seconds = seconds
        self._tick = tick
        self._closing = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """End a rest early. Cheap; any thread."""
        self._woken.set()

    def close(self) -> None:
        """Stop, after a call under way. Idempotent."""
        self._closing.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(self._seconds):
            # Before the tick, which then sees what it was woken for.
            self._woken.clear()
            if self._closing.is_set():
                return  # `close` woke it, which was cleared just now
            rest_s = self._ticked()
            if rest_s:
                self._woken.wait(rest_s)

    def _ticked(self) -> float | None:
        try:
            return self._tick()
        except PassingError as error:
            log.info("%s: %s", self._thread.name, error.title)
            return None
