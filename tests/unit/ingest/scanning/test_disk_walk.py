"""The scan on real folders: what it finds, what it leaves out, and what it does not follow."""

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.errors import Cancelled
from desktop_rag.ingest.scanning.disk_walk import FoundFile, RootOffline, scan
from desktop_rag.ingest.scanning.ignore import IgnoreRules

RULES = IgnoreRules(lambda name: name.lower().endswith((".md",)), max_size_bytes=1000)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("alpha")
    (root / "sub" / "b.md").write_text("beta")
    return root


def found(root: Path, *parts: Path, rules: IgnoreRules = RULES) -> dict[str, str]:
    """Reasons by location below the root."""
    files = list(scan(root, rules, threading.Event(), frozenset(parts) or None))
    reasons = {file.location.removeprefix(f"{root}{os.sep}"): file.reason for file in files}
    assert len(reasons) == len(files)
    return reasons


def test_files_are_found_with_what_tells_their_state(docs: Path) -> None:
    files = {file.path: file for file in scan(docs, RULES, threading.Event())}
    assert set(files) == {docs / "a.md", docs / "sub" / "b.md"}
    status = (docs / "a.md").stat()
    assert files[docs / "a.md"] == FoundFile(
        str(docs / "a.md"), 5, status.st_mtime_ns, status.st_ino, ctime_ns=status.st_ctime_ns
    )


def test_skipped_files_have_a_reason_and_hidden_ones_are_not_there(docs: Path) -> None:
    (docs / "photo.jpg").write_bytes(b"x")
    (docs / "large.md").write_bytes(b"x" * 1001)
    (docs / "~$a.md").write_text("x")
    for folder in (".git", "node_modules"):
        (docs / folder).mkdir()
        (docs / folder / "x.md").write_text("x")
    assert found(docs) == {
        "a.md": "",
        "sub/b.md": "",
        "photo.jpg": "not supported: .jpg",
        "large.md": "larger than 0 MB",
    }


def test_the_home_of_the_app_is_not_entered_by_any_of_its_names(docs: Path) -> None:
    (docs / "app").mkdir()
    (docs / "app" / "notes.md").write_text("x")
    detour = docs.parent / "docs" / "sub" / ".." / "app"
    rules = IgnoreRules(lambda name: name.lower().endswith((".md",)), 1000, home=detour)
    assert found(docs, rules=rules) == {"a.md": "", "sub/b.md": ""}


def test_a_root_that_is_a_link_is_followed(docs: Path) -> None:
    link = docs.parent / "link"
    link.symlink_to(docs)
    (docs / "inside.md").symlink_to(docs / "a.md")
    assert found(link) == {"a.md": "", "sub/b.md": ""}
    assert found(link, link / "sub") == {"sub/b.md": ""}


def test_parts_are_looked_at_as_in_a_whole_scan(docs: Path) -> None:
    (docs / "sub" / ".git").mkdir()
    (docs / "sub" / ".git" / "x.md").write_text("x")
    (docs / "loop").symlink_to(docs)
    missing = docs / "sub" / "missing.md"
    below = docs / "a.md" / "b.md"
    assert found(docs, docs / "a.md", missing, below) == {"a.md": ""}
    assert found(docs, docs / "sub", docs / "sub" / "b.md") == {"sub/b.md": ""}
    assert found(docs, docs / "sub" / ".git", docs / "sub" / ".git" / "x.md") == {}
    assert found(docs, docs / "loop" / "a.md", docs.parent / "other.md") == {}
    assert found(docs, docs) == {"a.md": "", "sub/b.md": ""}


def closing(monkeypatch: pytest.MonkeyPatch, closed: Path) -> None:
    """Let the system refuse to list one folder, also to an administrator."""
    listing = os.scandir

    def scandir(folder: str) -> Iterator[os.DirEntry[str]]:
        if Path(folder) == closed:
            raise PermissionError(13, "Permission denied", folder)
        return listing(folder)

    monkeypatch.setattr(os, "scandir", scandir)


def test_a_folder_that_cannot_be_opened_is_told_and_the_rest_goes_on(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing(monkeypatch, docs / "sub")
    files = {file.path: file for file in scan(docs, RULES, threading.Event())}
    assert files[docs / "a.md"].reason == ""
    assert files[docs / "sub"].is_unreadable
    assert files[docs / "sub"].reason == "cannot be opened: Permission denied"


def test_a_root_that_cannot_be_opened_is_offline(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing(monkeypatch, docs)
    with pytest.raises(RootOffline):
        found(docs)


def test_a_place_that_cannot_be_looked_at_is_told(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lstat(location: str) -> os.stat_result:
        raise PermissionError(13, "Permission denied", location)

    monkeypatch.setattr(os, "lstat", lstat)
    place = docs / "sub" / "b.md"
    (file,) = scan(docs, RULES, threading.Event(), frozenset({place}))
    assert (file.path, file.is_unreadable) == (place, True)


def test_what_is_deleted_on_the_way_is_not_there(docs: Path) -> None:
    for number in range(20):
        (docs / f"{number:02d}").mkdir()
        (docs / f"{number:02d}" / "x.md").write_text("x")
    files = scan(docs, RULES, threading.Event())
    first = next(files)
    for folder in [path for path in docs.iterdir() if path.is_dir()]:
        shutil.rmtree(folder)
    left = {first.path.name, *(file.path.name for file in files)}
    assert left <= {first.path.name, "a.md"}


def test_a_root_that_goes_away_on_the_way_is_offline(docs: Path) -> None:
    files = scan(docs, RULES, threading.Event())
    next(files)
    docs.rename(docs.with_name("pulled"))
    docs.mkdir()
    with pytest.raises(RootOffline):
        list(files)


def test_a_scan_can_be_cancelled(docs: Path) -> None:
    cancel = threading.Event()
    files = scan(docs, RULES, cancel)
    next(files)
    cancel.set()
    with pytest.raises(Cancelled):
        list(files)


def test_a_single_file_is_found(docs: Path) -> None:
    (docs / "x.zip").write_text("x")
    assert found(docs / "a.md") == {str(docs / "a.md"): ""}
    assert found(docs / "x.zip") == {str(docs / "x.zip"): "not supported: .zip"}


def test_a_very_deep_folder_is_scanned(docs: Path) -> None:
    deep = docs
    for _ in range(200):
        deep /= "d"
    deep.mkdir(parents=True)
    (deep / "end.md").write_text("x")
    assert str((deep / "end.md").relative_to(docs)) in found(docs)
