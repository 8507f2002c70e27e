"""Claims of one process, as another sees them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.store.contract.engine import Engine
from tests.engines import postgres_in


@pytest.fixture
def other(engine: Engine, tmp_path: Path) -> Iterator[Engine]:
    opened = postgres_in(tmp_path)
    yield opened
    opened.close()


def test_a_document_is_claimed_by_one_process(engine: Engine, other: Engine) -> None:
    ours, theirs = engine.documents.claims, other.documents.claims
    assert ours.take(["b", "a"]) == ["b", "a"]
    assert theirs.take(["a", "b", "c"]) == ["c"]
    assert ours.take(["a", "c"]) == ["a"]
    ours.release(["a"])
    assert theirs.take(["a"]) == []  # given back with the last that was claimed with it
    ours.release(["b", "unknown"])
    assert theirs.take(["a", "b"]) == ["a", "b"]
    theirs.release(["a", "b", "c"])
    assert ours.take(["c"]) == ["c"]
    ours.release(["c"])


def test_claims_end_with_the_connection_of_a_process(engine: Engine, other: Engine) -> None:
    assert engine.documents.claims.take(["a"]) == ["a"]
    assert isinstance(other.storage, ServerDatabase)
    with other.storage.outside_transactions() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks JOIN pg_class c ON c.oid ="
            " relation WHERE relname = 'document_claims' AND mode = 'RowShareLock'"
            " AND relnamespace = %s::regnamespace",
            [other.storage.schema],
        )
    assert other.documents.claims.take(["a"]) == ["a"]
    engine.documents.claims.release(["a"])
    other.documents.claims.release(["a"])


def test_nothing_is_left_of_claims_that_were_given_back(engine: Engine) -> None:
    engine.documents.claims.take(["a", "b"])
    engine.documents.claims.release(["a", "b"])
    assert isinstance(engine.storage, ServerDatabase)
    with engine.storage.read() as con:
        assert con.execute("SELECT count(*) FROM document_claims").fetchone() == (0,)
