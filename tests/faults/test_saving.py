"""Series W: files saved, copied or deleted, with a manual clock instead of waiting."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.ingest.scanning.reconcile import KnownFile, rescan
from desktop_rag.ingest.scanning.scanner import ChangeConfirmation, RecheckSchedule, RecheckTimes
from tests.follower import RULES

SOURCE = "the source"
START_S = 1_700_000_000.0


class Desk:
    """A real folder scanned as by the scanner, with a manual clock."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now_s = START_S
        self.known: dict[str, KnownFile] = {}
        self.read: list[tuple[str, int]] = []
        self.removed: list[str] = []
        self.looks = RecheckSchedule(lambda _, places: self.look(places), clock=lambda: self.now_s)
        self.confirmation = ChangeConfirmation(
            self.looks.add, RecheckTimes(), clock=lambda: self.now_s, wall_clock=lambda: self.now_s
        )

    def write(self, name: str, content: str) -> None:
        (self.root / name).write_text(content)
        os.utime(self.root / name, (self.now_s, self.now_s))

    def look(self, places: frozenset[Path] | None = None) -> None:
        store = list(self.known.values())
        changes = rescan(self.root, RULES, store, threading.Event(), places)
        confirmed = self.confirmation.confirm(SOURCE, changes, store, places)
        changes = confirmed.changes
        for file in (*changes.vanished, *changes.left_out):
            del self.known[file.location]
            self.removed.append(Path(file.location).name)
        for match in (*changes.moved, *changes.changed, *changes.returned):
            del self.known[match.known.location]
        kept = [m.found for m in (*changes.moved, *changes.returned)]
        read = [*changes.new, *(m.found for m in changes.changed)]
        for file in (*kept, *read):
            self.known[file.location] = KnownFile(file.location, *file[:5])
        for file in confirmed.gone:
            self.known[file.location] = file._replace(gone_at=self.now_s)
        self.read += [(file.path.name, file.size_bytes) for file in read]

    def look_at(self, name: str) -> None:
        self.look(frozenset({self.root / name}))

    def wait(self, seconds: float) -> None:
        """Advance the clock, half a second at a time."""
        for _ in range(int(seconds / 0.5)):
            self.now_s += 0.5
            self.looks.check()

    def states(self) -> set[bool]:
        """True for each file that is not gone."""
        return {not file.gone_at for file in self.known.values()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    root = tmp_path / "docs"
    root.mkdir()
    desk = Desk(root)
    desk.write("note.md", "before")
    for number in range(20):
        desk.write(f"{number}.md", f"text {number}")
    desk.now_s += 60.0
    desk.look()
    desk.read.clear()
    return desk


def through_a_new_file(desk: Desk) -> None:
    desk.write("note.md.new", "after it")
    (desk.root / "note.md.new").replace(desk.root / "note.md")


def through_a_backup(desk: Desk) -> None:
    (desk.root / "note.md").rename(desk.root / "note.md~")
    desk.look_at("note.md")
    desk.wait(1.0)
    desk.write("note.md", "after it")
    desk.look_at("note.md")
    (desk.root / "note.md~").unlink()


def emptied_and_written(desk: Desk) -> None:
    desk.write("note.md", "")
    desk.look_at("note.md")
    desk.wait(0.5)
    desk.write("note.md", "after it")


def deleted_and_created(desk: Desk) -> None:
    (desk.root / "note.md").unlink()
    desk.look_at("note.md")
    desk.wait(4.0)
    desk.write("note.md", "after it")


SAVES = [through_a_new_file, through_a_backup, emptied_and_written, deleted_and_created]


@pytest.mark.parametrize("save", SAVES)
def test_w01_a_save_is_read_once_and_never_loses_the_document(
    desk: Desk, save: Callable[[Desk], None]
) -> None:
    save(desk)
    desk.look_at("note.md")
    desk.wait(30.0)
    assert desk.read == [("note.md", len("after it"))]
    assert desk.removed == []
    assert desk.looks.is_empty


def test_w01_a_file_that_was_missed_and_is_back_is_missed_anew(desk: Desk) -> None:
    (desk.root / "note.md").rename(desk.root / "note.md~")
    desk.look_at("note.md")
    (desk.root / "note.md~").rename(desk.root / "note.md")
    desk.wait(30.0)
    (desk.root / "note.md").unlink()
    desk.look_at("note.md")
    assert desk.removed == []
    desk.wait(5.0)
    assert desk.removed == ["note.md"]


def test_w02_a_file_that_grows_for_half_a_minute_is_read_once_and_whole(desk: Desk) -> None:
    for second in range(1, 31):
        desk.write("copy.md", "x" * second)
        desk.look_at("copy.md")
        desk.wait(0.5)
        desk.write("copy.md", "x" * second + "y")
        desk.wait(0.5)
    assert desk.read == []
    desk.wait(10.0)
    assert desk.read == [("copy.md", 31)]


def test_w02_a_known_file_that_grows_is_read_once_and_whole(desk: Desk) -> None:
    for second in range(10):
        desk.write("note.md", "x" * (second + 1))
        desk.look_at("note.md")
        desk.wait(0.5)
    desk.wait(10.0)
    assert desk.read == [("note.md", 10)]


def test_w02_a_file_from_the_future_is_not_waited_for(desk: Desk) -> None:
    desk.write("later.md", "text")
    os.utime(desk.root / "later.md", (START_S * 2, START_S * 2))
    desk.look_at("later.md")
    assert desk.read == [("later.md", 4)]


def test_w06_a_deleted_file_is_removed_after_the_delay(desk: Desk) -> None:
    (desk.root / "note.md").unlink()
    desk.look()
    # It is not searched from the first look on.
    assert [file.location for file in desk.known.values() if file.gone_at] == [
        str(desk.root / "note.md")
    ]
    desk.wait(4.5)
    assert desk.removed == []
    desk.wait(0.5)
    assert desk.removed == ["note.md"]


def test_w06_many_files_that_vanish_at_once_are_kept_for_a_day(desk: Desk) -> None:
    for number in range(20):
        (desk.root / f"{number}.md").unlink()
    desk.look()
    desk.wait(5.0)
    assert desk.removed == []
    assert sum(1 for file in desk.known.values() if file.gone_at) == 20
    desk.now_s += 23 * 3600.0
    desk.look()
    assert desk.removed == []
    desk.now_s += 3600.0
    desk.look()
    assert len(desk.removed) == 20
    assert desk.states() == {True}


def test_w06_many_files_told_of_in_parts_are_kept_too(desk: Desk) -> None:
    for number in range(20):
        (desk.root / f"{number}.md").unlink()
        desk.look_at(f"{number}.md")
        desk.now_s += 0.1
    desk.wait(10.0)
    assert desk.removed == []
    assert sum(1 for file in desk.known.values() if file.gone_at) == 20


def test_w06_files_that_come_back_are_not_read_again(desk: Desk) -> None:
    (desk.root / "kept").mkdir()
    for number in range(20):
        (desk.root / f"{number}.md").rename(desk.root.parent / f"{number}.md")
    desk.look()
    desk.wait(5.0)
    assert desk.states() == {True, False}
    for number in range(20):
        folder = desk.root / "kept" if number % 2 else desk.root
        (desk.root.parent / f"{number}.md").rename(folder / f"{number}.md")
    desk.look()
    assert desk.states() == {True}
    assert desk.read == []


def test_w06_files_the_person_leaves_out_are_removed_at_once(desk: Desk) -> None:
    folder = desk.root / "node_modules"
    folder.mkdir()
    desk.known[str(folder / "a.md")] = KnownFile("", str(folder / "a.md"), 1, 1, 1)
    desk.look()
    assert desk.removed == ["a.md"]
