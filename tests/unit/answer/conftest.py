from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.store.contract.engine import Engine
from tests.engines import duckdb_in


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    opened = duckdb_in(tmp_path)
    yield opened
    opened.close()
