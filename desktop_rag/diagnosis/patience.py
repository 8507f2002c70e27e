"""Calls that may never return, such as those on a disconnected drive."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(limit_s: float, call: Callable[[], T], *, otherwise: T) -> T:
    """The result of `call`, or `otherwise` when it takes longer; its thread is then abandoned."""
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(call()), name="patience", daemon=True)
    thread.start()
    thread.join(limit_s)
    return results[0] if results else otherwise
