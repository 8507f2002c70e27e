from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.store.database import Database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.duckdb"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path, memory_mb=256, backups=path.parent)
    yield opened
    opened.close()
