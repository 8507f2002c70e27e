"""How late the event loop of the window is, as the benchmarks of the window measure it.

A timer in the Qt thread is due every 5 ms; its lateness is the time the window stood still, which
is what a person would notice. The time that the Qt thread itself worked between two ticks says the
same without what else the computer does.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from desktop_rag.features.evaluation.measures.metrics import percentile

_TICK_MS = 5
_P999_LIMIT_MS, _LONGEST_LIMIT_MS = 50.0, 100.0


class Tick(NamedTuple):
    """The lateness of a tick, and the work of the Qt thread since the one before, in ms."""

    late_ms: float
    work_ms: float


@contextmanager
def watched() -> Generator[list[Tick]]:
    """The ticks within the block. Qt thread."""
    from PySide6.QtCore import Qt, QTimer

    ticks: list[Tick] = []
    due_at, worked_s = time.perf_counter() + _TICK_MS / 1000, time.thread_time()

    def tick() -> None:
        nonlocal due_at, worked_s
        now, before_s, worked_s = time.perf_counter(), worked_s, time.thread_time()
        ticks.append(Tick(max(0.0, 1000 * (now - due_at)), 1000 * (worked_s - before_s)))
        due_at = now + _TICK_MS / 1000

    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start(_TICK_MS)
    yield ticks
    timer.stop()


def wait_until(is_so: Callable[[], bool], timeout_s: float) -> None:
    """Handle events until a condition holds; TimeoutError when it does not in that time."""
    from PySide6.QtWidgets import QApplication

    give_up_at = time.perf_counter() + timeout_s
    while not is_so():
        if time.perf_counter() > give_up_at:
            raise TimeoutError("what was waited for did not happen")
        QApplication.processEvents()
        time.sleep(0.0005)


def settle(seconds: float) -> None:
    """Handle events for a while."""
    until = time.perf_counter() + seconds
    wait_until(lambda: time.perf_counter() > until, seconds + 1)


def report(ticks: Sequence[Tick]) -> dict[str, float | bool]:
    """The delays against their limits."""
    late_ms = [tick.late_ms for tick in ticks]
    p999, longest = percentile(late_ms, 0.999), max(late_ms)
    return {
        "ticks": len(late_ms),
        "p50_ms": round(percentile(late_ms, 0.5), 2),
        "p99_ms": round(percentile(late_ms, 0.99), 2),
        "p99.9_ms": round(p999, 2),
        "longest_ms": round(longest, 2),
        "longest_work_ms": round(max(tick.work_ms for tick in ticks), 2),
        "is_within": p999 <= _P999_LIMIT_MS and longest <= _LONGEST_LIMIT_MS,
    }


def limits() -> dict[str, float]:
    """The limits that the figures are held against."""
    return {"p99.9_ms": _P999_LIMIT_MS, "longest_ms": _LONGEST_LIMIT_MS}
