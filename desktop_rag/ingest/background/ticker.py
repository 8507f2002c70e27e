"""Calls a function a few times a second, on a thread of its own."""

import threading
from collections.abc import Callable


class Ticker:
    """A thread that does nothing but call `tick` until it is closed."""

    def __init__(self, name: str, seconds: float, tick: Callable[[], None]) -> None:
        self._seconds = seconds
        self._tick = tick
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to call."""
        self._thread.start()

    def close(self) -> None:
        """Call no more; waits for a call under way. Idempotent."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(self._seconds):
            self._tick()
