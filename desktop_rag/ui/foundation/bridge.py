"""The only bridge between the Qt thread and worker threads.

`run` and `stream` send work to named stdlib threads; `post` takes events from any thread, and
widgets `hear` the types they show. All callbacks run on the Qt thread, in order, a few milliseconds
at a time, so that ten thousand results never freeze the window. During a click they wait, so that
nothing moves under the pointer.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import MethodType
from typing import TypeVar
from weakref import WeakMethod

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit
from shiboken6 import isValid

from desktop_rag.core.changes import Changes
from desktop_rag.core.errors import AppError, Cancelled

# A press and its release must meet the same widget. Leaving a field, or a result from another
# thread, may move a button away in between, and the click is lost.
# A click is shorter. A button that is held down to select text or to drag must not stop a stream.
_LONGEST_CLICK_S = 0.4
_POLL_MS = 15


def is_pressed() -> bool:
    """True while a mouse button is down."""
    return QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton


class ClickWatch:
    """Tells whether a press is so recent that it may become a click."""

    def __init__(self) -> None:
        self._since: float | None = None

    def is_clicking(self) -> bool:
        """True from a press to its release, for the length of a click at most."""
        if not is_pressed():
            self._since = None
            return False
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since < _LONGEST_CLICK_S


class EditEnd(QObject):
    """Emits `ended` when editing a field is finished, but not while a mouse button is down."""

    ended = Signal()

    def __init__(self, field: QLineEdit) -> None:
        super().__init__(field)
        self._is_waiting = False
        field.editingFinished.connect(self._on_finished)

    def settle(self) -> None:
        """Emit `ended` now if it is waiting for a release."""
        if self._is_waiting:
            self._is_waiting = False
            self.ended.emit()

    @Slot()
    def _on_finished(self) -> None:
        if not is_pressed():
            self._is_waiting = False
            self.ended.emit()
        elif not self._is_waiting:
            self._is_waiting = True
            QTimer.singleShot(_POLL_MS, self, self._on_polled)

    @Slot()
    def _on_polled(self) -> None:
        if self._is_waiting and is_pressed():
            QTimer.singleShot(_POLL_MS, self, self._on_polled)
        else:
            self.settle()


T = TypeVar("T")
E = TypeVar("E")
_DRAIN_BUDGET_S = 0.008
_THREADS = 6


class Job:
    """A handle on submitted work. After `cancel`, none of its callbacks run. Qt thread."""

    def __init__(self) -> None:
        self.cancel_event = threading.Event()
        self.is_muted = False

    def cancel(self) -> None:
        """Ask the work to stop and drop its remaining results."""
        self.cancel_event.set()
        self.is_muted = True

    def stop(self) -> None:
        """Ask the work to end early; its last results still arrive."""
        self.cancel_event.set()


class Bridge(QObject):
    """Owns the window's worker threads and delivers their results on the Qt thread.

    Create it on the Qt thread. Any exception other than an AppError is a bug: it is raised again on
    the Qt thread, where the excepthook shows it.
    """

    _pending = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._changes = Changes()
        self._calls: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._is_drain_due = False
        self._is_closed = False
        self._clicks = ClickWatch()
        self._jobs: set[Job] = set()
        self._streams: list[threading.Thread] = []
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="window-work")
        self._pending.connect(self._drain, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        owner: QObject,
        fn: Callable[[], T],
        done: Callable[[T], None] | None = None,
        failed: Callable[[AppError], None] | None = None,
    ) -> Job:
        """Run `fn` on a worker thread, then `done(result)` or `failed(error)` on the Qt thread.

        Nothing is called once `owner` is deleted. Without `failed`, an AppError is posted as an
        event so that the window shows it.
        """
        job = self._new_job()

        def work() -> None:
            result = fn()
            self._deliver(job, owner, lambda: done(result) if done else None)

        guarded = self._guarded(job, owner, work, failed)
        if not self._is_closed:
            self._pool.submit(guarded)
        return job

    def stream(
        self,
        owner: QObject,
        make_iterator: Callable[[threading.Event], Iterable[T]],
        on_item: Callable[[T], None],
        done: Callable[[], None] | None = None,
        failed: Callable[[AppError], None] | None = None,
    ) -> Job:
        """Iterate on a worker thread; `on_item` gets every item on the Qt thread, in order.

        `make_iterator` gets the event that `Job.cancel` and `Job.stop` set.
        """
        job = self._new_job()

        def work() -> None:
            for item in make_iterator(job.cancel_event):
                self._deliver(job, owner, lambda value=item: on_item(value), is_last=False)
            self._deliver(job, owner, lambda: done() if done else None)

        # A dedicated thread: an answer may take minutes and must not delay short work.
        guarded = self._guarded(job, owner, work, failed)
        thread = threading.Thread(target=guarded, name="window-stream", daemon=True)
        if not self._is_closed:
            self._streams = [t for t in self._streams if t.is_alive()] + [thread]
            thread.start()
        return job

    def post(self, event: object) -> None:
        """Deliver an event on the Qt thread, after those posted before. Any thread."""
        self._enqueue(lambda: self._changes.publish(event))

    def hear(
        self, kind: type[E] | tuple[type[E], ...], hearer: Callable[[E], object]
    ) -> Callable[[], None]:
        """Call `hearer`, on the Qt thread, with each posted event of this type, or of any of these.

        A method is held like a slot: its object is not kept alive, and is not called once it is
        deleted. Returns a function that unsubscribes.
        """
        if not isinstance(hearer, MethodType):
            return self._changes.hear(kind, hearer)
        method = WeakMethod(hearer)

        def call(event: E) -> None:
            heard = method()
            if heard and isValid(heard.__self__):
                heard(event)
            else:
                stop()

        stop = self._changes.hear(kind, call)
        return stop

    def close(self) -> None:
        """Cancel work, wait for the threads and ignore further work. Qt thread, at shutdown."""
        self._is_closed = True
        for job in list(self._jobs):
            job.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for thread in self._streams:
            thread.join()
        self._calls.clear()

    def _guarded(
        self,
        job: Job,
        owner: QObject,
        work: Callable[[], None],
        failed: Callable[[AppError], None] | None,
    ) -> Callable[[], None]:
        def guarded() -> None:
            try:
                work()
            except Cancelled:
                self._jobs.discard(job)
            except AppError as error:
                self._deliver(job, owner, lambda caught=error: self._fail(failed, caught))
            except BaseException as bug:
                self._deliver(job, owner, lambda caught=bug: _raise(caught))

        return guarded

    def _new_job(self) -> Job:
        job = Job()
        self._jobs.add(job)
        return job

    def _deliver(
        self, job: Job, owner: QObject, call: Callable[[], None], *, is_last: bool = True
    ) -> None:
        def deliver() -> None:
            if is_last:
                self._jobs.discard(job)
            if not job.is_muted and isValid(owner):
                call()

        self._enqueue(deliver)

    def _fail(self, failed: Callable[[AppError], None] | None, error: AppError) -> None:
        if failed:
            failed(error)
        else:
            self._changes.publish(error)

    def _enqueue(self, call: Callable[[], None]) -> None:
        if self._is_closed:
            return
        with self._lock:
            self._calls.append(call)
            is_first = not self._is_drain_due
            self._is_drain_due = True
        if is_first:
            self._pending.emit()

    @Slot()
    def _drain(self) -> None:
        if self._clicks.is_clicking():
            QTimer.singleShot(_POLL_MS, self, self._drain)
            return
        stop_at = time.perf_counter() + _DRAIN_BUDGET_S
        while True:
            with self._lock:
                if not self._calls:
                    self._is_drain_due = False
                    return
                call = self._calls.popleft()
            try:
                call()
            except BaseException:
                QTimer.singleShot(0, self._drain)
                raise
            if time.perf_counter() >= stop_at:
                # Let the window paint and handle input before the rest.
                QTimer.singleShot(0, self._drain)
                return


def _raise(caught: BaseException) -> None:
    raise caught
