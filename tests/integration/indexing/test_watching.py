"""Real folders, real events: the final state of a library that follows the watcher."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag.core.domain import SourceRules
from desktop_rag.ingest.watching.watcher import REMOTE_REASON, FolderWatcher, WatchTimes
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
    with watching(follower, is_remote=lambda _: is_remote) as watcher:
        watcher.watch(docs)
        change(docs)
        (docs / "z.md").write_text("the end")
        follower.wait_until_right(docs)
        if is_remote:
            follower.wait_until(lambda: follower.polled == [(docs, REMOTE_REASON)])


def test_a_changed_file_is_the_only_place_looked_at(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    follower.look(docs)
    watcher.watch(docs)
    (docs / "sub" / "b.md").write_text("changed")
    follower.wait_until_right(docs)
    assert set(follower.places) == {docs / "sub" / "b.md"}


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


def test_hidden_files_are_followed_where_they_are_read(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    watcher.watch(docs)
    watcher.watch(docs, RULES.of(SourceRules(includes_hidden=True)))
    (docs / ".hidden.md").write_text("x")
    follower.wait_until(lambda: follower.places == [docs / ".hidden.md"])


def test_a_gitignore_file_that_changed_is_a_look_at_its_folder(
    docs: Path, follower: Follower, watcher: FolderWatcher
) -> None:
    watcher.watch(docs, RULES.of(SourceRules(uses_gitignore=True)))
    (docs / "sub" / ".gitignore").write_text("b.md")
    follower.wait_until(lambda: follower.places == [docs / "sub"])


def test_a_storm_is_handed_over_before_it_ends(docs: Path, follower: Follower) -> None:
    times = WatchTimes(quiet_s=60.0, storm_s=0.2)
    with watching(follower, times) as watcher:
        watcher.watch(docs)
        (docs / "a.md").write_text("changed")
        follower.wait_until(lambda: docs / "a.md" in follower.places)


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
    patient = WatchTimes(quiet_s=3600, storm_s=3600, probe_s=3600)
    watcher = FolderWatcher(follower.on_dirty, follower.on_polling, RULES, patient)
    watcher.watch(docs)
    for number in range(300):
        (docs / f"{number}.md").write_text("x")
    watcher.close()
    assert set(threading.enumerate()) <= before
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
