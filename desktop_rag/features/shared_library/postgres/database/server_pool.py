"""A pool of connections to a server that may go away. Any thread.

Once it is away, whoever wants a connection is refused at once, until a thread has reached it again.
"""

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed

from desktop_rag.features.shared_library.postgres.database.server_connection import Own

log = logging.getLogger(__name__)

_MOST_CONNECTIONS = 10
# For a connection that others give back.
_WAIT_S = 30.0
_PAUSE_S = 1.0


class ServerPool:
    """Lends connections; raises psycopg's OperationalError while the server is away."""

    def __init__(self, address: str, connect_s: int, configure: Callable[[Own], None]) -> None:
        """Begins to connect, `connect_s` for each address; `configure` gets each connection."""
        self._address = address
        self._connect_s = connect_s
        self._configure = configure
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._pool: ConnectionPool[Own] | None = self._opened()

    @contextmanager
    def connection(self) -> Generator[Own]:
        """A connection, in a transaction that ends with the context."""
        pool = self._pool
        if pool is None:
            raise _away()
        try:
            with pool.connection() as own:
                try:
                    yield own
                finally:
                    if own.broken:
                        self._lose(pool)
        except PoolClosed as exc:
            # What waited for a connection when the server went away.
            raise exc if self._closing.is_set() else _away() from exc

    def close(self) -> None:
        """Close the connections. Idempotent."""
        with self._lock:
            self._closing.set()
            pool = self._pool
        if pool:
            pool.close()

    def _opened(self) -> ConnectionPool[Own]:
        # Its own attempts to reconnect would be minutes apart in the end.
        return pool_of(
            self._address, self._connect_s, self._configure,
            reconnect_timeout=0, reconnect_failed=self._look_at,
        )  # fmt: skip

    def _look_at(self, pool: ConnectionPool[Own]) -> None:
        """One connection can't be made: others may still work, as on a server that has no more."""
        if not pool.get_stats()["pool_size"]:
            self._lose(pool)

    def _lose(self, pool: ConnectionPool[Own]) -> None:
        with self._lock:
            if self._pool is not pool or self._closing.is_set():
                return
            self._pool = None
        log.info("The database server does not answer.")
        threading.Thread(
            target=self._come_back, args=(pool,), name="database-away", daemon=True
        ).start()

    def _come_back(self, lost: ConnectionPool[Own]) -> None:
        # Fails what waits for one of its connections.
        lost.close()
        while not self._closing.is_set():
            try:
                psycopg.connect(self._address, connect_timeout=self._connect_s).close()
            except psycopg.OperationalError:
                self._closing.wait(_PAUSE_S)
                continue
            with self._lock:
                if not self._closing.is_set():
                    self._pool = self._opened()
            log.info("The database server answers again.")
            return


def pool_of(
    address: str, connect_s: int, configure: Callable[[Own], None], **options: object
) -> ConnectionPool[Own]:
    """An open pool, which may have no connection yet; `options` are those of psycopg_pool."""
    return ConnectionPool(
        address,
        kwargs={"connect_timeout": connect_s},
        configure=configure,
        min_size=1,
        max_size=_MOST_CONNECTIONS,
        timeout=_WAIT_S,
        open=True,
        name="store-pool",
        **options,  # type: ignore[arg-type]
    )


def _away() -> psycopg.OperationalError:
    return psycopg.OperationalError("It is tried again every second.")
