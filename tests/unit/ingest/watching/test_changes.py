"""Changed paths become places to scan once they settle."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.ingest.watching.watcher import PendingChanges

ROOT = Path("docs")
A, B = ROOT / "a.md", ROOT / "b.md"


def pending_changes(**limits: int) -> PendingChanges:
    return PendingChanges(ROOT, quiet_s=1, storm_s=3, **limits)


def test_a_path_is_scanned_once_however_often_it_changed() -> None:
    pending = pending_changes()
    for path in (A, B, A, A):
        pending.add(path, 100.0)
    assert pending.take() == {A, B}


def test_a_folder_covers_the_paths_below_it() -> None:
    folder = ROOT / "sub"
    pending = pending_changes()
    pending.add(folder / "x" / "y.md", 100.0)
    pending.add(folder, 100.0, is_folder=True)
    pending.add(folder / "z.md", 100.0)
    pending.add(ROOT / "sub-2.md", 100.0)
    assert pending.take() == {folder, ROOT / "sub-2.md"}


def test_a_path_that_was_a_folder_once_covers_what_is_below_it() -> None:
    pending = pending_changes()
    pending.add(A, 100.0, is_folder=True)
    pending.add(A, 100.0)
    pending.add(A / "x.md", 100.0)
    assert pending.take() == {A}


def test_a_folder_covers_nothing_after_its_scan() -> None:
    pending = pending_changes()
    pending.add(ROOT / "sub", 100.0, is_folder=True)
    pending.take()
    pending.add(ROOT / "sub" / "x.md", 200.0)
    assert pending.take() == {ROOT / "sub" / "x.md"}


NAMES = st.lists(st.sampled_from("ab"), min_size=1, max_size=3)
EVENTS = st.lists(st.tuples(NAMES.map(lambda names: ROOT.joinpath(*names)), st.booleans()))


@given(EVENTS)
def test_every_changed_path_is_covered_by_a_place(events: list[tuple[Path, bool]]) -> None:
    pending = pending_changes()
    for path, is_folder in events:
        pending.add(path, 100.0, is_folder=is_folder)
    taken = pending.take()
    assert all(path in taken or not taken.isdisjoint(path.parents) for path, _ in events)
    assert taken <= {path for path, _ in events}


# --- waiting for quiet ----------------------------------------------------------------------------


def test_nothing_is_due_while_nothing_is_pending() -> None:
    pending = pending_changes()
    assert pending.due_at_s is None
    assert pending.take() == frozenset()


def test_each_change_postpones_the_scan_up_to_the_limit_of_a_storm() -> None:
    pending = pending_changes()
    due: list[float | None] = []
    for now_s in (100.0, 100.5, 101.4, 102.3):
        pending.add(A, now_s)
        due.append(pending.due_at_s)
    assert due == [101.0, 101.5, 102.4, 103.0]


def test_after_take_nothing_is_pending() -> None:
    pending = pending_changes()
    pending.add(A, 100.0)
    assert pending.take() == {A}
    assert pending.due_at_s is None
    pending.add(B, 200.0)
    assert pending.due_at_s == 201.0
    assert pending.take() == {B}


def test_marking_the_whole_root_does_not_postpone_pending_changes() -> None:
    pending = pending_changes()
    pending.add(A, 100.0)
    pending.add_root(100.9)
    assert pending.due_at_s == 101.0
    assert pending.take() == {ROOT}


def test_marking_the_whole_root_alone_waits_for_quiet_too() -> None:
    pending = pending_changes()
    pending.add_root(100.0)
    assert pending.due_at_s == 101.0
    assert pending.take() == {ROOT}
    assert pending.take() == frozenset()


def test_too_many_paths_become_the_whole_root() -> None:
    pending = pending_changes(max_paths=10)
    for number in range(10):
        pending.add(ROOT / f"{number}.md", 100.0)
    assert len(pending.take()) == 10
    for number in range(11):
        pending.add(ROOT / f"{number}.md", 100.0)
    pending.add(A, 100.0)
    assert pending.take() == {ROOT}


def test_a_change_of_the_root_itself_is_the_whole_root() -> None:
    pending = pending_changes()
    pending.add(A, 100.0)
    pending.add(ROOT, 100.0, is_folder=True)
    assert pending.take() == {ROOT}
