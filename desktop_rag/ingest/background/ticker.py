"""Calls a function again and again, on a thread of its own."""

import threading
from collections.abc import Callable


class Ticker:
    """A thread that does nothing but call `tick` until it is closed.

    A tick that returns how many seconds nothing is to be done lets the thread rest that long, or
    until `wake`: a thread that wakes up for nothing keeps a processor from sleeping.
    """

    def __init__(
        self, name: str, seconds: float, tick: Callable[[], float] | Callable[[], None]
    ) -> None:
        """`seconds` pass between two calls at least."""
        self._seconds = seconds
        self._tick = tick
        self._closing = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to call."""
        self._thread.start()

    def wake(self) -> None:
        """There is something to do: rest no longer. Cheap; any thread."""
        self._woken.set()

    def close(self) -> None:
        """Call no more; waits for a call under way. Idempotent."""
        self._closing.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(self._seconds):
            # Before the tick, which then sees what it was woken for.
            self._woken.clear()
            rest_s = self._tick()
            if rest_s:
                self._woken.wait(rest_s)
