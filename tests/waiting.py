"""Waits for what another thread does."""

import threading
import time
from collections.abc import Callable


def until(is_so: Callable[[], object]) -> None:
    """Wait for another thread."""
    deadline, pause = time.monotonic() + 20, threading.Event()
    while not is_so():
        assert time.monotonic() < deadline, "it never came to that"
        pause.wait(0.01)
