"""R-12: a library that this user may not write, or on a disk mounted read-only, is not damaged."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.engines import duckdb_in
from tests.stored_rows import put

pytestmark = pytest.mark.slow


as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts and becomes another"
)
_OTHER_USER = 65534
_OPEN = """
import os, sys, tempfile
from pathlib import Path
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.opening import open_engine, repair_library
with tempfile.TemporaryDirectory() as other:  # whatever is imported late, while this user may
    open_engine(Home(Path(other)), Settings()).close()
os.chdir(sys.argv[1])
os.setuid(int(sys.argv[2]))
home = Home(Path())
read = None
try:
    home.create()
    engine = open_engine(home, Settings())
    read = [chat.title for chat in engine.conversations.all()]
    engine.conversations.add("More", "")
except AppError as error:
    print(error.title, read, repair_library(home, Settings(), error))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A home that another user can reach, unlike the folders of pytest."""
    above = Path(tempfile.mkdtemp(prefix="denied-"))
    above.chmod(0o755)
    home = above / "home"
    for name in ("logs", "backups", "pages"):
        (home / name).mkdir(parents=True)
    with closing(duckdb_in(home)) as engine:
        put(engine, "a.txt", "the lamp of the harbour")
        engine.conversations.add("Lamps", "")
    yield home
    shutil.rmtree(above)


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def opened_by(user: int, folder: Path) -> str:
    command = [sys.executable, "-c", _OPEN, str(folder), str(user)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def give_away(folder: Path, mode: int) -> None:
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, _OTHER_USER, _OTHER_USER)
    folder.chmod(mode)


@as_root
@pytest.mark.parametrize(
    ("deny", "read"),
    [
        (lambda home: home.chmod(0o500), ["Lamps"]),
        (lambda home: (home / "library.duckdb").chmod(0o400), ["Lamps"]),
        (lambda home: (home / "library.duckdb").chmod(0), None),
        (lambda home: shutil.chown(home / "journal" / "generation", "root"), ["Lamps"]),
    ],
    ids=["folder", "library read-only", "library closed", "journal of another"],
)
def test_r12_what_this_user_may_not_write_is_told_and_kept(
    folder: Path, deny: Callable[[Path], object], read: object
) -> None:
    give_away(folder, 0o700)
    deny(folder)
    before = content_of(folder)
    assert opened_by(_OTHER_USER, folder) == f"The library cannot be written. {read} None"
    assert content_of(folder) == before


@pytest.fixture
def read_only(folder: Path, tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "mounted"
    place.mkdir()
    commands = [["--bind", str(folder), str(place)], ["-o", "remount,ro,bind", str(place)]]
    if any(subprocess.run(["mount", *c], check=False).returncode for c in commands):
        pytest.skip("this user may not mount")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@as_root
def test_r12_a_disk_mounted_read_only_is_told(read_only: Path) -> None:
    before = content_of(read_only)
    assert opened_by(0, read_only) == "The library cannot be written. ['Lamps'] None"
    assert content_of(read_only) == before
