"""A thread that calls a function, and rests while there is nothing to do."""

import threading

from desktop_rag.ingest.background.background_thread import BackgroundThread, Ticker

_LONG_S = 3600.0
_WAIT_S = 30.0


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
        "test", waiting.clear, has_work=lambda: bool(waiting), failed=lambda _: None
    )
    thread.while_idle(lambda: done.append("too early"))
    waiting.clear()
    thread.while_idle(lambda: done.append("in time"))
    assert done == ["in time"]
