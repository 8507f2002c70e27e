"""Comparing all vectors in a scope, whatever indexes there are and whatever the server prefers."""

from pathlib import Path

import numpy as np
import pytest

from desktop_rag.core.paths import Home
from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.store.contract.search import Scope
from tests.engines import UNTESTED
from tests.stored_rows import collection_id, put

pytestmark = pytest.mark.slow


DIMENSIONS = 8
PASSAGES = 120


def test_a_small_part_is_compared_whole_although_there_is_an_index(tmp_path: Path) -> None:
    if reason := UNTESTED.get("postgres"):
        pytest.skip(reason)
    from tests.servers.postgres_server import address

    # A server that finds sorting dear orders by the index, which ends after 40 rows by itself.
    dear = "options=-cenable_sort%3Doff%20-cenable_hashjoin%3Doff%20-cenable_mergejoin%3Doff"
    at = f"{address()}{'&' if '?' in address() else '?'}{dear}"
    engine = PostgresOpener(at, "compared_whole").open(Home(tmp_path), 256)
    for n in range(PASSAGES):
        put(engine, f"{n}.txt", f"lamp {n}", collection="A")
    assert isinstance(engine.storage, ServerDatabase)
    with engine.storage.read() as con:
        rows = con.execute("SELECT content_hash FROM chunks").fetchall()
    vectors = engine.models.vectors("made up", DIMENSIONS)
    made = np.random.default_rng(3).standard_normal((PASSAGES, DIMENSIONS)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    vectors.add([row[0].hex for row in rows], made)
    engine.storage.write(
        lambda con: con.execute("CREATE INDEX ON vectors_1 USING hnsw (vector halfvec_ip_ops)")
    )
    only = Scope(readable=Readable((collection_id(engine, "A"),)))
    search = engine.models.search(vectors.model_id)
    assert len(search.nearest(made[0], 100, only).chunk_ids) == 100
    assert len(search.nearest(made[0], 100).chunk_ids) == 100
    engine.close()
