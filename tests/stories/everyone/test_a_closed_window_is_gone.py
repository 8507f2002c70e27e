"""A window that was closed leaves nothing in memory."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent

from desktop_rag.app import build_services
from desktop_rag.cli.running import run_for_another
from desktop_rag.core.paths import Home
from desktop_rag.window_app import WindowApp
from tests.conftest import FAST_TIMES

pytestmark = pytest.mark.slow


@pytest.fixture
def outlive() -> Iterator[Callable[[], None]]:
    """Starts a thread that ends with the test."""
    ended, threads = threading.Event(), list[threading.Thread]()

    def start() -> None:
        threads.append(threading.Thread(target=ended.wait))
        threads[-1].start()

    yield start
    ended.set()
    for thread in threads:
        thread.join()


def test_no_thread_keeps_the_window(home: Home, outlive: Callable[[], None]) -> None:
    opened = WindowApp(build_services(home, times=FAST_TIMES), run_for_another)
    outlive()
    opened.shut_down()
    opened.window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gone = weakref.ref(opened), weakref.ref(opened.window)
    del opened
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
