"""The connections to a library on a server: for reads, snapshots and writes. Any thread may call.

A writing transaction begins with an advisory lock, so that the writers of all processes take turns;
a read takes a connection of the pool and never waits for a write. Snapshots are read from a replica
if one follows closely enough. The server's failures become AppErrors.
"""

import heapq
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakSet

import psycopg
from psycopg import sql
from psycopg.types.string import TextLoader
from psycopg_pool import PoolClosed, PoolTimeout

from desktop_rag.core.errors import AppError, DiskFullError, LibraryAwayError, NotReadableNowError
from desktop_rag.core.question import Readable
from desktop_rag.core.server_state import ReplicaState, SlowSearch
from desktop_rag.features.shared_library.postgres.database.server_connection import (
    WRITTEN,
    Own,
    ReadReplica,
    Replica,
    ServerConnection,
    ServerPool,
    pool_of,
)
from desktop_rag.features.shared_library.postgres.database.server_schema import (
    LATEST,
    become_reader,
    bring_up_to_date,
    collections_of,
    lock_number,
    refuse_other_version,
    version_of,
)
from desktop_rag.store.contract.database import (
    Database,
    Entity,
    closed_error,
    first_line,
    read_only_error,
)
from desktop_rag.store.contract.inspection import NoLibraryError
from desktop_rag.store.contract.precious import PreciousChanged

# Another process may update the schema while this one has the library open.
_ANOTHER_SCHEMA = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
)


@contextmanager
def mapping_server_errors() -> Generator[None]:
    """Turn failures of the server and the connection into AppError; others stay bugs."""
    try:
        yield
    except PoolClosed as exc:
        raise closed_error() from exc
    except (PoolTimeout, psycopg.OperationalError, psycopg.InterfaceError) as exc:
        raise _app_error(exc) from exc
    except _ANOTHER_SCHEMA as exc:
        raise AppError(
            "The library on the server was changed by another version of the app.",
            f"{first_line(exc)} Update this app, or start it again.",
        ) from exc
    except psycopg.errors.InsufficientPrivilege as exc:
        raise AppError(
            "The database does not allow that.",
            f"{first_line(exc)} Ask whoever runs the server for the rights of the library's role.",
        ) from exc


def _app_error(exc: Exception) -> AppError:
    if isinstance(exc, psycopg.errors.DiskFull):
        return DiskFullError("The disk of the database server is full.")
    if isinstance(exc, psycopg.errors.ReadOnlySqlTransaction):
        return read_only_error()
    return LibraryAwayError(
        f"{first_line(exc)} Check that it runs and that its address is right; then try again."
    )


_HOUR_S = 3_600
_HOURS = 24
_KEPT_AN_HOUR = 20


@dataclass(slots=True)
class _Hour:
    """The searches that ended in one hour; `slowest` is a heap, the fastest first."""

    number: int
    searches: int = 0
    slowest: list[tuple[float, float, str]] = field(default_factory=list[tuple[float, float, str]])


