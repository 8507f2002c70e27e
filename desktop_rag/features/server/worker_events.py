"""Blocking work of the services, on threads of a bounded pool, for the server's event loop."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from threading import Event, Semaphore
from typing import Generic, TypeVar

from desktop_rag.features.server.refusals import Refusal

log = logging.getLogger(__name__)

_T = TypeVar("_T")
# Each mostly waits for an endpoint.
MOST_ANSWERS = 128
_MOST_CALLS = 8
_BUSY_S = 2.0
# Events of one answer that the client has not read yet.
_MOST_WAITING = 64
_LOOK_S = 0.1


class Nothing:
    """Yielded in place of an event while there is none: the client is told that it goes on."""


NOTHING = Nothing()
# Merges two events into one; None if they can't be merged.
Joined = Callable[[_T, _T], _T | None]


def _apart(_first: object, _second: object) -> None:
    return None


class Workers:
    """Runs answers and short calls on threads. Made and used on the server's thread."""

    def __init__(self) -> None:
        self._answers = ThreadPoolExecutor(MOST_ANSWERS, "serve-answer")
        self._calls = ThreadPoolExecutor(_MOST_CALLS, "serve-call")
        self._cancels: set[Event] = set()

    async def call(self, function: Callable[[], _T]) -> _T:
        """The result of a short blocking function."""
        return await asyncio.get_running_loop().run_in_executor(self._calls, function)

    def later(self, function: Callable[[], None]) -> None:
        """Run a short blocking function that nobody waits for; what it raises is in the log."""
        self._calls.submit(_loudly, function)

    async def events(
        self,
        make: Callable[[Event], Generator[_T]],
        *,
        silence_s: float,
        joined: "Joined[_T]" = _apart,
    ) -> AsyncGenerator[_T | Nothing]:
        """The events of a blocking generator, which gets the Event that cancels it.

        Waiting events are merged where `joined` can: a busy server sends less often. NOTHING comes
        after each `silence_s` without one. Closing this generator, or the end of the server,
        cancels that one. Refuses too many answers.
        """
        if len(self._cancels) >= MOST_ANSWERS:
            raise Refusal(503, "Too many answers are under way.", retry_after_s=_BUSY_S)
        crossing = _Crossing[_T](asyncio.get_running_loop(), joined)
        cancel = Event()
        self._cancels.add(cancel)
        done = asyncio.get_running_loop().run_in_executor(
            self._answers, partial(crossing.run, make, cancel)
        )
        done.add_done_callback(lambda _: self._cancels.discard(cancel))
        try:
            while True:
                try:
                    # Not `wait_for`: on Python 3.11 it may swallow that the client has left.
                    async with asyncio.timeout(silence_s):
                        event = await crossing.get()
                except TimeoutError:
                    yield NOTHING
                    continue
                if event is NOTHING:
                    break
                yield event
            await done
        finally:
            cancel.set()

    def stop(self) -> None:
        """Cancel what is under way."""
        for cancel in list(self._cancels):
            cancel.set()

    def close(self) -> None:
        """Cancel what is under way and wait for its end. Any thread."""
        self.stop()
        self._answers.shutdown()
        self._calls.shutdown()


def _loudly(function: Callable[[], None]) -> None:
    try:
        function()
    except Exception:
        log.exception("work after a request failed")


class _Crossing(Generic[_T]):
    """Carries events from a thread to the loop, at the pace of the client; NOTHING is the end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, joined: "Joined[_T]") -> None:
        self._loop = loop
        self._joined = joined
        # The event after one that it could not be joined with.
        self._held: _T | Nothing | None = None
        self._queue: asyncio.Queue[_T | Nothing] = asyncio.Queue()
        self._room = Semaphore(_MOST_WAITING)

    async def get(self) -> _T | Nothing:
        event, self._held = self._held, None
        if event is None:
            event = await self._queue.get()
            self._room.release()
        while not (self._queue.empty() or isinstance(event, Nothing)):
            following = self._queue.get_nowait()
            self._room.release()
            one = None if isinstance(following, Nothing) else self._joined(event, following)
            if one is None:
                self._held = following
                break
            event = one
        return event

    def run(self, make: Callable[[Event], Generator[_T]], cancel: Event) -> None:
        """On the worker thread; an exception is raised where the result is awaited."""
        try:
            # Ended early, a generator still does what its `finally` says.
            with closing(make(cancel)) as events:
                for event in events:
                    while not (cancel.is_set() or self._room.acquire(timeout=_LOOK_S)):
                        pass
                    if cancel.is_set():
                        break
                    self._put(event)
        finally:
            self._put(NOTHING)

    def _put(self, event: "_T | Nothing") -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, event)
