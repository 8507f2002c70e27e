"""Searches on a streaming replica while it follows the primary closely. Any thread.

A replica that lost its primary can't tell how far it lags. So the primary's position is noted from
time to time, and the lag is the age of the newest position that the replica has reached.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from desktop_rag.core.server_state import ReplicaState
from desktop_rag.features.shared_library.postgres.database.server_connection import Own

log = logging.getLogger(__name__)

_WAIT_S = 2.0
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
            with self._pool.connection(_WAIT_S) as own:
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
            own = self._pool.getconn(timeout=_WAIT_S)
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
