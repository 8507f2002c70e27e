"""What changes a home, each as a process of its own that may be killed at any system call.

python -m tests.driving.acts ACT HOME [FILE]
"""

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from desktop_rag.app import build_services
from desktop_rag.core.paths import Home
from tests.asking import ask

_IDLE_S = 120.0
QUESTION = "When is the lamp lit?"


def start(home: Home, _file: Path) -> None:
    """Open everything, and wait until nothing is left to do."""
    with closing(build_services(home)) as services:
        services.library.start(watch=False)
        indexing = services.library.indexing
        while not (indexing.wait_until_idle(0.1) or indexing.is_retrying_later):
            pass


def index(home: Home, folder: Path) -> None:
    """Add a folder."""
    with closing(build_services(home)) as services:
        services.library.sources.add(folder)
        services.library.start(watch=False)
        assert services.library.indexing.wait_until_idle(_IDLE_S)


def chat(home: Home, _file: Path) -> None:
    """Ask three questions in a new chat; the id of each stored answer is said."""
    with closing(build_services(home)) as services:
        chat_id = ""
        for _ in range(3):
            answer = ask(services, QUESTION, conversation_id=chat_id)
            chat_id = answer.conversation_id
            sys.stdout.write(f"{answer.message_id}\n")
            sys.stdout.flush()


def bring_in(home: Home, file: Path) -> None:
    """Import a backup with its index."""
    from desktop_rag.features.backup.services import opened_backups

    with opened_backups(home) as (backups, _):
        backups.import_file(file, takes_index=True)


def repair(home: Home, _file: Path) -> None:
    """Repair the library."""
    from desktop_rag.features.diagnosis.repair import repair_home

    repair_home(home)


def snapshot(home: Home, _file: Path) -> None:
    """Make the snapshot of the day."""
    from desktop_rag.features.backup.services import opened_backups

    with opened_backups(home) as (_, snapshots):
        snapshots.make()


ACTS: dict[str, Callable[[Home, Path], None]] = {
    "start": start,
    "upgrade": start,
    "index": index,
    "chat": chat,
    "import": bring_in,
    "repair": repair,
    "snapshot": snapshot,
}


if __name__ == "__main__":
    act, home, file = sys.argv[1], sys.argv[2], sys.argv[3]
    ACTS[act](Home(Path(home)), Path(file))
