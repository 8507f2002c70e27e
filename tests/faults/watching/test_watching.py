"""Series W: changes in a watched folder, and the library's knowledge afterwards."""

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.ingest.scanning.disk_walk import RootOffline
from desktop_rag.ingest.scanning.reconcile import rescan
from desktop_rag.ingest.watching.watcher import (
    REMOTE_REASON,
    FolderWatcher,
    PendingChanges,
    WatchTimes,
)
from tests.follower import RULES, Follower, watching, write_docs


@pytest.fixture
def follower() -> Follower:
    return Follower()


@pytest.fixture
def watcher(follower: Follower) -> Iterator[FolderWatcher]:
    with watching(follower) as watcher:
        yield watcher


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_docs(tmp_path)


@pytest.mark.slow
def test_w03_a_burst_of_two_thousand_files(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    follower.look(docs)
    watcher.watch(docs)
    for number in range(2000):
        (docs / f"folder {number % 20}").mkdir(exist_ok=True)
        (docs / f"folder {number % 20}" / f"{number}.md").write_text("x")
    follower.wait_until_right(docs)
    assert len(follower.known[docs]) == 2003


@pytest.mark.slow
def test_w03_fifty_thousand_events_become_one_look_at_the_whole(tmp_path: Path) -> None:
    pending = PendingChanges(tmp_path, quiet_s=1.5, storm_s=10.0)
    for number in range(50_000):
        pending.add(tmp_path / f"{number}.md", now_s=0.0)
    assert pending.due_at_s == 1.5
    assert pending.take() == {tmp_path}
    assert pending.take() == frozenset()


def test_w04_polling_is_told_at_once_and_follows_no_links(docs: Path, follower: Follower) -> None:
    outside = docs.parent / "outside"
    outside.mkdir()
    (docs / "link").symlink_to(outside)
    (docs / "loop").symlink_to(docs)
    times = WatchTimes(quiet_s=0.05, probe_s=600.0, poll_s=0.1)
    with watching(follower, times, is_remote=lambda _: True) as watcher:
        watcher.watch(docs)
        follower.wait_until(lambda: follower.polled == [(docs, REMOTE_REASON)])
        (outside / "x.md").write_text("x")
        (docs / "z.md").write_text("the end")
        follower.wait_until(lambda: docs / "z.md" in follower.places)
    assert follower.places == [docs / "z.md"]


def test_w04_a_polled_root_is_looked_through_more_often(docs: Path, follower: Follower) -> None:
    times = WatchTimes(quiet_s=0.01, probe_s=0.05, poll_s=600.0, polled_rescan_s=0.1)
    with watching(follower, times, is_remote=lambda _: True) as watcher:
        watcher.watch(docs)
        follower.wait_until(lambda: follower.places[:2] == [docs, docs])


def test_w04_rescans_are_as_often_as_promised() -> None:
    times = WatchTimes()
    assert (times.rescan_s, times.polled_rescan_s, times.poll_s) == (3600.0, 600.0, 60.0)


def test_w05_a_moved_folder_is_moved_files_and_nothing_new(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    follower.look(docs)
    follower.new.clear()
    watcher.watch(docs)
    (docs / "sub").rename(docs / "renamed")
    follower.wait_until_right(docs)
    assert len(follower.moved) == 2
    assert not follower.new


def test_w05_a_folder_moved_twice_is_still_followed(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    watcher.watch(docs)
    for name in ("once", "twice"):
        next(path for path in docs.iterdir() if path.is_dir()).rename(docs / name)
        follower.wait_until(lambda name=name: docs / name in follower.places)
    (docs / "twice" / "deep" / "c.md").write_text("changed")
    follower.wait_until(lambda: docs / "twice" / "deep" / "c.md" in follower.places)


@pytest.mark.parametrize("is_remote", [False, True], ids=["events", "polled"])
def test_w07_a_root_that_goes_and_comes_back_loses_nothing(
    docs: Path, follower: Follower, is_remote: bool
) -> None:
    follower.look(docs)
    with watching(follower, is_remote=lambda _: is_remote) as watcher:
        watcher.watch(docs)
        for _ in range(2):
            docs.rename(docs.with_name("pulled"))
            follower.wait_until(lambda: docs in follower.offline)
            docs.with_name("pulled").rename(docs)
            follower.wait_until(lambda: docs not in follower.offline)
            assert len(follower.known[docs]) == 3
        (docs / "z.md").write_text("the end")
        follower.wait_until_right(docs)
    assert len(follower.new) == 4


def test_w07_a_root_that_is_deleted_is_offline(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    watcher.watch(docs)
    shutil.rmtree(docs)
    follower.wait_until(lambda: docs in follower.offline)


def test_w07_a_suddenly_empty_root_is_offline(docs: Path, follower: Follower) -> None:
    follower.look(docs)
    docs.rename(docs.with_name("elsewhere"))
    docs.mkdir()
    (docs / "lost+found").mkdir()
    store = list(follower.known[docs].values())
    with pytest.raises(RootOffline, match="docs cannot be reached"):
        rescan(docs, RULES, store, threading.Event())


@pytest.mark.parametrize("part", ["", "a.md"])
def test_w07_a_missing_root_is_offline(docs: Path, follower: Follower, part: str) -> None:
    follower.look(docs)
    docs.rename(docs.with_name("elsewhere"))
    parts = frozenset({docs / part}) if part else None
    with pytest.raises(RootOffline):
        rescan(docs, RULES, list(follower.known[docs].values()), threading.Event(), parts)


def test_w14_after_sleep_everything_is_looked_through(docs: Path, follower: Follower) -> None:
    clock = {"ahead_s": 0.0}
    with watching(follower, wall_clock=lambda: time.time() + clock["ahead_s"]) as watcher:
        watcher.watch(docs)
        clock["ahead_s"] = 3600.0
        follower.wait_until(lambda: follower.places == [docs])


def test_w14_lost_events_are_made_up_for_by_a_rescan_now_and_then(
    docs: Path, follower: Follower
) -> None:
    times = WatchTimes(quiet_s=0.01, probe_s=0.05, rescan_s=0.1)
    with watching(follower, times) as watcher:
        watcher.watch(docs)
        follower.wait_until(lambda: follower.places[:2] == [docs, docs])
