"""Series W: kernel limits and dropped events, injected into watchdog's inotify calls."""

import ctypes
import errno
import logging
import os
import shutil
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.observers import inotify_c

from desktop_rag.ingest.watching.watcher import LIMIT_REASON, FolderWatcher
from tests.follower import WAIT_S, watching

OVERFLOW = struct.pack("iIII", -1, inotify_c.InotifyConstants.IN_Q_OVERFLOW, 0, 0)


class Places:
    """The watcher's reports."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.places: list[Path] = []
        self.polled: list[tuple[Path, str]] = []

    def on_dirty(self, _root: Path, places: frozenset[Path]) -> None:
        with self.changed:
            self.places += sorted(places)
            self.changed.notify_all()

    def on_polling(self, root: Path, reason: str) -> None:
        with self.changed:
            self.polled.append((root, reason))
            self.changed.notify_all()

    def wait_for(self, path: Path) -> None:
        self.wait_for_any(path)

    def wait_for_any(self, *paths: Path) -> None:
        with self.changed:
            is_told = self.changed.wait_for(
                lambda: any(path in self.places for path in paths), WAIT_S
            )
            assert is_told, self.places
            self.places.clear()

    def wait_for_polling(self, root: Path) -> None:
        with self.changed:
            is_told = self.changed.wait_for(lambda: bool(self.polled), WAIT_S)
        assert is_told
        assert self.polled == [(root, LIMIT_REASON)]


@pytest.fixture
def places() -> Places:
    return Places()


@pytest.fixture
def watcher(places: Places) -> Iterator[FolderWatcher]:
    with watching(places) as watcher:
        yield watcher


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub" / "deep").mkdir(parents=True)
    return root


class LossyKernel:
    """Replaces `os` in watchdog's inotify; while `drops` is set, events overflow the queue."""

    def __init__(self) -> None:
        self.drops = threading.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def read(self, descriptor: int, size: int) -> bytes:
        content = os.read(descriptor, size)
        return OVERFLOW if self.drops.is_set() else content


