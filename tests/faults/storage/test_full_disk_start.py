"""R-29: the app starts on a disk that refuses to write, says so, answers, and goes on later."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.paths import Home
from desktop_rag.features.diagnosis.diagnosis import space
from desktop_rag.features.diagnosis.finding import State
from desktop_rag.store.duckdb.duckdb_engine import library_file
from tests.asking import ask
from tests.faults.storage.small_disk import SmallDisk
from tests.faults.system_calls import needs_strace
from tests.indexed import index

QUESTION = "When does the ferry leave?"
_WAIT_S = 30


@pytest.fixture
def chat(build_services: Callable[[], Services], home: Home, tmp_path: Path) -> str:
    """A closed library that lost its latest question, and the chat that had it."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at noon from the northern pier.")
    services = index(build_services(), folder)
    chat = ask(services, QUESTION).conversation_id
    services.close()
    before = library_file(home).read_bytes()
    services = build_services()
    ask(services, QUESTION, conversation_id=chat)
    services.close()
    library_file(home).write_bytes(before)
    return chat


def refuse(disk: SmallDisk, how: str) -> None:
    if how == "full":
        disk.fill()
    else:
        disk.remount("ro")


def allow(disk: SmallDisk, how: str) -> None:
    if how == "full":
        disk.free()
    else:
        disk.remount("rw")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["full", "read-only"])
def test_it_starts_answers_and_catches_up(
    how: str, disk: SmallDisk, chat: str, build_services: Callable[[], Services]
) -> None:
    refuse(disk, how)
    services = build_services()
    told = {"full": "The disk is full.", "read-only": "The library cannot be written."}
    assert told[how] in [notice.title for notice in services.notices]
    services.run()
    services.begin_keeping(lambda _notice: None)
    answer = ask(services, QUESTION, conversation_id=chat)
    assert "at noon" in answer.text
    assert answer.is_unstored
    assert len(services.chat.history.messages(chat)) == 4
    allow(disk, how)
    ends_at = time.monotonic() + _WAIT_S
    while services.chat.history.messages(chat)[-1].is_unstored and time.monotonic() < ends_at:
        services.library.indexing.wait_until_idle(0.05)
    assert [m.is_unstored for m in services.chat.history.messages(chat)] == [False] * 6
    services.close()
    assert len(build_services().chat.history.messages(chat)) == 6


def test_the_doctor_says_that_nothing_can_be_written(disk: SmallDisk) -> None:
    disk.remount("ro")
    found = space("library", disk.root, 1, 1)
    assert (found.state, found.title) == (State.PROBLEM, f"Nothing can be written to {disk.root}.")


def test_a_file_that_finds_no_room_stays_as_it_was_with_nothing_beside_it(disk: SmallDisk) -> None:
    file = disk.root / "notes.json"
    write_atomically(file, "{}")
    file.chmod(0o640)
    disk.fill()
    with pytest.raises(OSError, match="No space"):
        write_atomically(file, "x" * 100_000)
    assert file.read_text() == "{}"
    assert {path.name for path in disk.root.iterdir()} == {"notes.json", "ballast"}
    disk.free()
    write_atomically(file, b"[]")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("[]", 0o640)


@pytest.mark.slow
def test_a_home_that_goes_away_gets_nothing_and_is_used_again_once_it_is_back(
    chat: str, home: Home, tmp_path: Path, build_services: Callable[[], Services]
) -> None:
    services = build_services()
    services.run()
    services.begin_keeping(lambda _notice: None)
    assert services.library.indexing.wait_until_idle(_WAIT_S)
    away = home.root.rename(home.root.with_name("away"))
    answer = ask(services, QUESTION, conversation_id=chat)
    assert answer.is_unstored
    (tmp_path / "notes" / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk.")
    services.library.sources.rescan()
    while not services.library.indexing.is_retrying_later:
        services.library.indexing.wait_until_idle(0.05)
    assert not list(home.root.rglob("*"))
    away.rename(home.root)
    ends_at = time.monotonic() + _WAIT_S
    while services.chat.history.messages(chat)[-1].is_unstored and time.monotonic() < ends_at:
        services.library.indexing.wait_until_idle(0.05)
    assert services.library.indexing.wait_until_idle(_WAIT_S)
    assert services.chat.search("lamp")
    services.close()
    assert len(build_services().chat.history.messages(chat)) == 6


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "error"), [("fdatasync", "EIO"), ("fsync", "EDQUOT"), ("pwrite64", "EACCES")]
)
def test_a_start_comes_to_its_end_when_a_write_fails(
    chat: str, home: Home, call: str, error: str, build_services: Callable[[], Services]
) -> None:
    """The engine names no reason when it can't sync its log, and can't be used afterwards."""
    options = ["-f", "-qq", "-o", os.devnull, "-e", f"trace={call}"]
    options += ["-e", f"inject={call}:error={error}:when=1"]
    start = [sys.executable, "-m", "tests.driving.acts", "start", str(home.root), "-"]
    done = subprocess.run(["strace", *options, *start], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert len(build_services().chat.history.messages(chat)) == 4
