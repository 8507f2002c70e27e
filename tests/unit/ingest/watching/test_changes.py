"""Reduction of raw events, against tables and against a simulated folder."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.ingest.watching.changes import Change, ChangeKind, PendingChanges, places, reduce

CREATED, MODIFIED, DELETED = ChangeKind.CREATED, ChangeKind.MODIFIED, ChangeKind.DELETED
ROOT = Path("docs")
A, B = ROOT / "a.md", ROOT / "b.md"


def kinds(*events: tuple[Path, ChangeKind]) -> dict[Path, ChangeKind]:
    changes = reduce(Change(path, kind) for path, kind in events)
    return {path: change.kind for path, change in changes.items()}


@pytest.mark.parametrize(
    ("events", "left"),
    [
        ([], None),
        ([CREATED], CREATED),
        ([MODIFIED], MODIFIED),
        ([DELETED], DELETED),
        ([CREATED, MODIFIED], CREATED),
        ([CREATED, MODIFIED, MODIFIED], CREATED),
        ([CREATED, DELETED], None),
        ([CREATED, MODIFIED, DELETED], None),
        ([CREATED, DELETED, CREATED], CREATED),
        ([CREATED, DELETED, CREATED, DELETED], None),
        ([MODIFIED, DELETED], DELETED),
        ([MODIFIED, DELETED, CREATED], MODIFIED),
        ([DELETED, CREATED], MODIFIED),
        ([DELETED, CREATED, MODIFIED], MODIFIED),
        ([DELETED, CREATED, DELETED], DELETED),
        ([DELETED, MODIFIED], MODIFIED),
        # Events can double or be lost; the last word counts.
        ([CREATED, CREATED], CREATED),
        ([DELETED, DELETED], DELETED),
        ([MODIFIED, CREATED], MODIFIED),
    ],
)
def test_events_of_one_path(events: list[ChangeKind], left: ChangeKind | None) -> None:
    assert kinds(*((A, kind) for kind in events)) == ({A: left} if left else {})


@pytest.mark.parametrize(
    ("name", "events", "left"),
    [
        ("move", [(A, DELETED), (B, MODIFIED)], {A: DELETED, B: MODIFIED}),
        ("new, then moved", [(A, CREATED), (A, DELETED), (B, MODIFIED)], {B: MODIFIED}),
        (
            "saved through a backup",
            [(A, DELETED), (B, MODIFIED), (A, CREATED), (A, MODIFIED), (B, DELETED)],
            {A: MODIFIED, B: DELETED},
        ),
        (
            "moved there and back",
            [(A, DELETED), (B, MODIFIED), (B, DELETED), (A, MODIFIED)],
            {A: MODIFIED, B: DELETED},
        ),
    ],
)
def test_events_of_two_paths(
    name: str, events: list[tuple[Path, ChangeKind]], left: dict[Path, ChangeKind]
) -> None:
    assert kinds(*events) == left, name


def test_a_path_that_was_a_folder_at_any_time_counts_as_one() -> None:
    changes = reduce([Change(A, DELETED, is_folder=True), Change(A, CREATED)])
    assert changes == {A: Change(A, MODIFIED, is_folder=True)}


def test_a_folder_covers_what_is_below_it() -> None:
    folder = ROOT / "sub"
    events = [
        Change(folder / "x" / "y.md", DELETED),
        Change(folder, MODIFIED, is_folder=True),
        Change(ROOT / "sub-2.md", MODIFIED),
    ]
    assert places(reduce(events)) == {folder, ROOT / "sub-2.md"}


def test_a_folder_that_came_and_went_covers_nothing() -> None:
    folder = ROOT / "sub"
    events = [
        Change(folder, CREATED, is_folder=True),
        Change(folder / "x.md", MODIFIED),
        Change(folder, DELETED, is_folder=True),
    ]
    assert places(reduce(events)) == {folder / "x.md"}


# --- a simulated folder ---------------------------------------------------------------------------

PATHS = [ROOT / name for name in "abcd"]
STEPS = st.tuples(
    st.sampled_from(["create", "write", "delete", "move", "arrive"]),
    st.sampled_from(PATHS),
    st.sampled_from(PATHS),
)
WORLDS = st.sets(st.sampled_from(PATHS)).map(lambda paths: dict.fromkeys(paths, 0))


def play(
    world: dict[Path, int], steps: list[tuple[str, Path, Path]]
) -> tuple[dict[Path, int], list[Change]]:
    """The world (path → version) after the steps that were possible, and their events."""
    world = dict(world)
    events: list[Change] = []
    for version, (step, path, target) in enumerate(steps, start=1):
        match step:
            case "create" if path not in world:
                world[path] = version
                events.append(Change(path, CREATED))
            case "write" if path in world:
                world[path] = version
                events.append(Change(path, MODIFIED))
            case "delete" if path in world:
                del world[path]
                events.append(Change(path, DELETED))
            case "move" if path in world and path != target:
                world[target] = world.pop(path)
                events += [Change(path, DELETED), Change(target, MODIFIED)]
            case "arrive":
                world[path] = version
                events.append(Change(path, MODIFIED))
            case _:
                pass
    return world, events


@given(WORLDS, st.lists(STEPS, max_size=12))
def test_what_is_left_tells_the_final_state(
    before: dict[Path, int], steps: list[tuple[str, Path, Path]]
) -> None:
    after, events = play(before, steps)
    changes = reduce(events)
    for path in PATHS:
        change = changes.get(path)
        if change is None:
            assert after.get(path) == before.get(path)
        else:
            assert (path in after) == (change.kind is not DELETED)
            assert change.kind is not CREATED or path not in before


@given(WORLDS, st.lists(STEPS, max_size=12))
def test_reducing_again_changes_nothing(
    before: dict[Path, int], steps: list[tuple[str, Path, Path]]
) -> None:
    changes = reduce(play(before, steps)[1])
    assert reduce(changes.values()) == changes


@given(WORLDS, st.lists(STEPS, max_size=12))
def test_the_order_among_different_paths_does_not_matter(
    before: dict[Path, int], steps: list[tuple[str, Path, Path]]
) -> None:
    _, events = play(before, steps)
    assert reduce(sorted(events, key=lambda event: event.path)) == reduce(events)


@given(WORLDS, st.lists(STEPS, max_size=12), st.integers(0, 12))
def test_a_hand_over_in_between_loses_nothing(
    before: dict[Path, int], steps: list[tuple[str, Path, Path]], cut: int
) -> None:
    _, events = play(before, steps)
    whole = reduce(events)
    halves = set(reduce(events[:cut])) | set(reduce(events[cut:]))
    assert set(whole) <= halves


# --- waiting for quiet ----------------------------------------------------------------------------


def test_nothing_is_due_while_nothing_is_pending() -> None:
    pending = PendingChanges(ROOT, quiet_s=1, storm_s=10)
    assert pending.due_at_s is None
    assert pending.take() == frozenset()


def test_each_change_puts_the_hand_over_off_until_the_storm_has_lasted_too_long() -> None:
    pending = PendingChanges(ROOT, quiet_s=1, storm_s=3)
    due: list[float | None] = []
    for now_s in (100.0, 100.5, 101.4, 102.3):
        pending.add(Change(A, MODIFIED), now_s)
        due.append(pending.due_at_s)
    assert due == [101.0, 101.5, 102.4, 103.0]


def test_after_the_hand_over_nothing_is_pending() -> None:
    pending = PendingChanges(ROOT, quiet_s=1, storm_s=3)
    pending.add(Change(A, MODIFIED), 100.0)
    assert pending.take() == {A}
    assert pending.due_at_s is None
    pending.add(Change(B, DELETED), 200.0)
    assert pending.due_at_s == 201.0
    assert pending.take() == {B}


def test_marking_the_whole_root_does_not_put_off_what_is_pending() -> None:
    pending = PendingChanges(ROOT, quiet_s=1, storm_s=3)
    pending.add(Change(A, MODIFIED), 100.0)
    pending.add_root(100.9)
    assert pending.due_at_s == 101.0
    assert pending.take() == {ROOT}


def test_marking_the_whole_root_alone_waits_for_quiet_too() -> None:
    pending = PendingChanges(ROOT, quiet_s=1, storm_s=3)
    pending.add_root(100.0)
    assert pending.due_at_s == 101.0
    assert pending.take() == {ROOT}
    assert pending.take() == frozenset()


def test_too_many_paths_become_the_whole_root() -> None:
    pending = PendingChanges(ROOT, quiet_s=1, storm_s=3, max_paths=10)
    for number in range(10):
        pending.add(Change(ROOT / f"{number}.md", CREATED), 100.0)
    assert len(pending.take()) == 10
    for number in range(11):
        pending.add(Change(ROOT / f"{number}.md", CREATED), 100.0)
    pending.add(Change(A, DELETED), 100.0)
    assert pending.take() == {ROOT}


def test_a_change_of_the_root_itself_is_the_whole_root() -> None:
    pending = PendingChanges(ROOT, quiet_s=1, storm_s=3)
    pending.add(Change(A, MODIFIED), 100.0)
    pending.add(Change(ROOT, DELETED, is_folder=True), 100.0)
    assert pending.take() == {ROOT}
