"""What whoever runs the server is told of a library: sizes, indexes, connections, slow searches."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from desktop_rag.core.server_state import IndexState, ServerState, SlowStatement, VectorIndex
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.search.server_vectors import EXACT_BELOW
from desktop_rag.features.shared_library.postgres.server_check import slow_statements
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE
from tests.servers.postgres_server import address
from tests.stored_rows import put

DIMENSIONS = 4
HNSW = "USING hnsw (vector halfvec_ip_ops)"
BUILD = (
    f"CREATE INDEX vectors_1_hnsw ON ONLY vectors_1 {HNSW}",
    f"CREATE INDEX CONCURRENTLY vectors_1_p0_hnsw ON vectors_1_p0 {HNSW}",
)


def database_of(engine: Engine) -> ServerDatabase:
    assert isinstance(engine.storage, ServerDatabase)
    return engine.storage


def state_of(engine: Engine) -> ServerState:
    assert engine.server
    return engine.server()


def index_of(engine: Engine) -> VectorIndex:
    [index] = state_of(engine).indexes
    return index


def add_vectors(engine: Engine, count: int) -> None:
    vectors = np.random.default_rng(1).standard_normal((count, DIMENSIONS)).astype(np.float32)
    hashes = [f"{n:032x}" for n in range(count)]
    engine.models.vectors("made up", DIMENSIONS).add(hashes, vectors)


@contextmanager
def building(engine: Engine) -> Iterator[psycopg.Connection[Any]]:
    """A build that can't go on: another transaction has written to a partition."""
    with database_of(engine).outside_transactions() as writer, builder(engine) as connection:
        writer.execute("BEGIN")
        writer.execute("DELETE FROM vectors_1_p0 WHERE false")
        thread = threading.Thread(target=build, args=(connection,))
        thread.start()
        try:
            while index_of(engine).state is not IndexState.BUILDING:
                assert thread.is_alive()
            yield connection
        finally:
            writer.execute("COMMIT")
            thread.join()


@contextmanager
def builder(engine: Engine) -> Iterator[psycopg.Connection[Any]]:
    with database_of(engine).outside_transactions() as connection:
        yield connection


def build(connection: psycopg.Connection[Any]) -> None:
    with suppress(psycopg.errors.QueryCanceled):
        for statement in BUILD:
            connection.execute(statement.encode())


def test_sizes_are_those_of_the_tables(engine: Engine) -> None:
    put(engine, "a.txt", *(f"the lamp of keeper {n} is lit" for n in range(300)))
    database = database_of(engine)
    with database.outside_transactions() as connection:
        connection.execute("ANALYZE")
    state = state_of(engine)
    assert state.size_bytes == database.size_bytes()
    rows = {part.name: part.rows for part in state.parts}
    assert rows["passages"] == 300
    assert rows["list of documents"] == 1
    assert state.postings.unmerged == 7 * 300
    assert int(state.server_version.split(".")[0]) >= 17
    assert 1 <= state.connections.own <= state.connections.all <= state.connections.most
    assert state.replica is None


def test_deleted_passages_are_counted_until_they_are_merged(engine: Engine) -> None:
    put(engine, "a.txt", "one", "two", "three")
    engine.documents.apply_changes(engine.sources.sources()[0].source_id, [], {}, ["a.txt"])
    assert state_of(engine).postings.deleted_passages == 3
    engine.upkeep.run()
    assert state_of(engine).postings.deleted_passages == 0


def test_an_index_is_missing_when_there_are_many_vectors(engine: Engine) -> None:
    add_vectors(engine, EXACT_BELOW)
    assert index_of(engine) == VectorIndex(
        "made up", DIMENSIONS, EXACT_BELOW, IndexState.NOT_NEEDED
    )
    engine.models.vectors("made up", DIMENSIONS).add(
        ["f" * 32], np.ones((1, DIMENSIONS), np.float32)
    )
    assert index_of(engine).state is IndexState.MISSING
    engine.upkeep.run()
    ready = index_of(engine)
    assert ready.state is IndexState.READY
    assert ready.vectors == EXACT_BELOW + 1
    assert ready.size_bytes > 1_000_000


def test_a_build_is_seen_and_one_that_was_cut_off_is_stale(engine: Engine) -> None:
    add_vectors(engine, EXACT_BELOW + 1)
    with building(engine) as connection:
        assert index_of(engine).state is IndexState.BUILDING
        connection.cancel_safe()
    assert index_of(engine).state is IndexState.STALE
    assert engine.upkeep.is_due()
    engine.upkeep.run()
    assert index_of(engine).state is IndexState.READY


def test_searches_are_timed_without_what_was_asked(engine: Engine) -> None:
    put(engine, "a.txt", "the lamp is lit")
    engine.lexical.best([("lamp",)], 5)
    engine.lexical.nearest_term("lapm", 2)
    engine.names.matching(["a"], [], [], EVERYWHERE, 5)
    engine.models.vectors("made up", DIMENSIONS)
    engine.models.search(1).nearest(np.full(DIMENSIONS, 0.5, np.float32), 5)
    state = state_of(engine)
    assert {each.kind for each in state.searches} == {"words", "spelling", "file names", "meaning"}
    assert state.searched == 4
    times = [each.milliseconds for each in state.searches]
    assert times == sorted(times, reverse=True)
    assert "lamp" not in str(state.searches)


@pytest.mark.usefixtures("engine")
def test_statements_are_those_that_the_server_records() -> None:
    # Not pytest's own folder: the server runs as another user, who must reach it.
    with tempfile.TemporaryDirectory() as root, psycopg.connect(address()) as connection:
        assert slow_statements(connection, 5) is None
        # The server of the tests has no pg_stat_statements: this one has its columns.
        folder = Path(root) / "extension"
        folder.mkdir()
        Path(root).chmod(0o755)
        (folder / "pg_stat_statements.control").write_text("default_version = '1.12'\n")
        (folder / "pg_stat_statements--1.12.sql").write_text(
            "CREATE VIEW pg_stat_statements AS SELECT d.oid AS dbid, 1::bigint AS queryid,"
            " E'SELECT\\n  1' AS query, 2.5::float8 AS mean_exec_time, 9::float8 AS max_exec_time,"
            " 3::bigint AS calls FROM pg_database d;"
        )
        connection.execute(f"SET extension_control_path = '{root}:$system'".encode())
        connection.execute("CREATE SCHEMA watching")
        connection.execute("CREATE EXTENSION pg_stat_statements SCHEMA watching")
        statements = slow_statements(connection, 5)
        connection.rollback()
    assert statements == (SlowStatement("SELECT 1", 2.5, 9.0, 3),)
