"""The bridge: order, time budget, cancelling, deleted owners, bugs raised."""

import threading
import time
import weakref
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QObject, QThread, QTimer
from pytestqt.qtbot import QtBot

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.ui.foundation.bridge import Bridge

# A budget of 8 ms, in deliveries of a millisecond, and as many again between two ticks.
MOST_AT_ONCE = 16


def test_a_result_comes_back_on_the_qt_thread(bridge: Bridge, qtbot: QtBot) -> None:
    seen: list[tuple[int, bool, bool]] = []
    ui_thread = QThread.currentThread()
    main = threading.current_thread()
    bridge.run(
        bridge,
        lambda: threading.current_thread() is main,
        lambda is_main: seen.append((1, is_main, QThread.currentThread() is ui_thread)),
    )
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == [(1, False, True)]


@pytest.mark.slow
def test_posts_of_each_thread_arrive_in_order(bridge: Bridge, qtbot: QtBot) -> None:
    seen: list[Any] = []
    bridge.hear(object, seen.append)
    threads = [
        threading.Thread(target=lambda t=t: [bridge.post((t, n)) for n in range(2000)])
        for t in range(4)
    ]
    for thread in threads:
        thread.start()
    qtbot.waitUntil(lambda: len(seen) == 8000, timeout=20_000)
    for thread in threads:
        thread.join()
    for t in range(4):
        assert [n for thread, n in seen if thread == t] == list(range(2000))


@pytest.mark.slow
def test_many_slow_deliveries_leave_the_loop_alive(bridge: Bridge, qtbot: QtBot) -> None:
    done_at_ticks: list[int] = []
    timer, done = QTimer(interval=0), []

    def work_a_millisecond(event: object) -> None:
        stop_at = time.perf_counter() + 0.001
        while time.perf_counter() < stop_at:
            pass
        done.append(event)

    timer.timeout.connect(lambda: done_at_ticks.append(len(done)))
    bridge.hear(object, work_a_millisecond)
    for n in range(400):
        bridge.post(n)
    timer.start()
    qtbot.waitUntil(lambda: len(done) == 400, timeout=20_000)
    timer.stop()
    assert done == list(range(400))
    steps = [b - a for a, b in pairwise([0, *done_at_ticks, 400])]
    assert max(steps) <= MOST_AT_ONCE


def test_a_stream_arrives_in_order_and_ends(bridge: Bridge, qtbot: QtBot) -> None:
    seen: list[int | str] = []
    bridge.stream(bridge, lambda _cancel: range(500), seen.append, lambda: seen.append("end"))
    qtbot.waitUntil(lambda: "end" in seen)
    assert seen == [*range(500), "end"]


def endless(cancel: threading.Event) -> Iterator[str]:
    while not cancel.wait(0.002):
        yield "more"
    yield "last"


def test_stop_delivers_the_remaining_items(bridge: Bridge, qtbot: QtBot) -> None:
    seen: list[str] = []
    job = bridge.stream(bridge, endless, seen.append, lambda: seen.append("end"))
    qtbot.waitUntil(lambda: "more" in seen)
    job.stop()
    qtbot.waitUntil(lambda: "end" in seen)
    assert seen[-2:] == ["last", "end"]


def test_cancel_drops_remaining_items(bridge: Bridge, qtbot: QtBot) -> None:
    seen: list[str] = []
    ended = threading.Event()

    def watched(cancel: threading.Event) -> Iterator[str]:
        yield from endless(cancel)
        ended.set()

    job = bridge.stream(bridge, watched, seen.append, lambda: seen.append("end"))
    qtbot.waitUntil(lambda: bool(seen))
    job.cancel()
    count = len(seen)
    qtbot.waitUntil(ended.is_set)
    flush(bridge, qtbot)
    assert len(seen) == count
    assert "last" not in seen


def flush(bridge: Bridge, qtbot: QtBot) -> None:
    """Wait until everything enqueued so far has been delivered."""
    arrived: list[str] = []
    stop_hearing = bridge.hear(str, arrived.append)
    bridge.post("flush")
    qtbot.waitUntil(lambda: "flush" in arrived)
    stop_hearing()


