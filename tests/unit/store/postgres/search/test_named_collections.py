"""A search that is limited to some collections asks the server for their partitions only."""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.database.server_schema import (
    PARTITIONS,
    become_reader,
)
from desktop_rag.features.shared_library.postgres.search import server_vectors
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from tests.stored_rows import collection_id, put
from tests.unit.store.contract.test_vectors import unit_vectors, vectors_of

# So many passages have an index of vectors in this file.
FEW = 20
# A partition as plans name it.
PARTITION = re.compile(r"^(documents|document_texts|chunks|posting_blocks|vectors_1)_p(\d+)$")


class Statements:
    """The statements that searches run, with their values."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[str, Any]] = []
        own, with_arrays = ServerConnection.execute, ServerConnection.rows_with_arrays

        def execute(con: ServerConnection, query: str, parameters: object = None) -> Any:
            self.seen.append((query, parameters))
            return own(con, query, parameters)

        def rows(con: ServerConnection, query: str, values: Any) -> Any:
            self.seen.append((query, values))
            return with_arrays(con, query, values)

        patch.setattr(ServerConnection, "execute", execute)
        patch.setattr(ServerConnection, "rows_with_arrays", rows)


def partitions(engine: Engine, seen: list[tuple[str, Any]], who: Readable | None) -> set[str]:
    """The partitions that statements read which name a collection."""
    assert isinstance(engine.storage, ServerDatabase)
    found: set[str] = set()
    with engine.storage.snapshot() as snapshot:
        if who:
            become_reader(snapshot.con.own, who)
        for query, values in seen:
            if "named0" in query:
                [(plan,)] = snapshot.con.execute(
                    f"EXPLAIN (ANALYZE, FORMAT JSON) {query}", values
                ).fetchall()
                found |= set(relations(json.loads(plan)))
    return found


def relations(node: Any) -> Iterator[str]:
    """The partitions that a plan, or a part of one, reads."""
    if isinstance(node, list):
        for each in node:
            yield from relations(each)
    elif isinstance(node, dict):
        name = node.get("Relation Name", "")
        if PARTITION.match(name) and node.get("Actual Loops") != 0:
            yield name
        for each in node.values():
            yield from relations(each)


@pytest.fixture
def filled(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(server_vectors, "EXACT_BELOW", FEW)
    for name in ("A", "B", "C"):
        put(engine, f"{name}.txt", *(f"lamp {name} {n}" for n in range(2 * FEW)), collection=name)
    store = vectors_of(engine)
    rows = engine.chunks.without_vectors(store.model_id, 1_000)
    store.add([row[0] for row in rows], unit_vectors(len(rows)))
    engine.upkeep.run()
    return engine


def scopes(engine: Engine) -> list[Scope]:
    a = collection_id(engine, "A")
    return [
        Scope((a,)),
        Scope(about=(ScopeItem(ScopeKind.COLLECTION, a, "A"),)),
        Scope(readable=Readable((a,))),
        Scope(readable=Readable((), ("A.txt",))),
        Scope((a,), excluded=(("gate",),)),
    ]


def test_other_partitions_are_left_out(filled: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    search = filled.models.search(1)
    query = unit_vectors(1)[0]
    for scope in scopes(filled):
        with monkeypatch.context() as patch:
            statements = Statements(patch)
            by_words = filled.lexical.best([("lamp",)], 500, scope)
            by_meaning = search.nearest(query, 500, scope).chunk_ids
        assert len(by_words) == len(by_meaning) == 2 * FEW
        read = partitions(filled, statements.seen, scope.readable)
        if scope.readable:  # policies look for documents everywhere
            read = {name for name in read if not name.startswith("documents")}
        tables = {name.rsplit("_p", 1)[0] for name in read}
        assert {"chunks", "vectors_1"} <= tables, scope
        assert len(read) == len(tables), (scope, read)


def test_a_search_in_all_collections_reads_every_partition_in_order(
    filled: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    [vector] = unit_vectors(1)
    exact = filled.models.search(1).compare(vector, list(range(1, 6 * FEW + 1)))
    order = np.argsort(-exact.similarities)
    expected = [exact.chunk_ids[n] for n in order[:10].tolist()]
    with monkeypatch.context() as patch:
        statements = Statements(patch)
        found = filled.models.search(1).nearest(vector, 10, EVERYWHERE)
    assert found.chunk_ids == expected
    [(query, values)] = [each for each in statements.seen if "ORDER BY vector <#>" in each[0]]
    assert isinstance(filled.storage, ServerDatabase)
    with filled.storage.snapshot() as snapshot:
        [(plan,)] = snapshot.con.execute(f"EXPLAIN (FORMAT JSON) {query}", values).fetchall()
    assert len({n for n in relations(json.loads(plan)) if n.startswith("vectors")}) == PARTITIONS
