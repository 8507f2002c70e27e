"""R-05 to R-08, R-22, R-23: damage is repaired without losing a message; other faults are named."""

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from desktop_rag.core.conversation import Message, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.duckdb_engine import library_file
from desktop_rag.store.opening import open_engine, repair_library
from tests.faults.recovery.damage import LIBRARY_CUTS, LOG_LOSSES, flip

pytestmark = pytest.mark.slow


CHATS, MESSAGES = 4, 6
# An error for each opening of a file whose name contains FAULT_PATH.
_FAULTY_OPEN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#define FAULTY(name) int name(const char *path, int flags, ...) { \\
  static int (*real)(const char *, int, ...); \\
  if (!real) real = dlsym(RTLD_NEXT, #name); \\
  mode_t mode = 0; \\
  if (flags & O_CREAT) { va_list a; va_start(a, flags); mode = va_arg(a, int); va_end(a); } \\
  if (strstr(path, getenv("FAULT_PATH"))) { errno = atoi(getenv("FAULT_ERRNO")); return -1; } \\
  return real(path, flags, mode); }
FAULTY(open)
FAULTY(open64)
"""
_OPEN = """
import sys
from pathlib import Path
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.opening import open_engine, repair_library
home = Home(Path(sys.argv[1]))
try:
    open_engine(home, Settings()).close()
except AppError as error:
    print(error.title, repair_library(home, Settings(), error))
"""


def texts(engine: Engine) -> list[list[str]]:
    stored = engine.conversations
    return sorted([m.text for m in stored.messages(c.conversation_id)] for c in stored.all())


def fill(engine: Engine) -> None:
    collection = engine.sources.add_collection("Sea")
    engine.sources.add_source(Path("/docs/sea"), collection.collection_id)
    for chat in range(CHATS):
        conversation = engine.conversations.add(f"Chat {chat}", collection.collection_id)
        for n in range(MESSAGES):
            text = f"{chat} {n} " + " ".join(map(str, range(n * 97, n * 97 + 150)))
            engine.conversations.add_message(
                Message(f"{chat}-{n}", conversation.conversation_id, Role.USER, text, time.time())
            )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A closed library, and one as a crash leaves it, with its log."""
    closed, crashed = tmp_path_factory.mktemp("closed"), tmp_path_factory.mktemp("crashed")
    with closing(open_engine(Home(closed), Settings())) as engine:
        fill(engine)
        shutil.copytree(closed, crashed, dirs_exist_ok=True)
    assert (crashed / "library.duckdb.wal").stat().st_size > 1000
    return closed, crashed


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def fault_of(home: Home) -> AppError | None:
    """The error of opening and reading the whole library."""
    try:
        with closing(open_engine(home, Settings())) as engine:
            engine.storage.verify()
    except AppError as error:
        return error
    return None


def survives(home: Home) -> bool:
    """True when all messages are there, at once or after a repair of a reported damage."""
    if error := fault_of(home):
        assert "damaged" in error.title, error
        before = library_file(home).read_bytes()
        report = repair_library(home, Settings(), error)
        assert report is not None
        assert report.kept.read_bytes() == before
        assert fault_of(home) is None
    with closing(open_engine(home, Settings())) as engine:
        assert [s.path for s in engine.sources.sources()] == [Path("/docs/sea")]
        found = texts(engine)
    assert [len(chat) for chat in found] == [MESSAGES] * CHATS
    return all(text.startswith(f"{c} {n} ") for c, chat in enumerate(found)
               for n, text in enumerate(chat))  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_r05_r23_a_flipped_bit_costs_no_message(
    home: Home, filled: tuple[Path, Path], seed: int
) -> None:
    chance = random.Random(seed)
    closed, crashed = filled
    is_log = seed % 2
    shutil.copytree(crashed if is_log else closed, home.root)
    flip(library_file(home).with_name("library.duckdb.wal" if is_log else "library.duckdb"), chance)
    assert survives(home)


@pytest.mark.parametrize("cut", LIBRARY_CUTS)
def test_r06_a_library_cut_off_costs_no_message(
    home: Home, filled: tuple[Path, Path], cut: str
) -> None:
    shutil.copytree(filled[0], home.root)
    LIBRARY_CUTS[cut](library_file(home))
    assert survives(home)


@pytest.mark.parametrize("loss", LOG_LOSSES)
def test_r07_r08_a_log_that_is_lost_or_cut_costs_no_message(
    home: Home, filled: tuple[Path, Path], loss: str
) -> None:
    shutil.copytree(filled[1], home.root)
    LOG_LOSSES[loss](home.root / "library.duckdb.wal")
    assert survives(home)


def test_r23_without_a_journal_all_that_can_be_read_is_kept(
    home: Home, filled: tuple[Path, Path]
) -> None:
    kept: list[int] = []
    for seed in range(8):
        shutil.copytree(filled[0], home.root)
        shutil.rmtree(home.root / "journal")
        flip(library_file(home), random.Random(seed))
        if error := fault_of(home):
            assert repair_library(home, Settings(), error) is not None
        with closing(open_engine(home, Settings())) as engine:
            kept.append(sum(map(len, texts(engine))))
        shutil.rmtree(home.root)
    # A flip in a block of messages, or of the catalogue, costs what the block held.
    assert sum(kept) >= 4 * CHATS * MESSAGES, kept


@pytest.mark.skipif(shutil.which("cc") is None or sys.platform != "linux", reason="needs cc")
@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("EIO", "The disk reports a read or write error."),
        ("ETIMEDOUT", "The disk with the library does not respond."),
        ("ESTALE", "The disk with the library does not respond."),
        ("ENOLCK", "The library cannot be locked."),
        ("EMFILE", "Too many files are open."),
        ("ENFILE", "Too many files are open."),
        ("EROFS", "The library cannot be written."),
        ("EACCES", "The library cannot be written."),
        ("ENOSPC", "The disk is full."),
    ],
)
def test_r22_a_fault_of_the_disk_is_no_damage(
    home: Home, filled: tuple[Path, Path], tmp_path: Path, name: str, title: str
) -> None:
    shutil.copytree(filled[0], home.root)
    source, library = tmp_path / "faulty.c", tmp_path / "faulty.so"
    source.write_text(_FAULTY_OPEN)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    before = {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}
    number = getattr(errno, name)
    faulty = {"LD_PRELOAD": str(library), "FAULT_PATH": "library.duckdb"}
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, str(home.root)], capture_output=True, text=True, check=True,
        env=os.environ | faulty | {"FAULT_ERRNO": str(number)},
    )  # fmt: skip
    assert done.stdout.strip() == f"{title} None"
    assert before == {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}
