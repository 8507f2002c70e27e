"""Who reads the library file just now: it can't be closed before they have left. Any thread."""

import logging
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from desktop_rag.core.errors import AppError
from desktop_rag.store.duckdb.database.connections import Connection

log = logging.getLogger(__name__)

# A reader is interrupted in a statement, and again in its next one.
_AGAIN_S = 0.02
# One that is held up elsewhere must not hold up the closing.
_PATIENCE_S = 5.0


class ActiveReaders:
    """The cursors of those who read."""

    def __init__(self) -> None:
        self._cursors: set[Connection] = set()
        self._is_closed = False
        self._changed = threading.Condition()

    @contextmanager
    def reading(self, connection: Connection) -> Generator[Connection]:
        """A cursor on the connection for one reader, closed when it leaves."""
        with self._changed:
            if self._is_closed:
                raise closed()
            cursor = connection.cursor()
            self._cursors.add(cursor)
        try:
            yield cursor
        finally:
            with self._changed:
                # A closed one can't be interrupted.
                self._cursors.discard(cursor)
                cursor.close()
                self._changed.notify_all()

    def dismiss(self) -> None:
        """Let nobody in any more, and return once those who read have been interrupted and left."""
        ends_at = time.monotonic() + _PATIENCE_S
        with self._changed:
            self._is_closed = True
            while self._cursors and time.monotonic() < ends_at:
                for cursor in self._cursors:
                    cursor.interrupt()
                self._changed.wait(_AGAIN_S)
            if self._cursors:
                log.warning("%d still read the library", len(self._cursors))


def closed() -> AppError:
    """What those are told who come after."""
    return AppError("The library is closed.", "Start the app again.")
