"""R-25: everything the app writes is for this user alone, with the mask of an ordinary shell."""

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.app import build_services
from desktop_rag.core.files.own_files import keep_files_private, persons_mask
from desktop_rag.core.paths import Home
from desktop_rag.running_app import AppServer
from desktop_rag.store.duckdb.database.database import Database
from tests.command_line import document_of, run, run_process, settled, wait_for_window

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes are those of POSIX")

_ENOUGH_S = 50.0
_SHELLS_MASK = 0o022


@pytest.fixture(autouse=True)
def ordinary_mask() -> Iterator[None]:
    before = os.umask(_SHELLS_MASK)
    yield
    os.umask(before)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk by the keeper.")
    return settled(folder)


def open_to_others(home: Home) -> dict[str, str]:
    """The modes of all that somebody else may use, by name."""
    paths = [home.root, *home.root.rglob("*")]
    modes = {str(path.relative_to(home.root)): path.lstat().st_mode for path in paths}
    return {name: stat.filemode(mode) for name, mode in modes.items() if mode & 0o077}


@contextlib.contextmanager
def window(home: Home) -> Iterator[None]:
    """The window in a process of its own, open and answering."""
    opened = subprocess.Popen([sys.executable, "-m", "desktop_rag"], stderr=subprocess.PIPE)
    try:
        wait_for_window(home, opened)
        yield
    finally:
        opened.terminate()
        opened.communicate(timeout=_ENOUGH_S)


def test_r25_all_that_a_run_writes_is_for_this_user_alone(home: Home, papers: Path) -> None:
    document_of(run_process("index", str(papers), "--json"))
    assert open_to_others(home) == {}
    with window(home):
        document_of(run_process("ask", "When is the lamp lit?", "--json"))
        written = {path.name for path in home.root.rglob("*")}
        assert {"app.sock", "app.token", "desktop-rag.log"} <= written
        assert open_to_others(home) == {}
    assert open_to_others(home) == {}


def test_r25_the_log_of_a_killed_database_is_for_this_user_alone(home: Home, papers: Path) -> None:
    command = [sys.executable, "-m", "desktop_rag", "index", "--watch", "--json", str(papers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as indexing:
        assert indexing.stdout
        assert indexing.stdout.readline()
        indexing.kill()
    assert [path for path in home.root.iterdir() if path.suffix == ".wal"]
    assert open_to_others(home) == {}


def test_r25_a_home_that_stood_open_is_closed(home: Home) -> None:
    for folder in (home.root, home.logs, home.pages):
        folder.mkdir()
        folder.chmod(0o755)
    home.create()
    assert open_to_others(home) == {}


def test_r25_an_export_has_the_modes_of_the_persons_shell(home: Home, tmp_path: Path) -> None:
    keep_files_private()
    (tmp_path / "ours").touch()
    with persons_mask():
        (tmp_path / "theirs").touch()
    (tmp_path / "ours too").touch()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"ours": 0o600, "theirs": 0o644, "ours too": 0o600}


def test_r25_the_command_line_sets_the_mask_of_its_process(home: Home) -> None:
    assert run("status", "--json").returncode == 0
    assert open_to_others(home) == {}


def test_r25_a_program_that_uses_the_library_leaves_no_file_open(home: Home, papers: Path) -> None:
    services = build_services(home)
    try:
        database = services.engine.storage
        assert isinstance(database, Database)
        services.library.sources.add(papers)
        for _ in range(2):  # the log is made anew after a checkpoint
            assert (home.root / "library.duckdb.wal").exists()
            assert open_to_others(home) == {}
            with database.read() as con:
                con.execute("CHECKPOINT")
            services.library.collections.find_or_add("Lamps")
    finally:
        services.close()


def test_r25_the_socket_of_the_app_is_for_this_user_alone(home: Home) -> None:
    home.create()
    server = AppServer(home, {})
    try:
        assert Path(server.address).is_socket()
        assert open_to_others(home) == {}
    finally:
        server.close()
