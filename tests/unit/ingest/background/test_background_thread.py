"""Background work has a low priority, and the rest of the app its own."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from desktop_rag.ingest.background.background_thread import (
    NICENESS,
    BackgroundThread,
    PipelineCallbacks,
)

_WAIT_S = 20.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads have one on Linux alone")


def own_niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


class Worker:
    """Work that looks at its own priority, once."""

    def __init__(self) -> None:
        self.found: list[int] = []
        self.is_done = threading.Event()
        self.background = BackgroundThread(
            "looks-once",
            self._work,
            has_work=lambda: not self.found,
            callbacks=PipelineCallbacks(*[lambda *_: None] * 5, became_idle=self._on_idle),
        )

    def _work(self) -> None:
        look = [sys.executable, "-c", "import os; print(os.getpriority(os.PRIO_PROCESS, 0))"]
        child = subprocess.run(look, capture_output=True, text=True, check=True)
        self.found += [own_niceness(), int(child.stdout)]

    def _on_idle(self) -> None:
        if self.found:
            self.is_done.set()


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    made.background.start()
    yield made
    made.background.close()


def test_work_and_its_processes_wait_for_others(worker: Worker) -> None:
    before = own_niceness()
    assert worker.is_done.wait(_WAIT_S)
    lowered = min(19, max(before, NICENESS))
    assert worker.found == [lowered, lowered]
    assert own_niceness() == before
