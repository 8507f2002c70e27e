"""The files and addresses that a process asks the system for, as strace sees them.

Hooks of Python miss native code: libxml2, PDFium and Qt open files themselves.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
_CALLS = "open,openat,openat2,creat,stat,lstat,newfstatat,statx,access,faccessat,%network"


class SystemCalls:
    """The calls of one process with its children, written to a log."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._first = 0

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The watched command that runs Python with these arguments."""
        watching = ["-f", "--seccomp-bpf", "-qq", "-s", "1000", "-e", f"trace={_CALLS}"]
        return ["strace", *watching, "-o", str(self._log), sys.executable, *arguments]

    def leave_out_earlier(self) -> None:
        """Look at what follows only: the start of a process touches devices of its own."""
        self._first += len(self.lines())

    def naming(self, *names: str) -> list[str]:
        """The calls that name one of these files or addresses."""
        return [line for line in self.lines() if any(name in line for name in names)]

    def connections(self) -> list[str]:
        """The attempts to reach another computer, or to look one up."""
        return [line for line in self.lines() if "AF_INET" in line]

    def lines(self) -> list[str]:
        """One call per line."""
        return self._log.read_text(errors="replace").splitlines()[self._first :]
