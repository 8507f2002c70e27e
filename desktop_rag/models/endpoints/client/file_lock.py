"""A lock that processes share, for a moment, beside a small file. Any thread, but not the window's.

The system releases it when its holder dies.
"""

import contextlib
import logging
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO

log = logging.getLogger(__name__)

# Holders read and write a small file: a longer wait means that one was halted.
_LONGEST_WAIT_S = 2.0
_RETRY_S = 0.005


@contextlib.contextmanager
def locked(path: Path | None) -> Generator[None]:
    """Hold the lock of this file, kept in another one since the file itself gets replaced.

    Goes on without the lock when the file system has none or a halted process holds it: a count
    that may be wrong is better than no answer. Without a path there is nobody to share with.
    """
    if path is None:
        yield
        return
    try:
        file = path.with_suffix(".lock").open("ab")
    except OSError as exc:
        log.info("%s is used without a lock: %s", path.name, exc.strerror)
        yield
        return
    with file:
        if not _acquired(file):
            log.info("%s is used without a lock", path.name)
        yield


def _acquired(file: IO[bytes]) -> bool:
    deadline = time.monotonic() + _LONGEST_WAIT_S
    while time.monotonic() < deadline:
        try:
            _acquire(file)
        except BlockingIOError:
            time.sleep(_RETRY_S)
        except OSError as exc:
            log.info("no lock: %s", exc.strerror)
            return False
        else:
            return True
    return False


if sys.platform == "win32":
    import msvcrt

    def _acquire(file: IO[bytes]) -> None:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as exc:
            raise BlockingIOError from exc

else:
    import fcntl

    def _acquire(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
