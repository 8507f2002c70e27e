"""Changes that may be temporary: stored only once a second scan, or enough time, confirms them."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.ingest.scanning.disk_walk import FoundFile
from desktop_rag.ingest.scanning.reconcile import Changes, KnownFile, Match
from desktop_rag.ingest.scanning.scanner import ChangeConfirmation, ConfirmedChanges, RecheckTimes

TIMES = RecheckTimes(missing_s=5, settle_s=2, keep_gone_s=100, many_share=0.2, many_files=3)
NOW = 10_000.0


class Confirmed:
    """A confirmation with both clocks at hand, and the second scans it asks for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.rechecks: list[tuple[str, Path, float]] = []
        self.of = ChangeConfirmation(
            lambda source_id, place, in_s: self.rechecks.append((source_id, place, in_s)),
            TIMES,
            clock=lambda: self.now,
            wall_clock=lambda: NOW + self.now,
        )

    def scan(
        self,
        vanished: list[KnownFile],
        known: list[KnownFile] | None = None,
        parts: frozenset[Path] | None = None,
        source_id: str = "s",
    ) -> ConfirmedChanges:
        changes = Changes(vanished=tuple(vanished))
        return self.of.confirm(source_id, changes, vanished if known is None else known, parts)


def files(count: int, folder: str = "/s") -> list[KnownFile]:
    return [KnownFile(f"{folder}/{n}", f"{folder}/{n}.md", 5, 1, n) for n in range(count)]


def test_a_file_is_gone_once_it_was_missing_for_long_enough() -> None:
    confirmed, [file] = Confirmed(), files(1)
    assert confirmed.scan([file]).changes.vanished == ()
    assert confirmed.rechecks == [("s", Path("/s/0.md"), 5)]
    confirmed.now = 3
    assert confirmed.scan([file]).changes.vanished == ()
    assert confirmed.rechecks[1:] == [("s", Path("/s/0.md"), 2)]
    confirmed.now = 4.5
    assert confirmed.scan([file]).changes.vanished == ()
    del confirmed.rechecks[2:]
    confirmed.now = 5
    assert confirmed.scan([file]).changes == Changes(vanished=(file,))
    # It is forgotten then, and begins anew should it vanish once more.
    confirmed.now = 50
    assert confirmed.scan([file]).changes.vanished == ()
    assert confirmed.rechecks[2:] == [("s", Path("/s/0.md"), 5)]


def test_a_file_that_was_found_again_begins_anew() -> None:
    confirmed, [file] = Confirmed(), files(1)
    confirmed.scan([file])
    confirmed.now = 4
    confirmed.scan([], [file])
    confirmed.now = 6
    assert confirmed.scan([file]).changes.vanished == ()


def test_only_what_a_scan_looked_at_was_found_again() -> None:
    confirmed, [file] = Confirmed(), files(1, "/s/a")
    confirmed.scan([file])
    confirmed.now = 6
    confirmed.scan([], [file], frozenset({Path("/s/b")}))
    assert confirmed.scan([file]).changes.vanished == (file,)
    confirmed.scan([file])
    confirmed.scan([], [file], frozenset({Path("/s/a")}))
    confirmed.now = 12
    assert confirmed.scan([file]).changes.vanished == ()


def test_sources_are_apart_and_one_that_was_removed_is_forgotten() -> None:
    confirmed, [file] = Confirmed(), files(1)
    confirmed.scan([file])
    confirmed.now = 6
    assert confirmed.scan([file], source_id="other").changes.vanished == ()
    confirmed.of.forget("s")
    confirmed.of.forget("unknown")
    assert confirmed.scan([file]).changes.vanished == ()


@pytest.mark.parametrize(
    ("missing", "of_all", "are_kept"),
    [
        (3, 3, False),  # no more than the number that is many
        (4, 4, True),
        (4, 19, True),  # more than the share that is many
        (4, 20, False),  # just that share
        (4, 50, False),
        (10, 50, False),
        (11, 50, True),
    ],
)
def test_many_at_once_are_kept(missing: int, of_all: int, are_kept: bool) -> None:
    """The larger counts of the number of files and the share of the source."""
    confirmed, known = Confirmed(), files(of_all)
    gone = known[:missing]
    confirmed.scan(gone, known)
    confirmed.now = 6
    found = confirmed.scan(gone, known)
    kept, removed = (tuple(gone), ()) if are_kept else ((), tuple(gone))
    assert (found.gone, found.changes.vanished) == (kept, removed)


def test_those_that_wait_and_those_kept_before_count_too() -> None:
    confirmed, known = Confirmed(), files(20)
    confirmed.scan(known[:2], known)
    confirmed.now = 6
    # Two more are missing only now: together they are no more than a fifth.
    assert confirmed.scan(known[:4], known).changes.vanished == tuple(known[:2])
    confirmed = Confirmed()
    confirmed.scan(known[:2], known)
    confirmed.now = 6
    assert confirmed.scan(known[:5], known).changes.vanished == ()
    confirmed = Confirmed()
    kept = [replace_gone(file, NOW) for file in known[2:5]]
    before = [*known[:2], *kept, *known[5:]]
    confirmed.scan(known[:2], before)
    confirmed.now = 6
    assert confirmed.scan(known[:2], before).gone == tuple(known[:2])


def test_a_file_that_was_kept_counts_once() -> None:
    confirmed, known = Confirmed(), files(20)
    before = [*known[:2], *(replace_gone(file, NOW) for file in known[2:4]), *known[4:]]
    confirmed.scan(known[:2], before)
    confirmed.now = 6
    assert confirmed.scan(known[:2], before).changes.vanished == tuple(known[:2])


def replace_gone(file: KnownFile, at: float) -> KnownFile:
    return file._replace(gone_at=at)


def test_what_was_kept_is_removed_after_its_time_whatever_else_vanishes() -> None:
    confirmed, known = Confirmed(), files(10)
    long_gone = replace_gone(known[0], NOW - 100)
    lately = replace_gone(known[1], NOW - 99)
    assert confirmed.scan([long_gone, lately], known).changes.vanished == (long_gone,)
    assert not confirmed.rechecks
    confirmed.scan(known[2:9], known)
    confirmed.now = 6
    found = confirmed.scan([long_gone, *known[2:9]], known)
    assert (found.changes.vanished, found.gone) == ((long_gone,), tuple(known[2:9]))
    assert confirmed.scan([long_gone, known[9]], []).changes.vanished == (long_gone,)


@pytest.mark.parametrize(
    ("age_s", "in_s"), [(0.0, 2.0), (1.5, 0.5), (2.0, None), (3.0, None), (-1.0, None)]
)
def test_a_file_is_read_once_it_has_not_changed_for_a_while(
    age_s: float, in_s: float | None
) -> None:
    """A time in the future says nothing about now."""
    confirmed, [old] = Confirmed(), files(1)
    file = FoundFile("/s/new.md", 5, int((NOW - age_s) * 1e9), 1)
    changes = Changes(new=(file,), changed=(Match(old, file),), unchanged=3)
    found = confirmed.of.confirm("s", changes, [old]).changes
    if in_s is None:
        assert (found, confirmed.rechecks) == (changes, [])
    else:
        assert found == Changes(unchanged=3)
        assert confirmed.rechecks == 2 * [("s", Path("/s/new.md"), in_s)]


def test_a_file_that_is_skipped_need_not_settle() -> None:
    confirmed = Confirmed()
    file = FoundFile("/s/new.zip", 5, int(NOW * 1e9), 1, "Too large")
    changes = replace(Changes(), new=(file,))
    assert confirmed.of.confirm("s", changes, []).changes.new == (file,)
