"""Searches on a streaming replica: whatever it lacks is read from the primary."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg_pool import ConnectionPool

from desktop_rag.core.paths import Home
from desktop_rag.features.shared_library.postgres.database.server_connection import (
    SENT,
    Own,
    ReadReplica,
    Replica,
    ReplicaLag,
)
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.store.contract.engine import Engine
from tests.engines import UNTESTED
from tests.servers.postgres_replica import Pair, streaming_pair
from tests.stored_rows import put

LAMP = [("lamp",)]
PATIENT_S = 600.0


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    if reason := UNTESTED.get("postgres"):
        pytest.skip(reason)
    with streaming_pair() as started:
        yield started


@pytest.fixture
def engine(pair: Pair, tmp_path: Path) -> Iterator[Engine]:
    """A library of its own that searches on the replica."""
    opened = opener(pair, tmp_path).open(Home(tmp_path), 256)
    pair.catch_up()
    yield opened
    opened.close()


def opener(pair: Pair, folder: Path) -> PostgresOpener:
    replica = Replica(pair.replica, PATIENT_S)
    name = f"library_{abs(hash(folder.name)):x}"
    return PostgresOpener(pair.primary, name, replica)


def reads_from_replica(engine: Engine, *, of_primary: bool = False) -> bool:
    assert isinstance(engine.storage, ServerDatabase)
    with engine.storage.snapshot(of_primary=of_primary) as snapshot:
        [(is_replica,)] = snapshot.con.execute("SELECT pg_is_in_recovery()").fetchall()
    return is_replica


def found(engine: Engine) -> set[str]:
    chunks = dict(engine.lexical.best(LAMP, 9))
    return {passage.text for passage in engine.lexical.passages(chunks)}


def test_searches_read_from_the_replica_that_has_everything(pair: Pair, engine: Engine) -> None:
    put(engine, "a.txt", "lamp one")
    pair.catch_up()
    assert reads_from_replica(engine)
    assert found(engine) == {"lamp one"}
    assert not reads_from_replica(engine, of_primary=True)


def test_what_was_just_written_is_found_though_the_replica_lacks_it(
    pair: Pair, engine: Engine
) -> None:
    assert reads_from_replica(engine)
    pair.pause()
    try:
        put(engine, "a.txt", "lamp one")
        assert not reads_from_replica(engine)
        assert found(engine) == {"lamp one"}
    finally:
        pair.resume()
    pair.catch_up()
    assert reads_from_replica(engine)
    assert found(engine) == {"lamp one"}


def test_how_far_it_is_behind_is_told(pair: Pair, engine: Engine) -> None:
    assert isinstance(engine.storage, ServerDatabase)
    known = engine.storage.replica_state()
    assert known
    assert (known.bytes_behind, known.is_used) == (0, True)
    pair.pause()
    try:
        put(engine, "a.txt", "lamp one")
        behind = engine.storage.replica_state()
        assert behind
        assert behind.bytes_behind
        assert (behind.seconds_behind, behind.is_used) == (None, False)
    finally:
        pair.resume()
    pair.catch_up()
    caught_up = engine.storage.replica_state()
    assert caught_up
    assert caught_up.is_used


def test_searches_go_on_when_the_replica_is_away(
    pair: Pair, engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # The pool tells of each attempt.
    caplog.set_level("CRITICAL", "psycopg.pool")
    put(engine, "a.txt", "lamp one")
    pair.catch_up()
    assert reads_from_replica(engine)
    pair.stop()
    try:
        assert not reads_from_replica(engine)
        assert found(engine) == {"lamp one"}
        assert isinstance(engine.storage, ServerDatabase)
        known = engine.storage.replica_state()
        assert known
        assert (known.bytes_behind, known.is_used) == (None, False)
        # One that opens meanwhile has never seen the replica.
        other = opener(pair, tmp_path).open(Home(tmp_path), 256)
        assert found(other) == {"lamp one"}
        other.close()
    finally:
        pair.start()


def test_a_replica_that_is_too_far_behind_is_left_until_it_has_caught_up(pair: Pair) -> None:
    now = 100.0
    lag = ReplicaLag(lambda: now)
    with (
        ConnectionPool[Own](pair.primary, min_size=1, open=True) as primary,
        ConnectionPool[Own](pair.replica, min_size=1, open=False) as pool,
    ):

        def position(statement: str) -> int:
            # Others write all the time.
            with primary.connection() as own:
                own.execute("SELECT pg_logical_emit_message(true, 'test', 'written')")
            with primary.connection() as own:
                [(at,)] = own.execute(statement.encode()).fetchall()
            return at

        replica = ReadReplica(Replica(pair.replica, 5), pool, position, lag)

        def is_used() -> bool:
            with replica.connection() as own:
                return own is not None

        lag.note(now, position(SENT))
        pair.catch_up()
        assert is_used()
        pair.pause()
        try:
            now += 4  # what it lacks now was written within the seconds that are allowed
            assert is_used()
            now += 4
            assert not is_used()
        finally:
            pair.resume()
        pair.catch_up()
        assert is_used()


def test_a_database_that_is_no_replica_is_not_read(pair: Pair) -> None:
    with ConnectionPool[Own](pair.primary, min_size=1, open=False) as pool:
        replica = ReadReplica(Replica(pair.primary, PATIENT_S), pool, lambda _statement: 0)
        with replica.connection() as own:
            assert own is None


def test_the_lag_is_the_age_of_the_newest_position_that_was_reached() -> None:
    now = 0.0
    lag = ReplicaLag(lambda: now)
    assert lag.is_due()
    lag.note(0.0, 10)
    assert not lag.is_due()
    now = 3.0
    assert lag.is_due()
    lag.note(3.0, 20)
    assert lag.of(5) is None
    assert lag.of(10) == 3.0
    assert lag.of(19) == 3.0
    assert lag.of(20) == 0.0
    lag.wrote(25)
    assert lag.of(24) is None
    assert lag.of(25) == 0.0
