"""A thread that calls a function, and rests while there is nothing to do."""

import threading
from dataclasses import replace

from desktop_rag.ingest.background.background_thread import (
    BackgroundThread,
    PipelineCallbacks,
    Ticker,
)

_LONG_S = 3600.0
_WAIT_S = 30.0
_UNHEARD = PipelineCallbacks(*[lambda *_: None] * 5)


def test_a_resting_ticker_is_woken_and_ends_at_once() -> None:
    called = threading.Semaphore(0)

    def tick() -> float:
        called.release()
        return _LONG_S

    ticker = Ticker("test", 0.001, tick)
    ticker.start()
    assert called.acquire(timeout=_WAIT_S)
    ticker.wake()
    assert called.acquire(timeout=_WAIT_S)
    ticker.close()


def test_work_while_idle_is_not_done_while_something_waits() -> None:
    done: list[str] = []
    waiting = ["file"]
    thread = BackgroundThread(
        "test", waiting.clear, has_work=lambda: bool(waiting), callbacks=_UNHEARD
    )
    thread.while_idle(lambda: done.append("too early"))
    waiting.clear()
    thread.while_idle(lambda: done.append("in time"))
    assert done == ["in time"]


def test_a_part_says_when_it_begins_to_work_and_when_nothing_is_left() -> None:
    said: list[str] = []
    waiting: list[str] = []
    is_idle = threading.Semaphore(0)

    def became_idle() -> None:
        said.append("idle")
        is_idle.release()

    callbacks = replace(_UNHEARD, became_busy=lambda: said.append("busy"), became_idle=became_idle)
    thread = BackgroundThread(
        "test", waiting.clear, has_work=lambda: bool(waiting), callbacks=callbacks
    )
    thread.start()
    assert is_idle.acquire(timeout=_WAIT_S)
    with thread.condition:
        waiting.append("file")
    thread.wake()
    assert is_idle.acquire(timeout=_WAIT_S)
    thread.close()
    assert said == ["idle", "busy", "idle"]
