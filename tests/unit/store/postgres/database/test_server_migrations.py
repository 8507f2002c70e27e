"""A library of each earlier version is brought up to date with all that is in it."""

from pathlib import Path

import psycopg
import pytest

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.postgres.database import server_migrations
from desktop_rag.store.postgres.database.server_database import ServerDatabase
from tests.engines import postgres_in
from tests.servers.postgres_server import address
from tests.stored_rows import found, put

COUNT = 500


@pytest.mark.usefixtures("engine")
def test_postings_in_rows_become_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    with monkeypatch.context() as before:
        before.setattr(server_migrations, "STEPS", server_migrations.STEPS[:1])
        before.setattr(server_migrations, "LATEST", 1)
        old = postgres_in(folder)
    schema = schema_of(old)
    old.close()
    with psycopg.connect(address()) as connection:
        connection.execute(f"SET search_path TO {schema}".encode())
        connection.execute(
            "INSERT INTO postings SELECT 7, 3 * n, 1 + n %% 9, 70000 FROM generate_series(1, %s) n",
            [COUNT],
        )
    opened = postgres_in(folder)
    assert isinstance(opened.storage, ServerDatabase)
    with opened.storage.read() as con:
        kept = con.execute(
            "SELECT chunk_id, tf, term_count FROM postings WHERE key = 7 ORDER BY 1"
        ).fetchall()
        blocks = con.execute("SELECT postings FROM posting_blocks ORDER BY 1").fetchall()
    assert kept == [(3 * n, 1 + n % 9, 65_535) for n in range(1, COUNT + 1)]
    assert blocks == [(20,), (240,), (240,)]
    put(opened, "a.txt", "lamp")
    assert found(opened, "lamp") == ["lamp"]
    opened.close()


def schema_of(engine: Engine) -> str:
    assert isinstance(engine.storage, ServerDatabase)
    return engine.storage.schema
