"""Lets answers go before background work on a model: embedding, follow-ups, examinations.

A small computer does one thing at a time: background work that went on would keep the person
waiting. Any thread.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from desktop_rag.core.errors import Cancelled


class AnswerPriority:
    """Background work calls `wait` between two pieces of work, or watches `must_yield`.

    `must_yield` is set while an answer is under way, and for good after `stop`: a piece of work
    that takes long uses it as its cancel event.
    """

    def __init__(self) -> None:
        self.must_yield = threading.Event()
        self._answers = 0
        self._is_stopped = False
        self._changed = threading.Condition()

    @contextmanager
    def answering(self) -> Generator[None]:
        """Hold background work back for the length of the block."""
        with self._changed:
            self._answers += 1
            self.must_yield.set()
        try:
            yield
        finally:
            with self._changed:
                self._answers -= 1
                if not self._answers and not self._is_stopped:
                    self.must_yield.clear()
                self._changed.notify_all()

    @property
    def is_answering(self) -> bool:
        """True while an answer is under way."""
        return self._answers > 0

    def wait(self, timeout_s: float | None = None) -> None:
        """Return once no answer is under way, or after the timeout; Cancelled after `stop`."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopped or not self._answers, timeout_s)
            if self._is_stopped:
                raise Cancelled

    def sleep(self, seconds: float) -> None:
        """Sleep, however many answers come; Cancelled after `stop`."""
        with self._changed:
            if self._changed.wait_for(lambda: self._is_stopped, seconds):
                raise Cancelled

    def stop(self) -> None:
        """Cancel all background work, for good."""
        with self._changed:
            self._is_stopped = True
            self.must_yield.set()
            self._changed.notify_all()
