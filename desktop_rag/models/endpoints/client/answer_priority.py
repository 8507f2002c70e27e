"""Lets answers go before the examination of an endpoint. Any thread.

A server on a small computer does one thing at a time: an examination that went on would keep the
person waiting.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from desktop_rag.core.errors import Cancelled


class AnswerPriority:
    """`giving_way` is set while an answer is under way; it cancels what may be done later."""

    def __init__(self) -> None:
        self.giving_way = threading.Event()
        self._answers = 0
        self._is_stopped = False
        self._changed = threading.Condition()

    @contextmanager
    def answering(self) -> Generator[None]:
        """Hold back what may be done later, for the length of the block."""
        with self._changed:
            self._answers += 1
            self.giving_way.set()
        try:
            yield
        finally:
            with self._changed:
                self._answers -= 1
                if not self._answers and not self._is_stopped:
                    self.giving_way.clear()
                self._changed.notify_all()

    def wait(self) -> None:
        """Return once no answer is under way; Cancelled when all is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopped or not self._answers)
            if self._is_stopped:
                raise Cancelled

    def pause(self, seconds: float) -> None:
        """Wait so long; Cancelled when all is to end."""
        with self._changed:
            if self._changed.wait_for(lambda: self._is_stopped, seconds):
                raise Cancelled

    def stop(self) -> None:
        """End what gives way, for good."""
        with self._changed:
            self._is_stopped = True
            self.giving_way.set()
            self._changed.notify_all()
