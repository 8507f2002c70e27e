"""The parent's hold on one parser process: starting it, its pipes, watching it, ending it.

Used by the thread that asks. Another one, which ends with the process, takes in the frames: a
thread and a queue work alike on every system, where waiting on several pipes does not.
"""

import contextlib
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import psutil

import desktop_rag
from desktop_rag.core.errors import Cancelled
from desktop_rag.ingest.parsing.protocol import LENGTH_BYTES, MAX_FRAME_BYTES
from desktop_rag.ingest.read.foundation.read_limits import Reason

log = logging.getLogger(__name__)

_POLL_S = 0.2
_END_S = 10.0
# When they are not fetched the child has to wait with the next one.
_WAITING_FRAMES = 32


class ChildLostError(Exception):
    """The process is gone or was ended, and why. `started` is the format it was reading."""

    def __init__(self, reason: Reason, title: str, hint: str = "") -> None:
        super().__init__(f"{title} {hint}")
        self.reason: Reason = reason
        self.title = title
        self.hint = hint
        self.started = ""


class ChildLink:
    """One running parser process."""

    def __init__(self, command: Sequence[str], memory_bytes: int) -> None:
        """Start it. Raises OSError if that is impossible."""
        self._memory_bytes = memory_bytes
        self._frames: queue.Queue[bytes | None] = queue.Queue(_WAITING_FRAMES)
        self._process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            # A group of its own, so that ending it ends what it may have started.
            start_new_session=sys.platform != "win32",
            creationflags=_NO_WINDOW,
        )
        self._has_ended = False
        self._reader = threading.Thread(target=self._take_in, name="parser-frames", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended by itself."""
        return self._process.poll() is None

    def send(self, line: bytes) -> None:
        """Hand over one request. Raises ChildLostError if the process is gone."""
        try:
            _pipe(self._process.stdin).write(line + b"\n")
        except OSError as exc:
            raise self._crashed() from exc

    def receive(self, deadline: float, cancel: threading.Event | None) -> bytes:
        """The next frame. Raises ChildLostError or Cancelled; after that the process has ended.

        `deadline` is in the time of `time.monotonic`.
        """
        while True:
            if cancel is not None and cancel.is_set():
                self.end()
                raise Cancelled
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                self.end()
                raise ChildLostError("timeout", "Reading the file takes too long")
            try:
                frame = self._frames.get(timeout=min(_POLL_S, left_s))
            except queue.Empty:
                self._check_memory()
                continue
            if frame is None:
                raise self._crashed()
            return frame

    def end(self) -> None:
        """End the process and all it started, at once. Harmless when it has ended before."""
        if self._has_ended:
            return
        self._has_ended = True
        _end_tree(self._process.pid)
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            # It hangs inside the system, on a dead network drive for example.
            log.warning("the parser process %s can't be ended", self._process.pid)
            return
        deadline = time.monotonic() + _END_S
        while self._reader.is_alive() and time.monotonic() < deadline:
            # It may be waiting for room.
            with contextlib.suppress(queue.Empty):
                self._frames.get_nowait()
            self._reader.join(_POLL_S / 10)
        _pipe(self._process.stdin).close()
        if not self._reader.is_alive():
            _pipe(self._process.stdout).close()

    def _take_in(self) -> None:
        """Frames into the queue, None at the end. Runs on the reader thread."""
        pipe = _pipe(self._process.stdout)
        while length_bytes := _exactly(pipe, LENGTH_BYTES):
            length = int.from_bytes(length_bytes, "big")
            if not 0 < length <= MAX_FRAME_BYTES:
                # No frame at all, which whoever decodes it will notice.
                self._frames.put(b"")
                return
            body = _exactly(pipe, length)
            if not body:
                break
            self._frames.put(body)
        self._frames.put(None)

    def _check_memory(self) -> None:
        try:
            used_bytes = psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return  # It is ending; the pipe will tell.
        if used_bytes > self._memory_bytes:
            self.end()
            raise ChildLostError("too large", "Reading the file takes too much memory")

    def _crashed(self) -> ChildLostError:
        # Its own end, if it is about to come, tells more than ours.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_POLL_S)
        self.end()
        code = self._process.returncode
        with contextlib.suppress(ValueError):
            code = signal.Signals(-code).name if code < 0 else code
        hint = f"It may be damaged, or hold more than fits the memory ({code})."
        return ChildLostError("crashed", "The file crashes its reader", hint)


_NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)


def _environment() -> dict[str, str]:
    """Ours, with this package importable and no module taken from the working directory."""
    root = str(Path(desktop_rag.__file__ or "").resolve().parent.parent)
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
        # Each thread of a library would reserve address space of its own, which is limited.
        "MALLOC_ARENA_MAX": "2",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    """So many bytes, or none if the pipe ends before."""
    pieces: list[bytes] = []
    left = size
    while left and (piece := pipe.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"" if left else b"".join(pieces)


def _end_tree(pid: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        return
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in [*process.children(recursive=True), process]:
            with contextlib.suppress(psutil.Error):
                member.kill()
