"""Real folders, real events: what a library that follows the watcher ends up knowing."""

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag.ingest.debounce import WatchTimes
from desktop_rag.ingest.ignore import IgnoreRules
from desktop_rag.ingest.reconcile import KnownFile, rescan
from desktop_rag.ingest.scan import RootOffline, scan
from desktop_rag.ingest.watcher import REMOTE_REASON, FolderWatcher

WAIT_S = 30.0
RULES = IgnoreRules(lambda name: name.lower().endswith((".md",)), max_size_bytes=1000)
FAST = WatchTimes(quiet_s=0.05, storm_s=1.0, probe_s=0.1, poll_s=0.1)


class Follower:
    """Knows what a library would know: it rescans the places it is told of, and no others."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.known: dict[Path, dict[str, KnownFile]] = {}
        self.places: list[Path] = []
        self.moved: list[str] = []
        self.new: list[str] = []
        self.offline: set[Path] = set()
        self.polled: list[tuple[Path, str]] = []

    def on_dirty(self, root: Path, places: frozenset[Path]) -> None:
        with self.changed:
            self.places += sorted(places)
            with contextlib.suppress(RootOffline):
                self.offline.add(root)
                self.look(root, places)
                self.offline.discard(root)
            self.changed.notify_all()

    def look(self, root: Path, places: frozenset[Path] | None = None) -> None:
        store = self.known.setdefault(root, {})
        changes = rescan(root, RULES, list(store.values()), threading.Event(), places)
        for gone in (*changes.vanished, *(match.known for match in changes.moved)):
            del store[gone.location]
        self.moved += [match.found.location for match in changes.moved]
        self.new += [file.location for file in changes.new]
        matches = (*changes.moved, *changes.changed)
        for file in (*changes.new, *(match.found for match in matches)):
            store[file.location] = KnownFile("", *file[:5])

    def on_polling(self, root: Path, reason: str) -> None:
        with self.changed:
            self.polled.append((root, reason))
            self.changed.notify_all()

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(is_so, WAIT_S), (self.places[-20:], self.known)

    def wait_until_right(self, root: Path) -> None:
        """Wait until what is known is what is on disk now."""
        disk = {file.location: file.stat for file in scan(root, RULES, threading.Event())}
        self.wait_until(
            lambda: disk == {name: file.stat for name, file in self.known.get(root, {}).items()}
        )


@pytest.fixture
def follower() -> Follower:
    return Follower()


@pytest.fixture
def watcher(follower: Follower) -> Iterator[FolderWatcher]:
    watcher = FolderWatcher(follower.on_dirty, follower.on_polling, RULES, FAST)
    yield watcher
    watcher.close()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name in ("a.md", "sub/b.md", "sub/deep/c.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def save_through_a_new_file(docs: Path) -> None:
    (docs / "a.md.new").write_text("saved")
    (docs / "a.md.new").replace(docs / "a.md")


def save_through_a_backup(docs: Path) -> None:
    (docs / "a.md").rename(docs / "a.md~")
    (docs / "a.md").write_text("saved")
    (docs / "a.md~").unlink()


def move_a_file_in(docs: Path) -> None:
    outside = docs.parent / "incoming.md"
    outside.write_text("incoming")
    outside.replace(docs / "a.md")


def move_a_folder_in(docs: Path) -> None:
    outside = docs.parent / "incoming"
    (outside / "x").mkdir(parents=True)
    (outside / "x" / "y.md").write_text("y")
    outside.rename(docs / "incoming")


def new_folder_with_files(docs: Path) -> None:
    (docs / "new" / "x" / "y").mkdir(parents=True)
    for folder in ("new", "new/x", "new/x/y"):
        (docs / folder / "n.md").write_text("n")


def copy_a_tree(docs: Path) -> None:
    shutil.copytree(docs / "sub", docs / "copy")


CHANGES: list[Callable[[Path], object]] = [
    lambda docs: (docs / "new.md").write_text("new"),
    lambda docs: (docs / "sub" / "deep" / "c.md").write_text("changed"),
    lambda docs: (docs / "sub" / "b.md").unlink(),
    lambda docs: (docs / "a.md").rename(docs / "sub" / "a.md"),
    lambda docs: (docs / "sub").rename(docs / "renamed"),
    lambda docs: (docs / "sub").rename(docs.parent / "moved out"),
    lambda docs: (docs / "a.md").rename(docs.parent / "moved out.md"),
    lambda docs: shutil.rmtree(docs / "sub"),
    lambda docs: (docs / "loop").symlink_to(docs),
    save_through_a_new_file,
    save_through_a_backup,
    move_a_file_in,
    move_a_folder_in,
    new_folder_with_files,
    copy_a_tree,
]


@pytest.mark.parametrize("is_remote", [False, True], ids=["events", "polled"])
@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_the_right_files_are_known(
    docs: Path, follower: Follower, change: Callable[[Path], object], is_remote: bool
) -> None:
    follower.look(docs)
    watcher = FolderWatcher(
        follower.on_dirty, follower.on_polling, RULES, FAST, is_remote=lambda _: is_remote
    )
    try:
        watcher.watch(docs)
        change(docs)
        (docs / "z.md").write_text("the end")
        follower.wait_until_right(docs)
        if is_remote:
            follower.wait_until(lambda: follower.polled == [(docs, REMOTE_REASON)])
    finally:
        watcher.close()


def test_a_changed_file_is_the_only_place_looked_at(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    follower.look(docs)
    watcher.watch(docs)
    (docs / "sub" / "b.md").write_text("changed")
    follower.wait_until_right(docs)
    assert set(follower.places) == {docs / "sub" / "b.md"}


def test_a_moved_folder_is_moved_files_and_nothing_new(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    follower.look(docs)
    follower.new.clear()
    watcher.watch(docs)
    (docs / "sub").rename(docs / "renamed")
    follower.wait_until_right(docs)
    assert len(follower.moved) == 2
    assert not follower.new


def test_a_folder_moved_twice_is_still_followed(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    watcher.watch(docs)
    for name in ("once", "twice"):
        next(path for path in docs.iterdir() if path.is_dir()).rename(docs / name)
        follower.wait_until(lambda name=name: docs / name in follower.places)
    (docs / "twice" / "deep" / "c.md").write_text("changed")
    follower.wait_until(lambda: docs / "twice" / "deep" / "c.md" in follower.places)


def test_reading_and_hidden_files_make_no_noise(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    watcher.watch(docs)
    (docs / "a.md").read_text()
    (docs / ".git").mkdir()
    for name in (".git/index.md", "~$a.md", "a.md.swp"):
        (docs / name).write_text("x")
    (docs / "z.md").write_text("the end")
    follower.wait_until(lambda: docs / "z.md" in follower.places)
    assert set(follower.places) == {docs / "z.md"}


def test_a_burst_of_two_thousand_files(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    follower.look(docs)
    watcher.watch(docs)
    for number in range(2000):
        (docs / f"folder {number % 20}").mkdir(exist_ok=True)
        (docs / f"folder {number % 20}" / f"{number}.md").write_text("x")
    follower.wait_until_right(docs)
    assert len(follower.known[docs]) == 2003


def test_a_storm_is_handed_over_before_it_ends(docs: Path, follower: Follower) -> None:
    times = WatchTimes(quiet_s=60.0, storm_s=0.2)
    watcher = FolderWatcher(follower.on_dirty, follower.on_polling, RULES, times)
    try:
        watcher.watch(docs)
        (docs / "a.md").write_text("changed")
        follower.wait_until(lambda: docs / "a.md" in follower.places)
    finally:
        watcher.close()


@pytest.mark.parametrize("is_remote", [False, True], ids=["events", "polled"])
def test_a_root_that_goes_and_comes_back_loses_nothing(
    docs: Path, follower: Follower, is_remote: bool
) -> None:
    follower.look(docs)
    watcher = FolderWatcher(
        follower.on_dirty, follower.on_polling, RULES, FAST, is_remote=lambda _: is_remote
    )
    try:
        watcher.watch(docs)
        for _ in range(2):
            docs.rename(docs.with_name("pulled"))
            follower.wait_until(lambda: docs in follower.offline)
            docs.with_name("pulled").rename(docs)
            follower.wait_until(lambda: docs not in follower.offline)
            assert len(follower.known[docs]) == 3
        (docs / "z.md").write_text("the end")
        follower.wait_until_right(docs)
    finally:
        watcher.close()
    assert len(follower.new) == 4


def test_polling_is_told_at_once_and_follows_no_links(docs: Path, follower: Follower) -> None:
    outside = docs.parent / "outside"
    outside.mkdir()
    (docs / "link").symlink_to(outside)
    (docs / "loop").symlink_to(docs)
    times = WatchTimes(quiet_s=0.05, probe_s=600.0, poll_s=0.1)
    watcher = FolderWatcher(
        follower.on_dirty, follower.on_polling, RULES, times, is_remote=lambda _: True
    )
    try:
        watcher.watch(docs)
        follower.wait_until(lambda: follower.polled == [(docs, REMOTE_REASON)])
        (outside / "x.md").write_text("x")
        (docs / "z.md").write_text("the end")
        follower.wait_until(lambda: docs / "z.md" in follower.places)
    finally:
        watcher.close()
    assert follower.places == [docs / "z.md"]


def test_another_folder_in_the_place_of_the_root_is_followed(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    follower.look(docs)
    watcher.watch(docs)
    docs.rename(docs.with_name("old"))
    docs.mkdir()
    (docs / "other.md").write_text("other")
    follower.wait_until_right(docs)
    (docs / "z.md").write_text("the end")
    follower.wait_until_right(docs)


def test_a_root_that_is_deleted_is_offline(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    watcher.watch(docs)
    shutil.rmtree(docs)
    follower.wait_until(lambda: docs in follower.offline)


def test_a_root_that_comes_later_is_waited_for(
    tmp_path: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    watcher.watch(tmp_path / "later")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.md").write_text("a")
    follower.wait_until_right(tmp_path / "later")


def test_a_root_that_is_a_link_is_followed_under_its_own_name(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    link = docs.parent / "link"
    link.symlink_to(docs)
    watcher.watch(link)
    (docs / "sub" / "b.md").write_text("changed")
    follower.wait_until(lambda: follower.places == [link / "sub" / "b.md"])


def test_a_single_file_is_watched_alone(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    follower.look(docs / "a.md")
    watcher.watch(docs / "a.md")
    (docs / "sibling.md").write_text("x")
    save_through_a_new_file(docs)
    follower.wait_until_right(docs / "a.md")
    save_through_a_backup(docs)
    follower.wait_until_right(docs / "a.md")
    (docs / "a.md").rename(docs / "a.md2")
    (docs / "a.md2").rename(docs / "a.md")
    follower.wait_until_right(docs / "a.md")
    assert set(follower.places) == {docs / "a.md"}
    (docs / "a.md").unlink()
    follower.wait_until(lambda: docs / "a.md" in follower.offline)
    (docs / "a.md").write_text("again")
    follower.wait_until(lambda: docs / "a.md" not in follower.offline)


def test_after_sleep_and_now_and_then_everything_is_looked_through(
    docs: Path, follower: Follower
) -> None:
    clock = {"ahead_s": 0.0}
    watcher = FolderWatcher(
        follower.on_dirty,
        follower.on_polling,
        RULES,
        FAST,
        wall_clock=lambda: time.time() + clock["ahead_s"],
    )
    try:
        watcher.watch(docs)
        clock["ahead_s"] = 3600.0
        follower.wait_until(lambda: follower.places == [docs])
    finally:
        watcher.close()


def test_lost_events_are_made_up_for_by_a_rescan_now_and_then(
    docs: Path, follower: Follower
) -> None:
    times = WatchTimes(quiet_s=0.01, probe_s=0.05, rescan_s=0.1)
    watcher = FolderWatcher(follower.on_dirty, follower.on_polling, RULES, times)
    try:
        watcher.watch(docs)
        follower.wait_until(lambda: follower.places[:2] == [docs, docs])
    finally:
        watcher.close()


def test_nothing_is_told_of_a_root_that_is_no_longer_watched(
    docs: Path, tmp_path: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    watcher.watch(docs)
    watcher.watch(other)
    watcher.unwatch(docs)
    watcher.unwatch(tmp_path / "never watched")
    (docs / "a.md").write_text("changed")
    (other / "z.md").write_text("the end")
    follower.wait_until(lambda: other / "z.md" in follower.places)
    assert follower.places == [other / "z.md"]


def test_closing_in_the_middle_of_a_storm_leaves_no_thread(
    docs: Path, follower: Follower, caplog: pytest.LogCaptureFixture
) -> None:
    before = set(threading.enumerate())
    watcher = FolderWatcher(follower.on_dirty, follower.on_polling, RULES, FAST)
    watcher.watch(docs)
    for number in range(300):
        (docs / f"{number}.md").write_text("x")
    started_s = time.monotonic()
    watcher.close()
    assert time.monotonic() - started_s < 5
    assert set(threading.enumerate()) <= before
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
