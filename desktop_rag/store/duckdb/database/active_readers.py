"""Tracks the open read cursors: the file can only be closed once they are gone. Any thread."""

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from desktop_rag.store.contract.database import closed_error
from desktop_rag.store.duckdb.database.connections import Connection

log = logging.getLogger(__name__)

# An interrupt ends one statement only, so it is repeated until the reader is gone.
_INTERRUPT_INTERVAL_S = 0.02
# A reader that is blocked elsewhere must not delay closing for longer.
_TIMEOUT_S = 5.0


class ActiveReaders:
    """The cursors of all active readers."""

    def __init__(self) -> None:
        self._cursors: set[Connection] = set()
        self._is_closed = False
        self._is_held = False
        self._changed = threading.Condition()

    @contextmanager
    def cursor(self, connection: Callable[[], Connection]) -> Generator[Connection]:
        """A cursor on the connection for one reader, closed at the end of the context."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_held)
            if self._is_closed:
                raise closed_error()
            cursor = connection().cursor()
            self._cursors.add(cursor)
        try:
            yield cursor
        finally:
            with self._changed:
                # A closed cursor can't be interrupted.
                self._cursors.discard(cursor)
                cursor.close()
                self._changed.notify_all()

    def interrupt_all(self) -> None:
        """Refuse new readers, interrupt the active ones and wait until they are gone."""
        with self._changed:
            self._is_closed = True
            if not self._interrupted():
                log.warning("%d readers are still active", len(self._cursors))

    @contextmanager
    def none_active(self) -> Generator[None]:
        """Interrupt the active readers; new ones wait for the end of the context.

        TimeoutError when one is still active after seconds.
        """
        with self._changed:
            self._is_held = True
            try:
                if not self._interrupted():
                    raise TimeoutError(f"{len(self._cursors)} readers are still active")
                yield
            finally:
                self._is_held = False
                self._changed.notify_all()

    @contextmanager
    def held_if_none(self) -> Generator[bool]:
        """If no reader is active, True, and new ones wait for the end of the context."""
        with self._changed:
            is_held = self._is_held = not self._cursors and not self._is_closed
            try:
                yield is_held
            finally:
                self._is_held = False
                self._changed.notify_all()

    def _interrupted(self) -> bool:
        """True once no reader is left. The lock must be held; it is released while waiting."""
        ends_at = time.monotonic() + _TIMEOUT_S
        while self._cursors and time.monotonic() < ends_at:
            for cursor in self._cursors:
                cursor.interrupt()
            self._changed.wait(_INTERRUPT_INTERVAL_S)
        return not self._cursors
