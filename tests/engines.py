"""The engines that the contract tests of the store run against: tests/unit/store/contract."""

from collections.abc import Callable
from pathlib import Path

from desktop_rag.core.paths import Home
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.duckdb_engine import DuckdbOpener

Open = Callable[[Path], Engine]


def duckdb_in(folder: Path) -> Engine:
    return DuckdbOpener().open(Home(folder), memory_mb=256)


# Each opens the library of a folder, the same one when opened again.
ENGINES: dict[str, Open] = {
    "duckdb": duckdb_in,
}