class SearchTimes:
    """The slowest searches of this process in the last hours, without what was asked."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._hours: deque[_Hour] = deque(maxlen=_HOURS)

    def note(self, kind: str, seconds: float) -> None:
        """Note that a search ended now."""
        now = self._clock()
        entry = (1_000 * seconds, now - seconds, kind)
        with self._lock:
            hour = self._hour(now)
            hour.searches += 1
            if len(hour.slowest) < _KEPT_AN_HOUR:
                heapq.heappush(hour.slowest, entry)
            else:
                heapq.heappushpop(hour.slowest, entry)

    def slowest(self, limit: int) -> tuple[tuple[SlowSearch, ...], int]:
        """The slowest of the last 24 hours, slowest first, and the number of all."""
        now = self._clock()
        with self._lock:
            hours = [h for h in self._hours if h.number > now // _HOUR_S - _HOURS]
            entries = heapq.nlargest(limit, (entry for h in hours for entry in h.slowest))
            searched = sum(h.searches for h in hours)
        return tuple(SlowSearch(at, kind, ms) for ms, at, kind in entries), searched

    def _hour(self, now: float) -> _Hour:
        number = int(now // _HOUR_S)
        if not self._hours or self._hours[-1].number != number:
            self._hours.append(_Hour(number))
        return self._hours[-1]


T = TypeVar("T")
Lookup = Callable[[ServerConnection], T]
# Cached results of lookups, for the readers of one time.
_MOST_LOOKUPS = 64
_CONNECT_TIMEOUT_S = 10
# The planner overestimates look-ups in partitions, which take less time than starting a worker.
# Only reading a large library whole costs more.
_PARALLEL_FROM = 100_000


class ServerSnapshot:
    """The library at one moment, in a transaction for one thread."""

    def __init__(
        self, con: ServerConnection, database: "ServerDatabase", who: Readable | None
    ) -> None:
        self.con = con
        self._database = database
        self.who = who
        # Whether the transaction sees only a part of the library.
        self.is_limited = who is not None or database.is_limited
        # Also begins the transaction, in the same round trip.
        with con.own.pipeline():
            state = con.own.execute("SELECT changes FROM library_state")
        [(self.changes,)] = state.fetchall()
        if who is not None:
            become_reader(con.own, who)

    def cached(self, lookup: Lookup[T]) -> T:
        """The result of a lookup, read once per state of the library."""
        return self._database.looked_up(lookup, self.who, self.changes, self.con)


class ServerDatabase(Database):
    """An open library on a server."""

    def __init__(
        self,
        address: str,
        schema: str,
        *,
        is_read_only: bool = False,
        replica: Replica | None = None,
        connect_s: int = _CONNECT_TIMEOUT_S,
    ) -> None:
        """Connect, and create or update the tables of the schema; `connect_s` is for each address.

        AppError when the server can't be reached, is too old, lacks pgvector or rights, or has a
        library of a newer version; with `is_read_only` also when there is none or an older one.
        """
        super().__init__()
        self.schema = schema
        self.is_read_only = is_read_only
        self._lane = threading.Lock()
        self._is_closed = False
        self._lookups: dict[tuple[Any, Readable | None], tuple[int, Any]] = {}
        self.search_times = SearchTimes()
        self._address = address
        self._connect_s = connect_s
        self._connections = WeakSet[Own]()
        with mapping_server_errors():
            with self._connected() as connection:
                if is_read_only:
                    _refuse_other_version(version_of(connection, schema))
                else:
                    bring_up_to_date(connection, schema)
                # Whether policies limit the role of this connection to a part of the library.
                state = connection.execute("SELECT row_security_active('chunks')").fetchone()
                self.is_limited = bool(state and state[0])
            self._pool = ServerPool(address, connect_s, self._configure)
            self._replica = replica and ReadReplica(
                replica, pool_of(replica.address, connect_s, self._configure), self._position
            )

    def _position(self, statement: str) -> int:
        with self._pool.connection() as own:
            [(position,)] = own.execute(statement.encode()).fetchall()
        return int(position)

    @contextmanager
    def _connected(self) -> Generator[Own]:
        """A connection outside the pool, in autocommit mode."""
        with psycopg.connect(
            self._address, autocommit=True, connect_timeout=self._connect_s
        ) as connection:
            self._configure(connection)
            yield connection

    def _configure(self, connection: Own) -> None:
        settings = sql.SQL("SET search_path TO {}, public; SET parallel_setup_cost = {}")
        connection.execute(settings.format(sql.Identifier(self.schema), _PARALLEL_FROM))
        self._connections.add(connection)
        # The stores decode JSON themselves.
        connection.adapters.register_loader("json", TextLoader)
        if not connection.autocommit:
            connection.commit()

    @contextmanager
    def read(self) -> Generator[ServerConnection]:
        """A connection for reading."""
        with mapping_server_errors(), self._lent() as own:
            yield ServerConnection(own)

    @contextmanager
    def _lent(self) -> Generator[Own]:
        self._refuse_closed()
        with self._pool.connection() as own:
            # Set by snapshots; sent with the statement that begins the next transaction.
            own.isolation_level, own.read_only = None, None
            yield own

    @contextmanager
    def snapshot(
        self, readable: Readable | None = None, *, of_primary: bool = False, search: str = ""
    ) -> Generator[ServerSnapshot]:
        """The library as it is now, limited to what is `readable`, if given.

        A replica has all that this process wrote, but may lag behind other writers; with
        `of_primary` none is used. The time of a `search` is noted.
        """
        began = time.perf_counter()
        with mapping_server_errors(), ExitStack() as stack:
            self._refuse_closed()
            own = None
            if self._replica is not None and not of_primary:
                own = stack.enter_context(self._replica.connection())
            own = own or stack.enter_context(self._pool.connection())
            own.isolation_level, own.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
            yield ServerSnapshot(ServerConnection(own), self, readable)
        if search:
            self.search_times.note(search, time.perf_counter() - began)

    def replica_state(self) -> ReplicaState | None:
        """How far the replica is behind; None without one."""
        with mapping_server_errors():
            self._refuse_closed()
            return self._replica.state() if self._replica else None

    @contextmanager
    def outside_transactions(self) -> Generator[Own]:
        """A connection for what can't be part of a transaction, as CREATE INDEX CONCURRENTLY."""
        with mapping_server_errors():
            self._refuse_closed()
            with self._connected() as connection:
                yield connection

    def looked_up(
        self, lookup: Lookup[T], who: Readable | None, changes: int, con: ServerConnection
    ) -> T:
        """The result of a lookup in a state of the library, for this reader."""
        known = self._lookups.get((lookup, who))
        if known and known[0] == changes:
            return known[1]
        value = lookup(con)
        if len(self._lookups) > _MOST_LOOKUPS:
            self._lookups.clear()
        self._lookups[lookup, who] = (changes, value)
        return value

    def transact(
        self, work: Callable[[ServerConnection], T], changes: Iterable[Entity], *, invalidates: bool
    ) -> T:
        """Run the work while no other process writes."""
        if self.is_read_only:
            raise read_only_error()
        # At most one connection of the pool waits for the server's lock.
        with mapping_server_errors(), self._lane:
            with self._lent() as own:
                own.execute("SELECT pg_advisory_xact_lock(%s)", [lock_number(self.schema)])
                con = ServerConnection(own)
                result = work(con)
                changed = bool(list(changes))
                if invalidates or changed:
                    own.execute(
                        "UPDATE library_state SET changes = changes + %s,"
                        " generation = generation + %s",
                        [int(invalidates), int(changed)],
                    )
                if self._replica:
                    own.commit()
                    [(position,)] = own.execute(WRITTEN.encode()).fetchall()
                    self._replica.wrote(int(position))
            for call in con.after_commit:
                call()
        if changed:
            self.changes.publish(PreciousChanged())
        return result

    def insert(
        self, con: ServerConnection, table: str, columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Insert rows given as columns; documents get the collection of their source."""
        if table == "documents":
            owners = collections_of(con, columns["source_id"])
            columns = {**columns, "collection_id": owners}
        con.insert(table, columns)

    def with_ids(self, document_ids: Sequence[str]) -> tuple[str, list[Any]]:
        return "document_id = ANY (?::text[])", [list(document_ids)]

    def release(self) -> None:
        self._lookups.clear()
        super().release()

    def verify(self, may_go_on: Callable[[], bool] = lambda: True) -> None:
        """Read every row of every table of the library."""
        with self.read() as con:
            tables = con.execute(
                "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = ? AND c.relkind IN ('r', 'p') AND NOT c.relispartition",
                [self.schema],
            ).fetchall()
            for (table,) in tables:
                if not may_go_on():
                    return
                con.execute(f"SELECT count(t.*) FROM {table} t").fetchall()

    def size_bytes(self) -> int:
        """The space that the tables and indexes of the library take on the server."""
        with self.read() as con:
            [(size,)] = con.execute(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = ? AND c.relkind = 'r'",
                [self.schema],
            ).fetchall()
        return int(size)

    def close(self) -> None:
        """Finish the write under way, then close the connections. Idempotent."""
        with self._lane:
            if not self._is_closed:
                self._is_closed = True
                self._pool.close()
                if self._replica:
                    self._replica.close()

    def break_off(self) -> None:
        """Cut the connections, so that all that waits for the server fails now; then close."""
        for connection in list(self._connections):
            with suppress(OSError, psycopg.Error):
                cut = socket.socket(fileno=connection.fileno())
                try:
                    cut.shutdown(socket.SHUT_RDWR)
                finally:
                    # The connection closes it.
                    cut.detach()
        self.close()

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise closed_error()


def _refuse_other_version(version: int | None) -> None:
    if version is None:
        raise NoLibraryError(has_journal=False)
    refuse_other_version(version)
    if version < LATEST:
        raise NotReadableNowError("The library is of an earlier version.", "Start the app once.")
