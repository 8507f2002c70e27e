"""Limits the files that a parser process can open, by Landlock. Linux only.

It holds for this thread and those that it starts from now on. What was opened before, and what the
parent passes, stays readable.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# The numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

READ_FILES = 1 << 2
READ_FOLDERS = 1 << 3
# Rights that each version adds to those of the one before.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_NETWORK_VERSION, _NETWORK_RIGHTS = 4, 0b11
_SCOPE_VERSION, _SCOPES = 6, 0b11


def version() -> int:
    """The version of Landlock in this kernel, 0 without it."""
    return max(0, _call(_CREATE_RULESET, None, 0, _ASK_VERSION))


def limit_files(readable: Iterable[Path], listable: Iterable[Path] = ()) -> bool:
    """Allow to read only what is `readable`, and to list the folders below what is `listable`.

    Nothing can be written, created, removed or executed. False when the kernel can't do it.
    """
    found = version()
    if not found:
        return False
    rights = sum(added for since, added in _FILE_RIGHTS.items() if since <= found)
    network = _NETWORK_RIGHTS if found >= _NETWORK_VERSION else 0
    scopes = _SCOPES if found >= _SCOPE_VERSION else 0
    # Fields that a kernel does not know must be zero.
    attributes = struct.pack("=QQQ", rights, network, scopes)
    ruleset = _call(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow(ruleset, path, READ_FILES | READ_FOLDERS)
        for path in listable:
            _allow(ruleset, path, READ_FOLDERS)
        libc = ctypes.CDLL(None, use_errno=True)
        return not libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) and not _call(
            _RESTRICT_SELF, ruleset, 0
        )
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    with suppress(OSError):  # It does not exist here.
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not path.is_dir():
                rights &= READ_FILES
            _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
        finally:
            os.close(descriptor)


def _call(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    passed = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = libc.syscall(ctypes.c_long(number), *passed)
    return result
