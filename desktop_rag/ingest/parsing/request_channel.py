"""Carries requests to the parser process, each with the opened file to read.

A socket pair on Linux and macOS, over which a descriptor passes, so that the process needs no right
to open documents. Elsewhere a pipe: the process opens the file by its path.
"""

import os
import socket
import stat
import subprocess
import sys
from subprocess import Popen

_READ_BYTES = 64 * 1024
_MAX_DESCRIPTORS = 4
CAN_PASS_FILES = sys.platform != "win32"


class RequestSender:
    """The parent's end."""

    def __init__(self) -> None:
        self._ours: socket.socket | None = None
        self._theirs: socket.socket | None = None
        self._process: Popen[bytes] | None = None
        if CAN_PASS_FILES:
            self._ours, self._theirs = socket.socketpair()

    @property
    def stdin(self) -> int:
        """The standard input of the process to start."""
        return self._theirs.fileno() if self._theirs is not None else subprocess.PIPE

    def attach(self, process: "Popen[bytes]") -> None:
        """Send to this process, which was started with `stdin`."""
        self._process = process
        self._close_theirs()

    def send(self, line: bytes, descriptor: int | None) -> None:
        """Send one request and the file it is about. Raises OSError when nobody reads it."""
        content = line + b"\n"
        if self._ours is None:
            assert self._process is not None
            assert self._process.stdin is not None
            self._process.stdin.write(content)
            return
        sent = 0
        if CAN_PASS_FILES and descriptor is not None:
            sent = socket.send_fds(self._ours, [content], [descriptor])
        # Nothing is left as a rule: the process may have ended by now, which its answer tells.
        if sent < len(content):
            self._ours.sendall(content[sent:])

    def close(self) -> None:
        """Close both ends. A process that is still running takes it as its end."""
        self._close_theirs()
        if self._ours is not None:
            self._ours.close()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _close_theirs(self) -> None:
        if self._theirs is not None:
            self._theirs.close()
            self._theirs = None


class RequestReceiver:
    """The end of the parser process: its standard input."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        if CAN_PASS_FILES and stat.S_ISSOCK(os.fstat(0).st_mode):
            self._socket = socket.socket(fileno=0)

    def receive(self) -> tuple[bytes, list[int]]:
        """The next bytes and the descriptors that came with them; no bytes at the end."""
        if CAN_PASS_FILES and self._socket is not None:
            received, descriptors, _, _ = socket.recv_fds(
                self._socket, _READ_BYTES, _MAX_DESCRIPTORS
            )
            return received, descriptors
        # Not through sys.stdin, because its lock would be held while the process ends.
        return os.read(0, _READ_BYTES), []
