"""Homes after a system call that changes a file was killed or refused: all or nothing, none lost.

python benchmarks/call_kills.py [--kills N]

Each act of `tests.driving.acts` runs in a process of its own, once to count the calls that change
files, then again on a copy of its home with SIGKILL at one of them, evenly spread over the act.
Afterwards the library must open; what was said to be stored must be there once; an import is there
as a whole or not at all; documents, passages and vectors must agree. A start that has to catch up
with the journal must also come to its end while one call after the other fails. Needs strace.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bars import at_most, reported, table

from desktop_rag.app import Services, build_services
from desktop_rag.core.paths import Home
from desktop_rag.features.backup.archive_reader import opened_archive
from desktop_rag.features.backup.services import BackupServices, opened_backups
from desktop_rag.features.diagnosis.repair import repair_home
from desktop_rag.store.duckdb.duckdb_engine import library_file
from tests.driving import acts
from tests.library_before import unpacked
from tests.stored_rows import count_inconsistent

_CALLS = (
    "pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,"
    "mkdir,rmdir"
)
_CALL = re.compile(r"^(\d+) +(\w+)\(", re.MULTILINE)
# The ids of the messages of each chat.
_Chats = dict[str, list[str]]
_ERRORS = ("ENOSPC", "EDQUOT", "EIO", "EACCES")
_ROOT = Path(__file__).parents[1]
_CHATS = 7
_TEXTS = {
    "lamp.md": "# Lamp\n\nThe lamp of the lighthouse is lit at dusk by the keeper.",
    "ferry.md": "# Ferry\n\nThe ferry leaves at noon from the northern pier.",
    "oil.md": "# Oil\n\nThe oil is brought by the ferry twice a year.",
}


@dataclass
class Act:
    """An act, the home before it, its further argument, and what must hold after a kill."""

    name: str
    home: Path
    file: Path
    check: Callable[[Services, list[str]], list[str]]


class Kills:
    """Runs acts on copies of their homes."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._number = 0
        self.faults: list[str] = []
        self.kills = self.refusals = 0

    def run(self, act: Act, kills: int) -> None:
        """Count the calls of an act, then kill it at so many of them."""
        calls = self._counted(act)
        step = max(1, len(calls) // kills)
        print(f"{act.name}: {len(calls)} calls", flush=True)
        for call, at in calls[::step]:
            said = self._run(act, ["-e", f"inject={call}:signal=SIGKILL:when={at}"])
            self._judge(act, f"{call} {at}", said)

    def refuse(self, act: Act) -> None:
        """Let each call of an act fail with each error: it must come to its end all the same."""
        for call, at in self._counted(act):
            for error in _ERRORS:
                said = self._run(act, ["-e", f"inject={call}:error={error}:when={at}"])
                self.refusals += 1
                if self._status:
                    self.faults.append(f"{act.name}, {error} of {call} {at}: status {self._status}")
                self._judge(act, f"{error} of {call} {at}", said)

    def _counted(self, act: Act) -> list[tuple[str, int]]:
        """The calls with their numbers in their thread, by which strace counts them."""
        log = self._scratch / "calls"
        self._run(act, ["-o", str(log)])
        self._judge(act, "whole", [])
        found = _CALL.findall(log.read_text(errors="replace"))
        most: dict[str, int] = {}
        for (_, call), count in Counter(found).items():
            most[call] = max(most.get(call, 0), count)
        return [(call, at) for call, count in sorted(most.items()) for at in range(1, count + 1)]

    def _run(self, act: Act, options: list[str]) -> list[str]:
        self._number += 1
        self._home = self._scratch / f"home {self._number}"
        shutil.copytree(act.home, self._home)
        quiet = [] if "-o" in options else ["-o", os.devnull]
        command = [
            "strace", "-f", "-qq", "-e", f"trace={_CALLS}", *quiet, *options,
            sys.executable, "-m", "tests.driving.acts", act.name, str(self._home), str(act.file),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
        self._status = done.returncode
        self.kills += done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
        return done.stdout.split()

    def _judge(self, act: Act, at: str, said: list[str]) -> None:
        name = f"{act.name}, {at}"
        try:
            if act.name == "repair":  # killed, it is asked for again
                repair_home(Home(self._home))
            services = build_services(Home(self._home))
            try:
                self.faults += [f"{name}: {fault}" for fault in act.check(services, said)]
                services.library.start(watch=False)
                assert services.library.indexing.wait_until_idle(120)
                services.engine.storage.verify()
                wrong = count_inconsistent(services.engine.documents)
                self.faults += [f"{name}: {wrong} documents are inconsistent"] if wrong else []
            finally:
                services.close()
        except Exception as error:
            self.faults.append(f"{name}: {type(error).__name__}: {error}")
        shutil.rmtree(self._home)


def _chats(services: Services) -> _Chats:
    stored = services.engine.conversations
    return {
        c.conversation_id: [m.message_id for m in stored.messages(c.conversation_id)]
        for c in stored.all()
    }


def _prepared(scratch: Path) -> list[Act]:
    texts, full, behind, empty, damaged = (
        scratch / name for name in ("texts", "full", "behind", "empty", "damaged")
    )
    texts.mkdir()
    for name, text in _TEXTS.items():
        (texts / name).write_text(text)
    acts.index(Home(full), texts)
    with closing(build_services(Home(full))) as services:
        for n in range(_CHATS):
            acts.ask(services, f"When is the lamp lit? ({n})")
    shutil.copytree(full, behind)
    with closing(build_services(Home(full))) as services:
        acts.ask(services, "Who lights the lamp?")
        before = _chats(services)
    shutil.rmtree(behind / "journal")
    shutil.copytree(full / "journal", behind / "journal")
    acts.start(Home(empty), texts)
    backup = scratch / "all.desktop-rag-backup"
    with opened_backups(Home(full)) as (backups, _):
        backups.export(backup, with_index=True)
    shutil.copytree(full, damaged)
    file = library_file(Home(damaged))
    os.truncate(file, file.stat().st_size // 2)
    same, all_or_none = partial(_one_of, [before]), partial(_one_of, [before, {}])
    return [
        Act("start", behind, texts, same),
        Act("upgrade", unpacked(scratch / "old").root, texts, _two_messages),
        Act("import", empty, backup, all_or_none),
        Act("repair", damaged, texts, same),
        Act("snapshot", full, texts, partial(_snapshots_readable, before)),
        Act("index", empty, texts, all_or_none),
        Act("chat", full, texts, _once),
    ]


def _one_of(expected: list[_Chats], services: Services, _said: list[str]) -> list[str]:
    found = _chats(services)
    return [] if found in expected else [f"{len(found)} of {len(expected[0])} chats"]


def _two_messages(services: Services, _said: list[str]) -> list[str]:
    found = [len(messages) for messages in _chats(services).values()]
    return [] if found == [2] else [f"messages: {found}"]


def _snapshots_readable(before: _Chats, services: Services, said: list[str]) -> list[str]:
    for each in services.wing(BackupServices).snapshots.all():
        with opened_archive(each.file, services.engine.precious.schema):
            pass
    return _one_of([before], services, said)


def _once(services: Services, said: list[str]) -> list[str]:
    found = [message for messages in _chats(services).values() for message in messages]
    lost = [message for message in said if found.count(message) != 1]
    return [f"{len(lost)} answers lost or doubled"] if lost else []


def main() -> int:
    """Print each fault, then the figures; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=280)
    arguments = parser.parse_args()
    began_at = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="desktop-rag-calls-") as folder:
        kills = Kills(Path(folder))
        prepared = _prepared(Path(folder))
        kills.refuse(prepared[0])
        told = 0
        for act in prepared:
            kills.run(act, -(-arguments.kills // len(prepared)))
            print("\n".join([*kills.faults[told:], ""]), end="", flush=True)
            told = len(kills.faults)
    print(f"{time.monotonic() - began_at:.0f} s")
    bars = [
        reported("kills", kills.kills),
        reported("refused calls of a start", kills.refusals),
        at_most("faults", 0, len(kills.faults)),
    ]
    print("\n".join(table(bars)))
    return int(bool(kills.faults))


if __name__ == "__main__":
    sys.exit(main())
