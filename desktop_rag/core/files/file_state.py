"""The state of a file on the disk: its metadata, and the hash of its content. Any thread."""

import errno
import hashlib
import os
from pathlib import Path
from stat import S_ISREG

from desktop_rag.core.domain import FileStat


def stat_of(path: Path) -> FileStat:
    """Size, time and inode of the file itself; OSError when it is gone."""
    found = path.stat()
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino)


def _open_nonblocking(path: str, flags: int) -> int:
    # Opening a named pipe would wait for a writer.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def hash_of(path: Path) -> str:
    """The hash of a file's content; OSError when it can't be read or is no longer a file."""
    with open(path, "rb", opener=_open_nonblocking) as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
