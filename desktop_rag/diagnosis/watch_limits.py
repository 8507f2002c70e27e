"""Compares the system's limits for watching with the number of folders below the sources.

Only Linux has such limits: one watch for each folder.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.diagnosis.patience import within
from desktop_rag.diagnosis.subject import Subject

LIMITS = Path("/proc/sys/fs/inotify")
# Other programs of the person, such as editors, watch folders too.
_SAFE_SHARE = 0.75
_ANSWER_S = 60.0
_ROOMY = 524_288
_POLLED = "Folders beyond the limit are compared with the disk at intervals instead."


def check_watching(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """One finding about both limits."""
    if sys.platform != "linux":
        title = "This system has no limit for watching folders."
        yield Finding("watching", State.NOT_CHECKED, title)
    elif subject.library is None:
        yield Finding("watching", State.NOT_CHECKED, "The list of folders cannot be read.")
    else:
        roots = [s.path for s in subject.library.sources.sources() if s.is_on_disk]
        yield watching(roots, cancel)


def watching(
    roots: list[Path],
    cancel: Event,
    limits: Path = LIMITS,
    can_watch: Callable[[], bool] | None = None,
) -> Finding:
    """The finding for these sources."""
    try:
        most = int((limits / "max_user_watches").read_text())
        instances = int((limits / "max_user_instances").read_text())
    except (OSError, ValueError):
        return Finding("watching", State.NOT_CHECKED, "The system does not tell its limits.")
    if not (can_watch or _can_watch)():
        title = f"No program may begin to watch folders: all {instances:,} watchers are in use."
        return Finding("watching", State.WARNING, title, _hint("max_user_instances", 1024))
    need = within(_ANSWER_S, lambda: _folders(roots, most, cancel), otherwise=-1)
    if need < 0:
        return Finding("watching", State.NOT_CHECKED, "A folder does not answer.")
    if need > most:
        title = f"There are more folders than the {most:,} that the system watches."
        return Finding("watching", State.WARNING, title, _hint("max_user_watches", _more(need)))
    told = (
        f"1 folder is watched of the {most:,} that the system allows"
        if need == 1
        else f"{need:,} folders are watched of the {most:,} that the system allows"
    )
    if need > _SAFE_SHARE * most:
        title = f"{told}, and other programs need some."
        return Finding("watching", State.WARNING, title, _hint("max_user_watches", _more(need)))
    return Finding("watching", State.OK, f"{told}.")


def _hint(name: str, value: int) -> str:
    return f"{_POLLED} Raise the limit: sudo sysctl fs.inotify.{name}={value}"


def _more(need: int) -> int:
    return max(_ROOMY, 1 << (2 * need).bit_length())


def _folders(roots: list[Path], most: int, cancel: Event) -> int:
    """The number of folders below these, counted until the limit is passed."""
    count = 0
    for root in roots:
        for _ in os.walk(root):
            count += 1
            if count > most or cancel.is_set():
                return count
    return count


def _can_watch() -> bool:
    """True when this process may make a watcher; the running app already has one."""
    system = ctypes.CDLL(None, use_errno=True)
    descriptor = system.inotify_init1(os.O_CLOEXEC)
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True
