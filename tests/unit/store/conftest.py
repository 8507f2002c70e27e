"""Tests of the DuckDB engine's inside. What every engine promises is tested in contract/."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import engine_over


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.duckdb"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path, memory_mb=256, backups=path.parent)
    yield opened
    opened.close()


@pytest.fixture
def engine(database: Database) -> Engine:
    return engine_over(database)
