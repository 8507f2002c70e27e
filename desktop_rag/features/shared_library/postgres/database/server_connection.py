"""Connections to PostgreSQL that take the SQL of `store/contract`, with `?` and `$name`, in a pool.

Once the server is away, whoever wants one is refused at once, until a thread has reached it again.

Searches use a streaming replica while it follows the primary closely. One that lost its primary
can't tell how far it lags, so the primary's position is noted from time to time: the lag is the age
of the newest position that the replica has reached. Any thread.
"""

import logging
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from desktop_rag.core.server_state import ReplicaState

# Quoted text, which stays as it is, or a parameter.
_PARTS = re.compile(r"'(?:[^']|'')*'|\?|\$([a-z]\w*)|%")
# Rows of one INSERT; above that, COPY is faster.
_FEW_ROWS = 8

_BIGINT_ARRAY = 1016
# Dimensions, a flag, the type, and the length and first index of the only dimension.
_ARRAY_HEAD_BYTES = 20

Own = psycopg.Connection[tuple[Any, ...]]


class ArrayBytes(Loader):
    """Leaves the elements of a bigint[] as bytes: NumPy decodes those of many rows at once."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        """The bytes after the head."""
        return bytes(data)[_ARRAY_HEAD_BYTES:]


class ServerConnection:
    """One connection, for one thread, inside a transaction."""

    def __init__(self, own: Own) -> None:
        self.own = own
        # Called after a commit, but not after a rollback.
        self.after_commit: list[Callable[[], object]] = []

    def execute(self, query: str, parameters: object = None) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a statement; parameters are a list for `?` and a mapping for `$name`."""
        values: Any = parameters
        if isinstance(values, Mapping):
            values = {name: _sent(value) for name, value in values.items()}  # type: ignore[misc]
        elif values is not None:
            values = [_sent(value) for value in values]
        return self.own.execute(_translated(query).encode(), values or None)

    def rows_with_arrays(
        self, query: str, values: Sequence[Any] | Mapping[str, Any]
    ) -> list[tuple[Any, ...]]:
        """The rows of a statement, with arrays of bigint as the bytes of their elements."""
        with self.own.cursor(binary=True) as cursor:
            cursor.adapters.register_loader(_BIGINT_ARRAY, ArrayBytes)
            return cursor.execute(_translated(query).encode(), values).fetchall()

    def insert(self, table: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Insert rows, possibly none, given as columns of equal length."""
        rows = zip(*columns.values(), strict=True)
        names = ", ".join(columns)
        if len(next(iter(columns.values()))) <= _FEW_ROWS:
            holes = ", ".join(["%s"] * len(columns))
            with self.own.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({holes})".encode(), rows)
            return
        self.copy(table, names, rows)

    def copy(self, table: str, names: str, rows: Any) -> None:  # noqa: ANN401
        """Send many rows by COPY."""
        statement = sql.SQL("COPY {}").format(sql.SQL(f"{table} ({names}) FROM STDIN"))  # type: ignore[arg-type]
        with self.own.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


@lru_cache(maxsize=2_000)
def _translated(query: str) -> str:
    """The statement with the placeholders of psycopg and doubled percent signs."""
    if "?" not in query and "$" not in query:
        return query

    def placed(match: re.Match[str]) -> str:
        whole = match.group()
        if whole.startswith("'"):
            return whole.replace("%", "%%")
        if whole == "?":
            return "%s"
        return f"%({match[1]})s" if match[1] else "%%"

    return _PARTS.sub(placed, query)


def _sent(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


log = logging.getLogger(__name__)

_MOST_CONNECTIONS = 10
# For a connection that others give back.
_WAIT_S = 30.0
_PAUSE_S = 1.0
# Of a server whose computer is gone nothing comes, not even the end of the connection.
_SOON_NOTICED = {
    "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}  # fmt: skip
# A statement that takes longer may be long, or the server hangs: its connections stay open.
_LONG_S = 3.0
_PROBE_S = 2


class ServerPool:
    """Lends connections; raises psycopg's OperationalError while the server is away."""

    def __init__(self, address: str, connect_s: int, configure: Callable[[Own], None]) -> None:
        """Begins to connect, `connect_s` for each address; `configure` gets each connection."""
        self._address = address
        self._connect_s = connect_s
        self._configure = configure
        self._lock = threading.Lock()
        self._closing = threading.Event()
        # The connections that are lent, and since when.
        self._lent: dict[Own, float] = {}
        self._is_lent = threading.Event()
        self._pool: ConnectionPool[Own] | None = self._opened()
        threading.Thread(target=self._watch, name="database-watch", daemon=True).start()

    @contextmanager
    def connection(self) -> Generator[Own]:
        """A connection, in a transaction that ends with the context."""
        pool = self._pool
        if pool is None:
            raise _away()
        try:
            with pool.connection() as own:
                self._lent[own] = time.monotonic()
                self._is_lent.set()
                try:
                    yield own
                finally:
                    del self._lent[own]
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
        self._is_lent.set()
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

    def _watch(self) -> None:
        """Cut the connections to a server that hangs, so that who waits for it fails."""
        while self._is_lent.wait() and not self._closing.wait(_LONG_S):
            if not self._lent:
                self._is_lent.clear()
            long_ago = time.monotonic() - _LONG_S
            pool = self._pool
            if (
                pool
                and any(since < long_ago for since in list(self._lent.values()))
                and (self._hangs())
            ):
                self._lose(pool)
                for own in list(self._lent):
                    with suppress(OSError, psycopg.OperationalError):
                        cut = socket.fromfd(own.fileno(), socket.AF_INET, socket.SOCK_STREAM)
                        with cut:
                            cut.shutdown(socket.SHUT_RDWR)

    def _hangs(self) -> bool:
        try:
            psycopg.connect(self._address, connect_timeout=_PROBE_S).close()
        except psycopg.errors.ConnectionTimeout:
            return True
        except psycopg.OperationalError:
            pass
        return False

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
        kwargs={"connect_timeout": connect_s, **_SOON_NOTICED},
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


_POSITION_WAIT_S = 2.0
# A replica that is away is not asked again for so long: each time, a search would wait.
_AWAY_S = 10.0
# The least time between two questions for the primary's position.
_NOTED_EVERY_S = 1.0
_MOST_NOTED = 1_000
# A database that is no replica (any more) has reached nothing.
_REACHED = (
    "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() - '0/0' ELSE -1 END::bigint"
)
# Past all that was committed, and what is on the primary's disk, which is what replicas get.
WRITTEN = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"
SENT = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint"


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica for searches, and the most seconds that it may be behind."""

    address: str
    most_lag_s: float


class ReplicaLag:
    """How far a replica is behind, by noted positions of the primary."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._noted: deque[tuple[float, int]] = deque(maxlen=_MOST_NOTED)
        self._written = 0

    def is_due(self) -> bool:
        """True when the position of the primary should be noted again."""
        with self._lock:
            return not self._noted or self._clock() - self._noted[-1][0] >= _NOTED_EVERY_S

    def note(self, asked_at: float, position: int) -> None:
        """Note that the primary was at this position or past it at this time."""
        with self._lock:
            self._noted.append((asked_at, position))

    def wrote(self, position: int) -> None:
        """Note that this process wrote, up to this position of the primary."""
        with self._lock:
            self._written = max(self._written, position)

    def now(self) -> float:
        """The time of the clock."""
        return self._clock()

    def of(self, reached: int) -> float | None:
        """The most seconds that a replica at this position is behind.

        None when it lacks what this process wrote, or has reached no noted position.
        """
        with self._lock:
            while len(self._noted) > 1 and self._noted[1][1] <= reached:
                self._noted.popleft()
            if reached < self._written or not self._noted or self._noted[0][1] > reached:
                return None
            return self._clock() - self._noted[0][0]


class ReadReplica:
    """Connections to a replica."""

    def __init__(
        self,
        replica: Replica,
        pool: ConnectionPool[Own],
        position: Callable[[str], int],
        lag: ReplicaLag | None = None,
    ) -> None:
        """`position` asks the primary with a statement. Opens the pool; `close` closes it."""
        self._most_lag_s = replica.most_lag_s
        self._pool = pool
        self._position = position
        self._lag = lag or ReplicaLag()
        self._away_until = 0.0
        self._is_used = True
        # Earlier writes, such as new tables, must be there.
        self._lag.wrote(position(WRITTEN))
        pool.open(wait=False)

    def wrote(self, position: int) -> None:
        """Require that the replica has reached this position from now on."""
        self._lag.wrote(position)

    @contextmanager
    def connection(self) -> Generator[Own | None]:
        """A connection to the replica; None when it is away or too far behind."""
        own = self._connected()
        self._tell(is_used=own is not None)
        if own is None:
            yield None
            return
        # Commits or rolls back, as the pool's own context would.
        try:
            with own:
                yield own
        finally:
            self._pool.putconn(own)

    def state(self) -> ReplicaState:
        """How far it is behind now; asks both servers, even while the replica counts as away."""
        asked_at = self._lag.now()
        sent = self._position(SENT)
        self._lag.note(asked_at, sent)
        try:
            with self._pool.connection(_POSITION_WAIT_S) as own:
                row = own.execute(_REACHED).fetchone()
        except (PoolTimeout, psycopg.OperationalError):
            row = None
        if row is None or row[0] < 0:
            return ReplicaState(None, None, self._most_lag_s)
        reached = int(row[0])
        return ReplicaState(max(0, sent - reached), self._lag.of(reached), self._most_lag_s)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _connected(self) -> Own | None:
        if self._lag.now() < self._away_until:
            return None
        if self._lag.is_due():
            asked_at = self._lag.now()
            self._lag.note(asked_at, self._position(SENT))
        try:
            own = self._pool.getconn(timeout=_POSITION_WAIT_S)
        except PoolTimeout:
            self._away_until = self._lag.now() + _AWAY_S
            return None
        try:
            row = own.execute(_REACHED).fetchone()
            # The moment that the search sees begins after the check.
            own.commit()
        except psycopg.OperationalError:
            own.close()
            self._pool.putconn(own)
            return None
        behind = self._lag.of(int(row[0])) if row else None
        if behind is None or behind > self._most_lag_s:
            self._pool.putconn(own)
            return None
        return own

    def _tell(self, *, is_used: bool) -> None:
        if is_used != self._is_used:
            self._is_used = is_used
            log.info(
                "Searches read from %s.",
                "the replica again" if is_used else "the primary: the replica is away or behind",
            )