def test_nothing_is_called_for_a_deleted_owner(bridge: Bridge, qtbot: QtBot) -> None:
    owner, seen = QObject(), []
    may_end = threading.Event()
    bridge.run(owner, lambda: may_end.wait(10), seen.append)
    with qtbot.waitSignal(owner.destroyed):
        owner.deleteLater()
    may_end.set()
    bridge.run(bridge, lambda: None, lambda _: seen.append("other"))
    qtbot.waitUntil(lambda: "other" in seen)
    flush(bridge, qtbot)
    assert seen == ["other"]


def fail() -> None:
    raise AppError("The disk is full.", "Free some space.")


def test_an_app_error_goes_to_failed(bridge: Bridge, qtbot: QtBot) -> None:
    seen: list[AppError] = []
    bridge.run(bridge, fail, failed=seen.append)
    qtbot.waitUntil(lambda: bool(seen))
    assert seen[0].title == "The disk is full."


def test_an_unhandled_app_error_is_posted(bridge: Bridge, qtbot: QtBot) -> None:
    seen: list[AppError] = []
    bridge.hear(AppError, seen.append)
    bridge.run(bridge, fail)
    qtbot.waitUntil(lambda: bool(seen))
    assert seen[0].title == "The disk is full."


class Hearer(QObject):
    """Hears texts until it is deleted."""

    def __init__(self, bridge: Bridge, heard: list[str]) -> None:
        super().__init__()
        self._heard = heard
        bridge.hear(str, self.on_text)

    def on_text(self, text: str) -> None:
        self._heard.append(text)


def test_a_deleted_widget_hears_nothing_more(bridge: Bridge, qtbot: QtBot) -> None:
    heard: list[str] = []
    hearer = Hearer(bridge, heard)
    bridge.post("first")
    flush(bridge, qtbot)
    with qtbot.waitSignal(hearer.destroyed):
        hearer.deleteLater()
    bridge.post("second")
    flush(bridge, qtbot)
    assert heard == ["first", "flush"]


def test_hearing_keeps_no_widget_alive(bridge: Bridge, qtbot: QtBot) -> None:
    heard: list[str] = []
    known = weakref.ref(Hearer(bridge, heard))
    assert known() is None
    flush(bridge, qtbot)
    assert heard == []


def test_a_bug_of_one_hearer_is_shown_and_the_next_one_hears(bridge: Bridge, qtbot: QtBot) -> None:
    heard: list[object] = []
    bridge.hear(int, lambda number: number // 0)
    bridge.hear(int, heard.append)
    with qtbot.captureExceptions() as caught:
        bridge.post(7)
        bridge.post(8)
        qtbot.waitUntil(lambda: len(heard) == 2)
    assert [kind for kind, _, _ in caught] == [ZeroDivisionError] * 2


def test_an_app_error_in_mid_stream_follows_its_items(bridge: Bridge, qtbot: QtBot) -> None:
    seen: list[object] = []

    def items(_cancel: threading.Event) -> Iterator[int]:
        yield 1
        fail()

    bridge.stream(bridge, items, seen.append, failed=lambda e: seen.append(e.title))
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen == [1, "The disk is full."]


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_bug_is_raised_loudly_on_the_qt_thread(
    bridge: Bridge, qtbot: QtBot, *, is_stream: bool
) -> None:
    after: list[str] = []
    with qtbot.captureExceptions() as caught:
        if is_stream:
            bridge.stream(bridge, lambda _cancel: [str(1 // 0)], after.append)
        else:
            bridge.run(bridge, lambda: 1 // 0)
        qtbot.waitUntil(lambda: bool(caught))
        bridge.run(bridge, lambda: "alive", after.append)
        qtbot.waitUntil(lambda: after == ["alive"])
    assert caught[0][0] is ZeroDivisionError


def test_cancelled_work_is_silent(bridge: Bridge, qtbot: QtBot) -> None:
    def stop() -> None:
        raise Cancelled

    seen: list[object] = []
    bridge.run(bridge, stop, seen.append, seen.append)
    bridge.run(bridge, lambda: "next", seen.append)
    qtbot.waitUntil(lambda: "next" in seen)
    flush(bridge, qtbot)
    assert seen == ["next"]


def test_close_cancels_and_waits(qtbot: QtBot) -> None:
    bridge, seen = Bridge(), []
    bridge.stream(bridge, endless, seen.append)
    qtbot.waitUntil(lambda: bool(seen))
    bridge.close()
    names = {thread.name for thread in threading.enumerate()}
    assert not any(name.startswith("window-work") for name in names)
    bridge.post("too late")
    count = len(seen)
    QCoreApplication.processEvents()
    assert len(seen) == count
