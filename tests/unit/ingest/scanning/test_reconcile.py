"""How disk and store are compared: tables, a simulated disk, and real folders for `rescan`."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.domain import FileStat
from desktop_rag.ingest.scanning.disk_walk import FoundFile, RootOffline, scan
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.scanning.reconcile import (
    Changes,
    KnownFile,
    Match,
    is_same,
    reconcile,
    rescan,
)

RULES = IgnoreRules(lambda name: name.lower().endswith((".md", ".txt")), max_size_bytes=1000)
STAT = FileStat(size_bytes=5, mtime_ns=1_000, inode=7)


def found(location: str, stat: FileStat = STAT, reason: str = "") -> FoundFile:
    return FoundFile(location, stat.size_bytes, stat.mtime_ns, stat.inode, reason)


def known(location: str, stat: FileStat = STAT, skip_reason: str = "") -> KnownFile:
    state = (stat.size_bytes, stat.mtime_ns, stat.inode)
    return KnownFile(f"id of {location}", location, *state, skip_reason)


def test_a_new_file() -> None:
    assert reconcile([found("a.md")], []) == Changes(new=(found("a.md"),))


def test_an_unchanged_file() -> None:
    assert reconcile([found("a.md")], [known("a.md")]) == Changes(unchanged=1)


@pytest.mark.parametrize(
    "now",
    [FileStat(6, 1_000, 7), FileStat(5, 1_001, 7), FileStat(5, 999, 7), FileStat(5, 1_000, 8)],
)
def test_size_time_or_inode_tell_a_change(now: FileStat) -> None:
    changes = reconcile([found("a.md", now)], [known("a.md")])
    assert changes == Changes(changed=(Match(known("a.md"), found("a.md", now)),))


@pytest.mark.parametrize(
    ("read_at", "changed_at", "is_changed"),
    [(10.0, 11.0, True), (10.0, 9.0, False), (0.0, 11.0, False), (10.0, 99.0, False)],
    ids=["since it was read", "before", "never read", "in the future"],
)
def test_what_the_system_calls_changed_is_read_again(
    read_at: float, changed_at: float, is_changed: bool
) -> None:
    before = known("a.md")._replace(indexed_at=read_at)
    now = found("a.md")._replace(ctime_ns=int(changed_at * 1e9))
    changes = reconcile([now], [before], now=50.0)
    expected = Changes(changed=(Match(before, now),)) if is_changed else Changes(unchanged=1)
    assert changes == expected


def test_an_inode_that_is_not_known_tells_nothing() -> None:
    unknown = FileStat(5, 1_000, 0)
    assert is_same(known("a.md"), found("a.md", unknown))
    assert is_same(known("a.md", unknown), found("a.md"))


@pytest.mark.parametrize(("before", "now"), [("", "too large"), ("too large", ""), ("x", "y")])
def test_another_skip_reason_is_a_change(before: str, now: str) -> None:
    changes = reconcile([found("a.md", reason=now)], [known("a.md", skip_reason=before)])
    assert [match.found.reason for match in changes.changed] == [now]


def test_a_file_skipped_as_before_is_unchanged() -> None:
    file, before = found("a.zip", reason="x"), known("a.zip", skip_reason="x")
    assert reconcile([file], [before]) == Changes(unchanged=1)


def test_a_moved_file_keeps_its_identity() -> None:
    changes = reconcile([found("sub/b.md")], [known("a.md")])
    assert changes == Changes(moved=(Match(known("a.md"), found("sub/b.md")),))


@pytest.mark.parametrize(
    ("file", "before"),
    [
        (found("b.md", FileStat(5, 1_001, 7)), known("a.md")),
        (found("b.txt"), known("a.md")),
        (found("b.md", reason="too large"), known("a.md")),
        (found("b.md"), known("a.md", skip_reason="too large")),
        (found("b.md", FileStat(5, 1_000, 0)), known("a.md", FileStat(5, 1_000, 0))),
    ],
)
def test_what_is_not_a_move(file: FoundFile, before: KnownFile) -> None:
    assert reconcile([file], [before]) == Changes(new=(file,), vanished=(before,))


def test_two_names_of_one_file_move_as_two() -> None:
    changes = reconcile([found("x/a.md"), found("x/b.md")], [known("a.md"), known("b.md")])
    assert len(changes.moved) == 2
    assert len({match.known.location for match in changes.moved}) == 2


def test_of_several_names_of_a_file_the_known_one_stays() -> None:
    both = [found(name)._replace(links=2) for name in ("a.md", "b.md")]
    changes = reconcile(both, [known("b.md")])
    assert changes.unchanged == 1
    assert [(file.location, file.reason) for file in changes.new] == [
        ("a.md", "the same file as b.md")
    ]


def test_what_could_not_be_looked_at_has_not_vanished() -> None:
    closed = FoundFile("docs/closed", reason="cannot be opened", is_unreadable=True)
    store = [known("docs/closed/a.md"), known("docs/closed/x/b.md"), known("docs/closed-2.md")]
    changes = reconcile([closed], store)
    assert changes == Changes(vanished=(store[2],), unreadable=(closed,), unchanged=2)


# --- a simulated disk -----------------------------------------------------------------------------

NAMES = [f"{name}{suffix}" for name in "abcd" for suffix in (".md", ".txt")]
STATS = st.builds(FileStat, st.integers(0, 1), st.integers(0, 1), st.integers(0, 3))
DISKS = st.dictionaries(st.sampled_from(NAMES), STATS, max_size=6)


@given(DISKS, DISKS)
def test_every_file_is_sorted_exactly_once(
    before: dict[str, FileStat], now: dict[str, FileStat]
) -> None:
    changes = reconcile(
        [found(name, stat) for name, stat in now.items()],
        [known(name, stat) for name, stat in before.items()],
    )
    matches = [*changes.changed, *changes.moved]
    disk = [*changes.new, *(match.found for match in matches)]
    store = [*changes.vanished, *(match.known for match in matches)]
    assert len(disk) + changes.unchanged == len(now)
    assert len({file.location for file in disk}) == len(disk)
    assert len(store) + changes.unchanged == len(before)
    assert len({file.location for file in store}) == len(store)


@given(DISKS, DISKS)
def test_a_store_that_follows_the_changes_has_no_more_to_do(
    before: dict[str, FileStat], now: dict[str, FileStat]
) -> None:
    disk = [found(name, stat) for name, stat in now.items()]
    store = {name: known(name, stat) for name, stat in before.items()}
    changes = reconcile(disk, store.values())
    for gone in (*changes.vanished, *(match.known for match in changes.moved)):
        del store[gone.location]
    for file in (*changes.new, *(match.found for match in (*changes.changed, *changes.moved))):
        store[file.location] = known(file.location, file.stat)
    assert reconcile(disk, store.values()) == Changes(unchanged=len(now))


# --- rescan on real folders -----------------------------------------------------------------------


def look(root: Path, store: list[KnownFile], *parts: str) -> Changes:
    places = frozenset(root / part for part in parts) or None
    return rescan(root, RULES, store, threading.Event(), places)


def store_of(root: Path) -> list[KnownFile]:
    files = scan(root, RULES, threading.Event())
    return [KnownFile(file.location, *file[:5]) for file in files]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name in ("a.md", "sub/b.md", "sub/deep/c.md", "sub-2/d.md"):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return root


def names(root: Path, files: tuple[KnownFile, ...] | tuple[FoundFile, ...]) -> set[str]:
    return {Path(file.location).relative_to(root).as_posix() for file in files}


def test_a_folder_is_unchanged_on_the_second_look(docs: Path) -> None:
    assert look(docs, store_of(docs)) == Changes(unchanged=4)


def test_only_the_named_parts_are_looked_at(docs: Path) -> None:
    store = store_of(docs)
    (docs / "a.md").unlink()
    (docs / "sub" / "b.md").unlink()
    (docs / "sub" / "new.md").write_text("new")
    changes = look(docs, store, "sub")
    assert names(docs, changes.vanished) == {"sub/b.md"}
    assert names(docs, changes.new) == {"sub/new.md"}
    assert changes.unchanged == 1
    assert names(docs, look(docs, store, "a.md").vanished) == {"a.md"}


def test_an_empty_root_that_always_was_is_fine(tmp_path: Path) -> None:
    assert look(tmp_path, []) == Changes()


def test_the_last_file_may_be_deleted_while_it_is_watched(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("a")
    store = store_of(tmp_path)
    file.unlink()
    assert names(tmp_path, look(tmp_path, store, "a.md").vanished) == {"a.md"}


def test_a_single_file_is_a_source(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("a")
    store = store_of(file)
    assert look(file, store) == Changes(unchanged=1)
    file.write_text("longer")
    assert len(look(file, store).changed) == 1
    file.unlink()
    with pytest.raises(RootOffline):
        look(file, store)


def test_a_root_that_still_holds_something_is_not_offline(tmp_path: Path) -> None:
    (tmp_path / "picture.xyz").touch()
    gone = known(str(tmp_path / "a.md"))
    assert rescan(tmp_path, RULES, [gone], threading.Event()).vanished == (gone,)
    (tmp_path / "picture.xyz").unlink()
    with pytest.raises(RootOffline):
        rescan(tmp_path, RULES, [gone], threading.Event())
