"""Tests of the inside of the engine on a server. What every engine promises is in contract/."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.store.contract.engine import Engine
from tests.engines import UNTESTED, postgres_in


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[Engine]:
    if reason := UNTESTED.get("postgres"):
        pytest.skip(reason)
    opened = postgres_in(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def engine(postgres: Engine) -> Engine:
    return postgres
