"""Every test of this folder runs once for each engine, and knows the contract only."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.store.contract.engine import Engine
from tests.engines import ENGINES, UNTESTED, Open


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(name, marks=pytest.mark.slow if name != "duckdb" else ()) for name in ENGINES
    ],
)
def open_engine(request: pytest.FixtureRequest) -> Open:
    if reason := UNTESTED.get(request.param):
        pytest.skip(reason)
    return ENGINES[request.param]


@pytest.fixture
def engine(open_engine: Open, tmp_path: Path) -> Iterator[Engine]:
    opened = open_engine(tmp_path)
    yield opened
    opened.close()
