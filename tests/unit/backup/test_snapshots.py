"""R-20: a snapshot for each day with a change, seven kept; a library that is gone comes back."""

import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.features.backup.manifest import Snapshot
from desktop_rag.features.backup.snapshots import KEPT, Snapshots, snapshots_in
from desktop_rag.store.opening import open_engine
from tests.unit.backup.conftest import OpenHome, OpenPlace
from tests.unit.backup.filled_library import Place, shown, texts

pytestmark = pytest.mark.slow


DAY_S = 86_400.0
NOON = time.mktime((2026, 11, 23, 12, 0, 0, 0, 0, -1))


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def snapshots(full: Place, clock: Clock) -> Iterator[Snapshots]:
    made = Snapshots(full.home, full.backups, full.engine.precious, clock=clock)
    yield made
    made.close()


def change(place: Place) -> None:
    place.engine.conversations.add("Another", "")


def days(snapshots: Snapshots) -> list[str]:
    return [snapshot.day for snapshot in snapshots.all()]


def test_seven_are_kept_and_the_oldest_goes(
    full: Place, snapshots: Snapshots, clock: Clock
) -> None:
    for _ in range(KEPT + 2):
        assert snapshots.make()
        clock.now += DAY_S
        change(full)
    assert days(snapshots) == [f"2026-12-{n:02d}" for n in (1,)] + [
        f"2026-11-{n}" for n in range(30, 24, -1)
    ]


def test_one_a_day_and_none_without_a_change(
    full: Place, snapshots: Snapshots, clock: Clock
) -> None:
    assert snapshots.make()
    change(full)
    assert not snapshots.make()
    clock.now += DAY_S
    assert snapshots.make()
    clock.now += DAY_S
    assert not snapshots.make()
    (full.home.prompts / "longer.md").write_text("Longer.\n", encoding="utf-8")
    assert snapshots.make()


def test_a_jump_of_the_clock_removes_nothing(
    full: Place, snapshots: Snapshots, clock: Clock
) -> None:
    for _ in range(KEPT):
        snapshots.make()
        clock.now += DAY_S
        change(full)
    good = set(days(snapshots))
    for jump in (400 * DAY_S, -800 * DAY_S, 4_000 * DAY_S, -3_600 * DAY_S):
        clock.now += jump
        change(full)
        assert snapshots.make()
        assert good <= set(days(snapshots))
    newest = snapshots.all()[0]
    assert newest.number == max(snapshot.number for snapshot in snapshots.all())


def test_nothing_is_made_of_nothing(empty: Place, clock: Clock) -> None:
    assert Snapshots(empty.home, empty.backups, empty.engine.precious, clock=clock).make() is None
    assert not empty.home.snapshots.exists()


def test_only_this_user_can_enter(full: Place, snapshots: Snapshots) -> None:
    made = snapshots.make()
    assert made is not None
    assert full.home.snapshots.stat().st_mode & 0o777 == 0o700
    assert made.file.stat().st_mode & 0o777 == 0o600


class Waiting:
    """Waits for the thread of snapshots, which tells nobody when it is done."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    def for_days(self, expected: list[str]) -> None:
        waited = threading.Event()
        while days(self._snapshots) != expected:
            waited.wait(0.01)


def test_the_first_change_of_a_day_makes_one(
    full: Place, snapshots: Snapshots, clock: Clock
) -> None:
    snapshots.start(lambda _: None)
    waiting = Waiting(snapshots)
    waiting.for_days(["2026-11-23"])
    clock.now += DAY_S
    change(full)
    waiting.for_days(["2026-11-24", "2026-11-23"])


def test_a_first_change_on_a_day_that_began_without_one(empty: Place, clock: Clock) -> None:
    snapshots = Snapshots(empty.home, empty.backups, empty.engine.precious, clock=clock)
    with closing(snapshots):
        snapshots.start(lambda _: None)
        change(empty)
        Waiting(snapshots).for_days(["2026-11-23"])


def test_a_disk_that_refuses_is_told_once(full: Place, clock: Clock) -> None:
    full.home.snapshots.write_text("in the way", encoding="utf-8")
    told: list[Notice] = []
    first = threading.Event()

    def tell(notice: Notice) -> None:
        told.append(notice)
        first.set()

    snapshots = Snapshots(full.home, full.backups, full.engine.precious, clock=clock)
    with closing(snapshots):
        snapshots.start(tell)
        assert first.wait(30)
        change(full)
        clock.now += DAY_S
        change(full)
    assert [notice.title for notice in told] == ["The daily snapshot could not be made."]


# --- the library is gone -------------------------------------------------------------------------


def lose(place: Place) -> None:
    """The database, its journal and the person's files are gone; snapshots are left."""
    place.engine.close()
    for left in place.home.root.iterdir():
        if left != place.home.snapshots:
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def restored(opened: Place) -> list[Notice]:
    return Snapshots(opened.home, opened.backups, opened.engine.precious).restore_lost()


