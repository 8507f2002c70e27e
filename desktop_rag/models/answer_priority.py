"""Gives answers priority over background work: reading, embedding, follow-ups, examinations.

Otherwise background work would delay answers on a small computer. Any thread.
"""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from desktop_rag.core.errors import Cancelled

# A search that takes longer shares the computer from then on.
_MOST_PATIENCE_S = 2.0
_WAITED_TO_WORKED = 0.5


class AnswerPriority:
    """Background work calls `wait` between pieces of work; long ones have `must_yield` as `cancel`.

    `must_yield` is set while an answer is under way, and for good after `stop`.
    """

    def __init__(self) -> None:
        self.must_yield = threading.Event()
        self._answers = 0
        self._answers_ever = 0
        self._is_stopped = False
        self._changed = threading.Condition()

    @contextmanager
    def answering(self) -> Generator[None]:
        """Hold background work back within the context."""
        with self._changed:
            self._answers += 1
            self._answers_ever += 1
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

    @property
    def answers_ever(self) -> int:
        """The number of answers and searches since the start."""
        return self._answers_ever

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


class FairShare:
    """Waits for answers with limited patience, so that work goes on. For one thread.

    It may wait for half of the time it worked: two thirds are left for the work, however many
    answers come.
    """

    def __init__(self, priority: AnswerPriority, most_s: float = _MOST_PATIENCE_S) -> None:
        """`most_s` is the initial time to wait, and the most that can be saved up."""
        self._priority = priority
        self._most_s = self.left_s = most_s
        self._released_at = time.monotonic()

    def wait(self) -> None:
        """Wait between pieces of work until no answer is under way or patience ends; Cancelled."""
        came_at = time.monotonic()
        self.worked(came_at - self._released_at)
        self._priority.wait(self.left_s)
        self._released_at = time.monotonic()
        self.waited(self._released_at - came_at)

    def worked(self, seconds: float) -> None:
        """Record working time."""
        self.left_s = min(self._most_s, self.left_s + _WAITED_TO_WORKED * seconds)

    def waited(self, seconds: float) -> None:
        """Record waiting time."""
        self.left_s = max(0.0, self.left_s - seconds)
