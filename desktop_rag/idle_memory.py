"""Frees memory while nobody uses the app, and collects garbage a little at a time. Any thread.

The rooms that own models, indexes and processes free and reload them; this module decides when. It
owns one thread, which wakes up once a minute.
"""

import ctypes
import gc
import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import NothingUsed

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library
    from desktop_rag.models.answer_priority import AnswerPriority

log = logging.getLogger(__name__)

EVERY_S = 10.0
# Objects made before the first generation is collected, and such collections before the second. The
# third, everything else, is never collected by itself.
_YOUNG, _SECOND, _NEVER = 2_000, 10, 1_000_000
_LOOKS_BEFORE_ALL = 60


class SmallCollections:
    """Collects garbage from `start` to `close`, if `look` is called every `EVERY_S` seconds.

    Python itself now and then examines all objects: with a library open that is a million, a third
    of a second in which the window freezes and answers stop. Here what survived one collection is
    left out of the next ones, and everything is examined rarely, or when nobody uses the app. Any
    thread; a window calls `look` on the Qt thread, where its own parts are best taken down.
    """

    def __init__(self) -> None:
        self._usual = gc.get_threshold()
        self._is_on = False
        self._looks = 0

    def start(self) -> None:
        """Begin."""
        self._is_on = True
        gc.set_threshold(_YOUNG, _SECOND, _NEVER)
        self.keep()

    def keep(self) -> None:
        """Leave out everything made so far: it lives until the end."""
        gc.freeze()

    def look(self) -> None:
        """Collect recent garbage, if anything was made since the last time."""
        if not (self._is_on and gc.get_count()[-1]):
            return
        self._looks = (self._looks + 1) % _LOOKS_BEFORE_ALL
        if self._looks == 0:
            gc.unfreeze()
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        """Restore Python's own collections."""
        self._is_on = False
        gc.set_threshold(*self._usual)
        gc.unfreeze()


def collect_all() -> None:
    """Collect everything, including what the small collections leave out."""
    gc.unfreeze()
    gc.collect()


_UNUSED_S = 300.0
_LOOK_S = 60.0
# mallopt's number of this limit in glibc, and the limit.
_M_ARENA_MAX, _ARENAS = -8, 2


class IdleMemory:
    """Releases what can be loaded again once nothing was used for a while.

    The functions of `release` are called in their order, once after each time of use.
    """

    def __init__(
        self,
        release: Sequence[Callable[[], None]],
        prepare: Callable[[], None],
        *,
        is_busy: Callable[[], bool],
        uses: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`uses` counts the person's requests; `is_busy` is true during background work.

        `prepare` loads what the next search needs.
        """
        self._release = release
        self._prepare = prepare
        self._is_busy = is_busy
        self._uses = uses
        self._clock = clock
        self._used_at = clock()
        self._uses_before = uses()
        # After a start nothing is loaded yet either.
        self._is_ready = False
        self._is_released = False
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="idle-memory", daemon=True)

    def start(self) -> None:
        """Begin to check for use."""
        self._thread.start()

    def close(self) -> None:
        """Stop checking. Idempotent."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def check(self) -> None:
        """Free the memory if nothing was used for a while."""
        now, uses = self._clock(), self._uses()
        with self._lock:
            if uses != self._uses_before or self._is_busy():
                self._uses_before = uses
                self._used_at = now
                self._is_released = False
            if self._is_released or now - self._used_at < _UNUSED_S:
                return
        self.release()

    def release(self) -> None:
        """Free the memory now."""
        with self._lock:
            self._is_released = True
            self._is_ready = False
        for part in self._release:
            part()
        _return_memory()
        log.info("nothing is used: memory was freed")

    def prepare(self) -> None:
        """Load what a search needs, as somebody is about to ask; nothing if it is loaded."""
        with self._lock:
            self._used_at = self._clock()
            self._is_released = False
            if self._is_ready:
                return
            self._is_ready = True
        try:
            self._prepare()
        except AppError as error:
            log.info("not prepared: %s", error.title)  # the search says so

    def _run(self) -> None:
        while not self._closing.wait(_LOOK_S):
            self.check()


def idle_memory_of(
    library: "Library",
    chat: "Chat",
    priority: "AnswerPriority",
    load: Callable[[], None],
    release: Sequence[Callable[[], None]],
) -> IdleMemory:
    """The IdleMemory of these services; `load` loads models, the functions `release` free them."""

    def prepare() -> None:
        load()
        # Any word loads the same.
        chat.search("a", limit=1)

    return IdleMemory(
        [library.release, *release, lambda: library.changes.publish(NothingUsed())],
        prepare,
        is_busy=lambda: priority.is_answering or not library.indexing.is_idle,
        uses=lambda: priority.answers_ever,
    )


def share_memory() -> None:
    """Have all threads share two memory arenas; called before the first thread starts.

    glibc otherwise gives each thread its own, and keeps their gaps: 25 MB at rest.
    """
    if set_option := _of_c_library("mallopt"):
        set_option(_M_ARENA_MAX, _ARENAS)


def _return_memory() -> None:
    """Give freed memory back to the system; glibc keeps it otherwise."""
    collect_all()
    if trim := _of_c_library("malloc_trim"):
        trim(0)


def _of_c_library(name: str) -> Callable[..., int] | None:
    """A function of glibc; other C libraries lack these and need none."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
