"""Lets questions go before background work on the model. Any thread."""

import threading
from collections.abc import Generator
from contextlib import contextmanager


class ModelGate:
    """Background work calls `wait` between batches; it holds while a question is under way."""

    def __init__(self) -> None:
        self._questions = 0
        self._changed = threading.Condition()

    @contextmanager
    def question(self) -> Generator[None]:
        """Hold background work back for the length of the block."""
        with self._changed:
            self._questions += 1
        try:
            yield
        finally:
            with self._changed:
                self._questions -= 1
                self._changed.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether a question is under way."""
        return self._questions > 0

    def wait(self, timeout_s: float) -> None:
        """Return once no question is under way, or after the timeout."""
        with self._changed:
            self._changed.wait_for(lambda: self._questions == 0, timeout_s)