def test_w03_after_an_overflow_the_whole_root_is_looked_through(
    docs: Path, places: Places, watcher: FolderWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("watchdog.observers.inotify", "watchdog.observers.inotify_c"):
        monkeypatch.setattr(logging.getLogger(name), "disabled", True)  # it warns, as expected
    kernel = LossyKernel()
    monkeypatch.setattr(inotify_c, "os", kernel)
    watcher.watch(docs)
    (docs / "a.md").write_text("a")
    places.wait_for(docs / "a.md")
    kernel.drops.set()
    (docs / "unseen" / "deep").mkdir(parents=True)
    (docs / "unseen" / "b.md").write_text("b")
    places.wait_for(docs)
    kernel.drops.clear()
    (docs / "unseen" / "deep" / "c.md").write_text("c")
    # A read may have overflowed after the root was reported: then it is reported once more.
    places.wait_for_any(docs / "unseen" / "deep" / "c.md", docs)


def limited(watches: int) -> Callable[[int, bytes, int], int]:
    """inotify_add_watch on a system with this limit."""
    add_watch = inotify_c.inotify_add_watch
    paths: set[bytes] = set()

    def add(descriptor: int, path: bytes, mask: int) -> int:
        paths.add(path)
        if len(paths) > watches:
            ctypes.set_errno(errno.ENOSPC)
            return -1
        return add_watch(descriptor, path, mask)

    return add


@pytest.mark.parametrize("watches", [0, 1, 2])
def test_w04_a_folder_with_more_subfolders_than_watches_is_polled(
    docs: Path,
    places: Places,
    watcher: FolderWatcher,
    monkeypatch: pytest.MonkeyPatch,
    watches: int,
) -> None:
    monkeypatch.setattr(inotify_c, "inotify_add_watch", limited(watches))
    watcher.watch(docs)
    places.wait_for_polling(docs)
    (docs / "sub" / "deep" / "a.md").write_text("a")
    places.wait_for(docs / "sub" / "deep" / "a.md")


def test_w04_a_new_folder_that_finds_no_watch_left_makes_the_root_polled(
    docs: Path, places: Places, watcher: FolderWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inotify_c, "inotify_add_watch", limited(3))
    watcher.watch(docs)
    (docs / "new").mkdir()
    places.wait_for_polling(docs)
    places.wait_for(docs)
    (docs / "new" / "a.md").write_text("a")
    places.wait_for(docs / "new" / "a.md")


def test_w04_only_the_folder_that_hits_the_limit_is_polled(
    docs: Path, places: Places, watcher: FolderWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inotify_c, "inotify_add_watch", limited(1))
    small = docs.parent / "small"
    small.mkdir()
    watcher.watch(small)
    watcher.watch(docs)
    places.wait_for_polling(docs)


def test_w04_without_any_inotify_left_folders_are_polled(
    docs: Path, places: Places, watcher: FolderWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> int:
        ctypes.set_errno(errno.EMFILE)
        return -1

    monkeypatch.setattr(inotify_c, "inotify_init", refused)
    watcher.watch(docs)
    places.wait_for_polling(docs)
    (docs / "a.md").write_text("a")
    places.wait_for(docs / "a.md")


def test_w13_folders_that_may_not_be_read_do_not_stop_the_rest(
    docs: Path, places: Places, watcher: FolderWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def access(path: bytes | str, _mode: int) -> bool:
        return "closed" not in os.fsdecode(path)

    (docs / "closed 1").mkdir()
    (docs / "closed 2").mkdir()
    monkeypatch.setattr(os, "access", access)
    watcher.watch(docs)
    (docs / "sub" / "a.md").write_text("a")
    places.wait_for(docs / "sub" / "a.md")
    assert places.polled == []


def test_w13_a_folder_that_may_be_read_again_is_watched_again(
    docs: Path, places: Places, watcher: FolderWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "closed").mkdir()
    with monkeypatch.context() as closed:
        closed.setattr(os, "access", lambda path, _mode: "closed" not in os.fsdecode(path))
        watcher.watch(docs)
        (docs / "a.md").write_text("a")
        places.wait_for(docs / "a.md")
    places.wait_for(docs)
    (docs / "closed" / "b.md").write_text("b")
    places.wait_for(docs / "closed" / "b.md")
    assert places.polled == []


def test_w13_a_root_that_may_not_be_read_is_waited_for(
    docs: Path, places: Places, watcher: FolderWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as closed:
        closed.setattr(os, "access", lambda _path, _mode: False)
        watcher.watch(docs)
    places.wait_for(docs)
    (docs / "sub" / "a.md").write_text("a")
    places.wait_for(docs / "sub" / "a.md")


def test_a_folder_that_comes_up_in_the_listing_and_as_an_event(
    docs: Path, places: Places, watcher: FolderWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_watch = inotify_c.inotify_add_watch

    def add(descriptor: int, path: bytes, mask: int) -> int:
        watch = add_watch(descriptor, path, mask)
        if path.endswith(b"/new"):
            (docs / "new" / "x").mkdir(exist_ok=True)
        return watch

    monkeypatch.setattr(inotify_c, "inotify_add_watch", add)
    watcher.watch(docs)
    (docs / "new").mkdir()
    places.wait_for(docs / "new")
    (docs / "new" / "x" / "a.md").write_text("a")
    places.wait_for_any(docs / "new" / "x", docs / "new" / "x" / "a.md")
    (docs / "new" / "x" / "b.md").write_text("b")
    places.wait_for(docs / "new" / "x" / "b.md")


def test_folders_of_one_name_thrown_away_one_after_the_other(
    docs: Path, places: Places, watcher: FolderWatcher, tmp_path: Path
) -> None:
    """Watchdog 7.1 loses its reader thread here when the queue is emptied."""
    watcher.watch(docs)
    for name in ("first", "second"):
        (docs / "again").mkdir()
        places.wait_for(docs / "again")
        (docs / "again").rename(tmp_path / name)
        places.wait_for(docs / "again")
    shutil.rmtree(tmp_path / "second")
    shutil.rmtree(tmp_path / "first")
    for name in ("a.md", "b.md"):
        (docs / name).write_text("x")
        places.wait_for_any(docs, docs / name)
