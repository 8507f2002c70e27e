"""Every test of this folder runs once for each engine, and knows the contract only."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from desktop_rag.store.contract.engine import Engine
from tests.engines import UNTESTED, Open, duckdb_in, joined_in, postgres_in


@pytest.fixture(scope="session")
def empty_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The shared library of all that are joined with one."""
    engine = duckdb_in(tmp_path_factory.mktemp("shared"))
    yield engine
    engine.close()


@pytest.fixture(
    scope="session",
    params=["duckdb", *(pytest.param(e, marks=pytest.mark.slow) for e in ("joined", "postgres"))],
)
def open_engine(request: pytest.FixtureRequest) -> Open:
    if reason := UNTESTED.get(request.param):
        pytest.skip(reason)
    if request.param == "joined":
        return partial(joined_in, shared=request.getfixturevalue("empty_library"))
    return duckdb_in if request.param == "duckdb" else postgres_in


@pytest.fixture
def engine(open_engine: Open, tmp_path: Path) -> Iterator[Engine]:
    opened = open_engine(tmp_path)
    yield opened
    opened.close()
