"""Series W: unusual things in a watched folder: links, names, devices, cloud files."""

import os
import socket
import stat
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from desktop_rag.core.files.file_state import hash_of
from desktop_rag.ingest.scanning import disk_walk as scan_module
from desktop_rag.ingest.scanning.disk_walk import FoundFile, scan
from desktop_rag.ingest.scanning.reconcile import Changes, KnownFile, rescan
from tests.follower import RULES

OUTSIDE = "a link that leads out of the folder"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("alpha")
    (root / "sub" / "b.md").write_text("beta")
    return root


def found(root: Path, *parts: Path) -> dict[str, str]:
    """Reasons by path below the root."""
    files = list(scan(root, RULES, threading.Event(), frozenset(parts) or None))
    reasons = {file.location.removeprefix(f"{root}{os.sep}"): file.reason for file in files}
    assert len(reasons) == len(files)
    return reasons


class Library:
    """Records scan results."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.known: dict[str, KnownFile] = {}

    def look(self, *parts: str) -> Changes:
        places = frozenset(self.root / part for part in parts) or None
        changes = rescan(self.root, RULES, list(self.known.values()), threading.Event(), places)
        matches = (*changes.changed, *changes.moved)
        for gone in (*changes.vanished, *changes.left_out, *(m.known for m in matches)):
            self.known.pop(gone.location, None)
        for file in (*changes.new, *(match.found for match in matches)):
            self.known[file.location] = KnownFile(file.location, *file[:5])
        return changes

    def reasons(self) -> dict[str, str]:
        prefix = f"{self.root}{os.sep}"
        return {k.location.removeprefix(prefix): k.skip_reason for k in self.known.values()}


# --- links ----------------------------------------------------------------------------------------


def test_w08_links_inside_the_root_lead_to_nothing_new(docs: Path) -> None:
    (docs / "loop").symlink_to(docs)
    (docs / "sub" / "up").symlink_to(docs / "sub")
    (docs / "again.md").symlink_to(docs / "a.md")
    (docs / "nowhere.md").symlink_to(docs / "missing.md")
    (docs / "circle.md").symlink_to(docs / "circle.md")
    assert found(docs) == {"a.md": "", "sub/b.md": ""}


def test_w08_links_out_of_the_root_are_not_followed_but_told(docs: Path) -> None:
    outside = docs.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("x")
    (docs / "folder").symlink_to(outside)
    (docs / "file.md").symlink_to(outside / "secret.md")
    (docs / "all").symlink_to("/")
    assert found(docs) == {
        "a.md": "",
        "sub/b.md": "",
        "folder": OUTSIDE,
        "file.md": OUTSIDE,
        "all": OUTSIDE,
    }


def test_w08_a_link_to_a_hidden_file_inside_the_root_is_taken(docs: Path) -> None:
    (docs / ".store").mkdir()
    (docs / ".store" / "1f3a").write_text("kept elsewhere")
    (docs / "c.md").symlink_to(docs / ".store" / "1f3a")
    files = {file.path.name: file for file in scan(docs, RULES, threading.Event())}
    assert files["c.md"].stat.size_bytes == len("kept elsewhere")


def test_w08_a_file_of_several_names_is_read_once(docs: Path) -> None:
    library = Library(docs)
    library.look()
    (docs / "again.md").hardlink_to(docs / "a.md")
    library.look("again.md")
    same = "the same file as a.md"
    assert library.reasons() == {"a.md": "", "sub/b.md": "", "again.md": same}
    assert library.look() == Changes(unchanged=3)
    assert library.look("again.md").unchanged == 2


@pytest.mark.parametrize("is_whole", [True, False])
def test_w08_when_one_name_of_a_file_goes_another_is_read(docs: Path, is_whole: bool) -> None:
    library = Library(docs)
    (docs / "again.md").hardlink_to(docs / "a.md")
    library.look()
    (docs / "a.md").unlink()
    library.look(*(() if is_whole else ("a.md",)))
    assert library.reasons() == {"again.md": "", "sub/b.md": ""}


def test_w08_a_file_of_several_names_that_is_edited_stays_one(docs: Path) -> None:
    library = Library(docs)
    (docs / "again.md").hardlink_to(docs / "a.md")
    library.look()
    (docs / "again.md").write_text("edited through the other name")
    changes = library.look("again.md")
    assert {match.found.path.name for match in changes.changed} == {"a.md", "again.md"}
    assert library.reasons()["again.md"] == "the same file as a.md"


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [(), ("odd",)], ids=["whole", "part"])
def test_w10_names_that_are_no_text_are_told_in_a_way_that_can_be_stored(
    docs: Path, parts: tuple[str, ...]
) -> None:
    folder = os.fsencode(docs) + b"/odd"
    os.mkdir(folder)  # noqa: PTH102  the name is bytes on purpose
    os.mkdir(folder + b"/caf\xe9")  # noqa: PTH102
    for name in (b"/caf\xe9/inside.md", b"/\xff.md"):
        Path(os.fsdecode(folder + name)).write_text("x")
    reasons = found(docs, *(docs / part for part in parts))
    odd = {name: reason for name, reason in reasons.items() if name.startswith("odd")}
    assert odd == dict.fromkeys(["odd/caf\\xe9", "odd/\\xff.md"], "its name is not valid text")
    assert all(name.encode() for name in odd)
    inside = docs / "odd" / os.fsdecode(b"caf\xe9") / "inside.md"
    assert set(found(docs, inside)) == {"odd/caf\\xe9"}


@pytest.mark.parametrize(
    "name", ["ü" * 120 + ".md", "a\nb.md", "\u202ecod.md", "CON.md", "é.md", "e\u0301.md", "a .md"]
)
def test_w10_odd_but_valid_names_are_taken(docs: Path, name: str) -> None:
    (docs / name).write_text("x")
    assert found(docs)[name] == ""


def test_w10_two_ways_to_write_an_accent_are_two_files(docs: Path) -> None:
    library = Library(docs)
    for name in ("\u00e9.md", "e\u0301.md"):
        (docs / name).write_text(ascii(name))
    library.look()
    assert {"\u00e9.md", "e\u0301.md"} < set(library.reasons())
    (docs / "\u00e9.md").unlink()
    (gone,) = library.look().vanished
    assert Path(gone.location).name == "\u00e9.md"


@pytest.mark.parametrize("parts", [(), ("a.md", "A.MD"), ("A.MD",), ("a.md",)])
def test_w10_a_rename_of_letter_case_is_a_move(
    docs: Path, parts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(docs)
    library.look()
    lstat = os.lstat

    def folding(location: str) -> os.stat_result:
        return lstat(location.replace("a.md", "A.MD"))

    (docs / "a.md").rename(docs / "A.MD")
    monkeypatch.setattr(scan_module, "_FOLDS_NAMES", True)
    monkeypatch.setattr(os, "lstat", folding)
    library.look(*parts)
    if parts == ("a.md",):  # the other half of the rename is reported too, or found by the rescan
        library.look()
    assert set(library.reasons()) == {"A.MD", "sub/b.md"}


# --- special files --------------------------------------------------------------------------------


def test_w11_pipes_and_sockets_are_not_opened(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(docs / "pipe.md")
    monkeypatch.chdir(docs)  # the address of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("talk.md")
        reasons = found(docs)
    assert reasons["pipe.md"] == reasons["talk.md"] == "a device, pipe or socket"


def test_w11_a_pipe_in_the_place_of_a_file_is_not_waited_for(docs: Path) -> None:
    (docs / "a.md").unlink()
    os.mkfifo(docs / "a.md")
    with pytest.raises(OSError, match="not a regular file"):
        hash_of(docs / "a.md")


def test_w12_a_file_that_is_only_in_the_cloud_is_not_opened(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = SimpleNamespace(
        st_mode=stat.S_IFREG,
        st_size=5,
        st_mtime_ns=1,
        st_ctime_ns=1,
        st_ino=1,
        st_nlink=1,
        st_flags=0x40000000,
    )
    monkeypatch.setattr(scan_module, "_HAS_CLOUD_FILES", True)
    monkeypatch.setattr(os, "lstat", lambda _location: away)
    (file,) = scan(docs, RULES, threading.Event(), frozenset({docs / "a.md"}))
    reason = "only in the cloud, not on this computer"
    assert file == FoundFile(str(docs / "a.md"), 5, 1, 1, reason, ctime_ns=1)
