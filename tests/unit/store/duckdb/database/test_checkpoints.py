"""The log is written into the library file when it is long, and otherwise left to grow."""

from pathlib import Path

import pytest

from desktop_rag.store.duckdb.database import database as database_module
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.engines import duckdb_in

_BLOCK = "SELECT range AS i, md5(range::VARCHAR) AS m FROM range(100000)"


@pytest.mark.everyday
def test_a_long_log_goes_into_the_file(tmp_path: Path) -> None:
    engine = duckdb_in(tmp_path)
    database = database_of(engine)
    log = database.path.with_name(f"{database.path.name}.wal")
    database.write(lambda con: con.execute("CREATE TABLE t (i BIGINT, m VARCHAR)"))
    sizes: list[int] = []
    for _ in range(8):
        database.write(lambda con: con.execute(f"INSERT INTO t {_BLOCK}"))
        # The next write begins after the checkpoint.
        database.write_uncached(lambda con: con.execute("SELECT 1"))
        sizes.append(log.stat().st_size if log.exists() else 0)
    assert max(sizes) < 16_000_000
    assert sizes != sorted(sizes)
    assert database.path.stat().st_size > 4_000_000
    engine.close()


@pytest.mark.slow
def test_without_room_the_log_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "_LEAST_FREE_BYTES", 1 << 60)
    engine = duckdb_in(tmp_path)
    database = database_of(engine)
    database.write(lambda con: con.execute("CREATE TABLE t (i BIGINT, m VARCHAR)"))
    for _ in range(8):
        database.write(lambda con: con.execute(f"INSERT INTO t {_BLOCK}"))
    assert database.path.with_name(f"{database.path.name}.wal").stat().st_size > 16_000_000
    engine.close()
