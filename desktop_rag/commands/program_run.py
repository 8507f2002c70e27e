"""Runs a registered program: no shell, a time limit, little environment, bounded output.

Worker threads.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.private_files import persons_mask

MOST_OUTPUT_BYTES = 64 * 1024
_CHUNK = 8192
_LOOK_S = 0.05
# A program that is gone may have left another one that holds its output open.
_AFTER_END_S = 1.0
_KEPT_NAMES = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "USER", "LOGNAME")
_KEPT_ON_WINDOWS = ("SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP",
                    "TMP", "COMSPEC", "PATHEXT")  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended: its exit status, its output, whether a limit ended it."""

    status: int
    output: str
    is_cut: bool = False
    is_late: bool = False
    is_stopped: bool = False


def run_program(
    path: Path, arguments: Sequence[str], folder: Path, timeout_s: float, stop: threading.Event
) -> ProgramEnd:
    """Run it and wait; it is ended after `timeout_s` and when `stop` is set.

    What it started is ended with it, where the system has groups of processes. AppError when it
    can't be started.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with persons_mask():
            process = subprocess.Popen(
                [str(path), *arguments],
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                creationflags=_creation_flags(),
            )
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise AppError(f"{path!s} can't be started.", f"{reason}.") from exc
    assert isinstance(process.stdout, BufferedReader)
    reader = _Reader(process.stdout)
    ends = time.monotonic() + timeout_s
    while process.poll() is None and time.monotonic() < ends and not stop.wait(_LOOK_S):
        pass
    is_over = process.poll() is not None
    _end(process)
    status = process.wait()
    reader.join(_AFTER_END_S)
    is_stopped = not is_over and stop.is_set()
    return ProgramEnd(
        status, reader.text, reader.is_cut, not is_over and not is_stopped, is_stopped
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and, where there are groups, what it started."""
    if sys.platform == "win32":
        process.kill()
        return
    # There are none when all of them have ended.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class _Reader(threading.Thread):
    """Reads the output to its end, and keeps the beginning of it."""

    def __init__(self, output: BufferedReader) -> None:
        super().__init__(name="program-output", daemon=True)
        self._output = output
        self._kept = bytearray()
        self.is_cut = False
        self.start()

    @property
    def text(self) -> str:
        """What was kept, without characters that a terminal would obey."""
        text = bytes(self._kept).decode("utf-8", "replace").replace("\r\n", "\n")
        return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text).strip()

    def run(self) -> None:
        with self._output:
            while chunk := self._output.read1(_CHUNK):
                room = MOST_OUTPUT_BYTES - len(self._kept)
                self._kept += chunk[:room]
                self.is_cut = self.is_cut or len(chunk) > room


def _environment() -> dict[str, str]:
    """No key and no token of the app's, nor anything else a program doesn't need."""
    if sys.platform == "win32":
        kept = {name: os.environ[name] for name in _KEPT_ON_WINDOWS if name in os.environ}
        root = kept.get("SYSTEMROOT", "C:\\Windows")
        return {**kept, "PATH": f"{root}\\System32;{root}"}
    kept = {name: os.environ[name] for name in _KEPT_NAMES if name in os.environ}
    return {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW
    return 0
