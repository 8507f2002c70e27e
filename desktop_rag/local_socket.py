"""The place of the running app's socket, and the user at its other end. Any thread."""

import ctypes
import os
import socket
import stat
import struct
import sys
import tempfile
from hmac import digest
from multiprocessing.connection import Connection
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.private_files import close_to_others
from desktop_rag.core.paths import Home

# The limit for the path of a Unix socket is 104 bytes on macOS, 108 on Linux.
_LONGEST_ADDRESS = 100
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_CREDENTIALS = struct.Struct("iII")  # process, user and group: the `ucred` of Linux


def address_of(home: Home) -> str:
    """The address for this home: inside it or, if that path is too long, in a private folder."""
    name = digest(b"desktop-rag", os.fsencode(home.root.absolute()), "sha256").hex()[:16]
    if sys.platform == "win32":
        return rf"\\.\pipe\desktop-rag-{name}"
    if _fits(home.socket):
        return str(home.socket)
    # The system empties this folder at log-out and gives it to this user alone.
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}")
    in_runtime = runtime / f"desktop-rag-{name}.sock"
    if _is_private(runtime) and _fits(in_runtime):
        return str(in_runtime)
    return str(Path(tempfile.gettempdir()) / f"desktop-rag-{os.geteuid()}" / f"{name}.sock")


def clear_address(home: Home) -> str:
    """The address to listen at, without the socket that a crashed app left.

    Raises AppError when the folder belongs to another user or is open to others, since then
    another program could answer in place of this one.
    """
    address = address_of(home)
    if sys.platform == "win32":
        return address
    folder = Path(address).parent
    try:
        if folder != home.root:
            folder.mkdir(mode=0o700, exist_ok=True)
        if not can_be_listened_at(home, address):
            raise AppError(
                "The command line cannot reach this window.",
                f"{folder} is not a folder of this user alone. Remove it and start again.",
            )
        Path(address).unlink(missing_ok=True)
    except OSError as exc:
        raise AppError("The command line cannot reach this window.", str(exc)) from exc
    return address


def close_address(address: str) -> None:
    """Take the rights of others from the socket, whatever the mask of the process is."""
    if sys.platform != "win32":
        close_to_others(Path(address))


def can_be_listened_at(home: Home, address: str) -> bool:
    """False when the folder of the address is not this user's alone."""
    folder = Path(address).parent
    return sys.platform == "win32" or folder == home.root or _is_private(folder)


def is_same_user(connection: Connection) -> bool:
    """True when the process at the other end is one of this user.

    Windows does not tell, so there the proofs of both sides have to do.
    """
    if sys.platform == "win32":
        return True
    if sys.platform == "linux":
        with socket.socket(fileno=os.dup(connection.fileno())) as end:
            told = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return _CREDENTIALS.unpack(told)[1] == os.geteuid()
    user, group = ctypes.c_uint32(), ctypes.c_uint32()
    failed = ctypes.CDLL(None).getpeereid(
        connection.fileno(), ctypes.byref(user), ctypes.byref(group)
    )
    return not failed and user.value == os.geteuid()


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= _LONGEST_ADDRESS


def _is_private(folder: Path) -> bool:
    """True for a real folder, no link, of this user alone."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return is_ours and not status.st_mode & _OTHERS
