"""File systems that do not tell of changes, and telling one folder from another."""

from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from desktop_rag.ingest.watching.watcher import identity, is_remote


class Mount(NamedTuple):
    """As psutil lists them."""

    device: str
    mountpoint: str
    fstype: str
    opts: str = "rw"


MOUNTS = [
    Mount("/dev/sda1", "/", "ext4"),
    Mount("server:/share", "/mnt/share", "nfs4"),
    Mount("/dev/sdb1", "/mnt/share/local", "xfs"),
    Mount("me@host:", "/mnt/ssh", "fuse.sshfs"),
    Mount("/dev/sdc1", "/mnt/stick", "fuseblk"),
    Mount("autofs", "/mnt/auto", "autofs"),
    Mount("server:/auto", "/mnt/auto", "nfs"),
    Mount("Z:", "/mnt/windows", "NTFS", "rw,remote"),
]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/docs", False),
        ("/mnt/share", True),
        ("/mnt/share/docs", True),
        ("/mnt/shared/docs", False),
        ("/mnt/share/local/docs", False),
        ("/mnt/ssh/docs", True),
        ("/mnt/stick/docs", False),
        ("/mnt/auto/docs", True),
        ("/mnt/windows/docs", True),
    ],
)
def test_network_file_systems(path: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def disk_partitions(all: bool) -> list[Mount]:  # noqa: A002  psutil's word
        assert all
        return MOUNTS

    monkeypatch.setattr(psutil, "disk_partitions", disk_partitions)
    assert is_remote(Path(path)) is expected


def test_a_local_folder_is_not_remote(tmp_path: Path) -> None:
    assert not is_remote(tmp_path)


def test_a_replaced_folder_is_another_one(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    assert identity(root) is None
    root.mkdir()
    first = identity(root)
    assert first == identity(root)
    root.rename(tmp_path / "old")
    assert identity(root) is None
    root.mkdir()
    assert identity(root) != first


def test_a_file_is_told_by_its_folder_since_saving_may_replace_it(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("one")
    first = identity(file)
    (tmp_path / "new").write_text("two")
    (tmp_path / "new").replace(file)
    assert identity(file) == first == identity(tmp_path)
