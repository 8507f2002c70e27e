"""How much memory a build of the index of vectors may take."""

import numpy as np
import pytest

from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.search.server_vectors import allow_memory
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import put

PASSAGES = 40
LARGE = 2_000_000


@pytest.mark.parametrize(
    ("own", "cache", "dimensions", "allowed"),
    [
        # Few vectors: what the server allows anyway.
        ("64MB", "4GB", 8, "64MB"),
        # 40 vectors of 4 MB each: as much as the graph takes.
        ("64MB", "4GB", LARGE, "156273kB"),
        # Half of what the computer has for files.
        ("64MB", "256MB", LARGE, "128MB"),
        # What an administrator allows is never lowered.
        ("300MB", "256MB", LARGE, "300MB"),
    ],
)
def test_a_build_may_hold_its_graph_within_what_the_computer_has(
    engine: Engine, own: str, cache: str, dimensions: int, allowed: str
) -> None:
    for n in range(PASSAGES):
        put(engine, f"{n}.txt", f"lamp {n}", collection="A")
    database = engine.storage
    assert isinstance(database, ServerDatabase)
    with database.read() as con:
        rows = con.execute("SELECT content_hash FROM chunks").fetchall()
    vectors = engine.models.vectors("made up", 8)
    vectors.add([row[0].hex for row in rows], np.ones((PASSAGES, 8), np.float32))

    with database.outside_transactions() as connection:
        connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", [own])
        connection.execute("SELECT set_config('effective_cache_size', %s, false)", [cache])
        allow_memory(connection, "vectors_1", dimensions)
        assert connection.execute("SHOW maintenance_work_mem").fetchone() == (allowed,)
