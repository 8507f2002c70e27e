"""Keeps what the app writes to this user alone. Any thread.

A mask for the whole process, and not a mode at each file: the database engine creates its log and
its temporary files itself, again and again, and asks nobody for their modes. Only entry points set
it, so a program that uses the package as a library keeps its own mask.
"""

import contextlib
import logging
import os
import stat
import threading
from collections.abc import Generator
from pathlib import Path

log = logging.getLogger(__name__)

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_switching = threading.RLock()
# The mask of the person's shell or desktop; a mask belongs to the process, and so does this.
_masks_before: list[int] = []


def keep_files_private() -> None:
    """Create files for this user alone from now on. For the start of a process of the app."""
    with _switching:
        before = os.umask(_OTHERS)
        if not _masks_before:
            _masks_before.append(before)


@contextlib.contextmanager
def persons_mask() -> Generator[None]:
    """The mask from before `keep_files_private`: for exports, and for programs opened for a file.

    Files that other threads create meanwhile are in the home, which is closed to others.
    """
    with _switching:
        ours = os.umask(_masks_before[0]) if _masks_before else None
        try:
            yield
        finally:
            if ours is not None:
                os.umask(ours)


def close_to_others(path: Path) -> None:
    """Take the rights of others from a file, or from a folder and so from all that it holds."""
    try:
        mode = path.stat().st_mode
        if os.name == "posix" and mode & _OTHERS:
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
    except FileNotFoundError:
        pass  # removed meanwhile
    except OSError as exc:
        # A file system without modes, or the file of another user: not the app's to change.
        log.warning("%s stays open to other users: %s", path, exc.strerror)
