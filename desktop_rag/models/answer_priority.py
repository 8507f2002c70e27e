"""Lets answers go before background work: reading files, embedding, follow-ups, examinations.

A small computer does one thing at a time: background work that went on would keep the person
waiting. Any thread.
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
    """Background work calls `wait` between two pieces of work, or watches `must_yield`.

    `must_yield` is set while an answer is under way, and for good after `stop`: a piece of work
    that takes long uses it as its cancel event.
    """

    def __init__(self) -> None:
        self.must_yield = threading.Event()
        self._answers = 0
        self._answers_ever = 0
        self._is_stopped = False
        self._changed = threading.Condition()

    @contextmanager
    def answering(self) -> Generator[None]:
        """Hold background work back for the length of the block."""
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
        """Answers and searches begun since the start."""
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


class Patience:
    """The time that background work may still wait for answers: half of the time it worked.

    However many answers come, two thirds of the time are thus left for the work.
    """

    def __init__(self, most_s: float = _MOST_PATIENCE_S) -> None:
        """`most_s` is what it has at first, and the most that it saves up."""
        self._most_s = most_s
        self.left_s = most_s

    def worked(self, seconds: float) -> None:
        """The work went on for so long."""
        self.left_s = min(self._most_s, self.left_s + _WAITED_TO_WORKED * seconds)

    def waited(self, seconds: float) -> None:
        """The work was held back for so long."""
        self.left_s = max(0.0, self.left_s - seconds)


class FairShare:
    """Background work that waits for answers, but gets on when they never end. For one thread."""

    def __init__(self, priority: AnswerPriority, patience: Patience | None = None) -> None:
        self._priority = priority
        self._patience = patience or Patience()
        self._released_at = time.monotonic()

    def wait(self) -> None:
        """Called between two pieces of work: return once no answer is under way, or patience ends.

        Cancelled after `AnswerPriority.stop`.
        """
        came_at = time.monotonic()
        self._patience.worked(came_at - self._released_at)
        self._priority.wait(self._patience.left_s)
        self._released_at = time.monotonic()
        self._patience.waited(self._released_at - came_at)