def two_days(full: Place, snapshots: Snapshots, clock: Clock) -> list[Snapshot]:
    """Snapshots of two days, the newer first, with a chat only in the newer."""
    snapshots.make()
    clock.now += DAY_S
    change(full)
    snapshots.make()
    return snapshots.all()


def test_a_library_that_is_gone_comes_back(
    full: Place, snapshots: Snapshots, clock: Clock, open_home: OpenHome
) -> None:
    two_days(full, snapshots, clock)
    before, files = shown(full), texts(full.home)
    lose(full)
    again = open_home(full.home)
    [notice] = restored(again)
    assert (shown(again), texts(again.home)) == (before, files)
    assert again.home.settings.exists()
    assert "24 November 2026" in notice.title
    assert "4 chats" in notice.hint
    assert restored(again) == []


def test_a_damaged_snapshot_is_passed_over(
    full: Place, snapshots: Snapshots, clock: Clock, open_home: OpenHome
) -> None:
    newest, _ = two_days(full, snapshots, clock)
    content = bytearray(newest.file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    newest.file.write_bytes(content)
    lose(full)
    again = open_home(full.home)
    done, passed = restored(again)
    assert "23 November 2026" in done.title
    assert "24 November 2026 was passed over" in passed.title
    assert len(again.engine.conversations.all()) == 3


def test_a_library_that_was_emptied_stays_empty(
    full: Place, snapshots: Snapshots, open_home: OpenHome
) -> None:
    snapshots.make()
    for chat in full.engine.conversations.all():
        full.engine.conversations.set_deleted(chat.conversation_id, True)
    full.engine.conversations.purge_deleted()
    full.engine.close()
    again = open_home(full.home)
    assert restored(again) == []
    assert again.engine.conversations.all() == []


def test_the_journal_comes_before_a_snapshot(
    full: Place, snapshots: Snapshots, open_home: OpenHome
) -> None:
    snapshots.make()
    change(full)
    before = shown(full)
    full.engine.close()
    (full.home.root / "library.duckdb").unlink()
    again = open_home(full.home)
    assert restored(again) == []
    assert shown(again)["chats"] == before["chats"]


_WRITE = """
import sys
from pathlib import Path
from desktop_rag.features.backup.backups import Backups
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.opening import open_engine
home, file = Home(Path(sys.argv[1])), Path(sys.argv[2])
engine = open_engine(home, Settings())
backups = Backups(home, engine.precious, engine.sources.collections)
print("ready", flush=True)
while True:
    backups.export(file)
    print("done", flush=True)
"""


def test_killed_while_writing_leaves_the_former_file(
    full: Place, open_place: OpenPlace, tmp_path: Path
) -> None:
    file = tmp_path / "kept"
    full.backups.export(file)
    full.engine.close()
    for round_ in range(5):
        command = [sys.executable, "-c", _WRITE, str(full.home.root), str(file)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        with child:
            for _ in range(1 + round_):
                child.stdout.readline()
            child.send_signal(signal.SIGKILL)
        again = open_place(f"other{round_}")
        assert again.backups.import_file(file).contents.counts["conversation"] == 3
    home = Home(full.home.root)
    with closing(open_engine(home, Settings())) as engine:
        assert len(engine.conversations.all()) == 3
    assert snapshots_in(home.snapshots) == []
