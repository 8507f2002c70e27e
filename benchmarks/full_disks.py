"""Starts on a full disk: the app opens and reads, says why it can't write, and goes on later.

python benchmarks/full_disks.py

A home lies on a disk of its own, of 64 MB. The disk is filled up to a few pages, one page more each
time, so that it gets full at one write after the other: of a start that has to catch up with the
journal, of an answer, of a backup and of a snapshot. Then the app must open, every message that was
acknowledged must be there and be found once, and after the disk was freed the next question must be
stored. Needs the right to mount a disk in memory. Bar: opens 40 of 40.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from bars import at_least, reported, table

from desktop_rag.app import Services, build_services
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.features.backup.services import BackupServices
from desktop_rag.store.duckdb.duckdb_engine import library_file
from tests.asking import ask
from tests.faults.storage.small_disk import SmallDisk, mounted, unmount

_TIMES, _PAGE_BYTES = 10, 4096
_QUESTION = "When is the lamp lit?"
_IDLE_S = 60.0


def _messages(services: Services) -> list[str]:
    stored = services.engine.conversations
    return sorted(m.message_id for c in stored.all() for m in stored.messages(c.conversation_id))


def _prepared(home: Home, texts: Path, *, is_behind: bool) -> list[str]:
    """An indexed library with two chats; with `is_behind` only the journal has the second."""
    with closing(build_services(home)) as services:
        services.library.sources.add(texts)
        services.library.start(watch=False)
        assert services.library.indexing.wait_until_idle(_IDLE_S)
        ask(services, _QUESTION)
    before = library_file(home).read_bytes()
    with closing(build_services(home)) as services:
        ask(services, _QUESTION)
        messages = _messages(services)
    if is_behind:
        library_file(home).write_bytes(before)
    return messages


def _start(services: Services, disk: SmallDisk, leave_bytes: int) -> None:
    """Nothing: the disk was full before the start."""


def _answer(services: Services, disk: SmallDisk, leave_bytes: int) -> None:
    disk.fill(leave_bytes)
    ask(services, f"{_QUESTION} {'Please say. ' * 2000}")


def _backup(services: Services, disk: SmallDisk, leave_bytes: int) -> None:
    disk.fill(leave_bytes)
    services.wing(BackupServices).backups.export(
        disk.root / "all.desktop-rag-backup", with_index=True
    )


def _snapshot(services: Services, disk: SmallDisk, leave_bytes: int) -> None:
    disk.fill(leave_bytes)
    services.wing(BackupServices).snapshots.make()


_ACTS: dict[str, Callable[[Services, SmallDisk, int], None]] = {
    "start": _start, "answer": _answer, "backup": _backup, "snapshot": _snapshot,
}  # fmt: skip


def _run(name: str, leave_bytes: int, texts: Path) -> list[str]:
    """What was wrong in one run."""
    disk = mounted(64)
    assert disk, "this user may not mount a disk"
    home, faults = Home(disk.root / "home"), list[str]()
    try:
        messages = _prepared(home, texts, is_behind=name == "start")
        if name == "start":
            disk.fill(leave_bytes)
        with closing(build_services(home)) as services, suppress(AppError):
            services.run()
            _ACTS[name](services, disk, leave_bytes)
        with closing(build_services(home)) as services:
            services.run()
            found = _messages(services)
            is_behind = services.engine.fault is not None
            if not services.chat.search("lamp"):
                faults.append("nothing is found")
            if not is_behind and not set(messages) <= set(found):
                faults.append("messages are lost")
            disk.free()
            if ask(services, _QUESTION).is_unstored:
                faults.append("nothing is stored once there is room")
            after = _messages(services)
            if not set(messages) <= set(after) or len(after) != len(set(after)):
                faults.append("messages are lost or doubled")
        left = [p.name for p in home.root.rglob("*") if p.suffix in (".new", ".part")]
        faults += [f"left behind: {left}"] if left else []
    except AppError as error:
        faults.append(f"does not open: {error}")
    finally:
        unmount(disk)
    return faults


def main() -> int:
    """Print each fault, then the figures; 1 when the bar is missed."""
    good = runs = 0
    texts = Path(tempfile.mkdtemp(prefix="desktop-rag-texts-"))
    try:
        (texts / "lamp.md").write_text("# Lamp\n\nThe lamp of the lighthouse is lit at dusk.")
        for name in _ACTS:
            for pages in range(_TIMES):
                faults = _run(name, pages * _PAGE_BYTES, texts)
                runs += 1
                good += not faults
                for fault in faults:
                    print(f"{name}, {pages} pages: {fault}", flush=True)
    finally:
        shutil.rmtree(texts)
    bars = [reported("runs", runs), at_least("opens and goes on", runs, good)]
    print("\n".join(table(bars)))
    return int(good < runs)


if __name__ == "__main__":
    sys.exit(main())
