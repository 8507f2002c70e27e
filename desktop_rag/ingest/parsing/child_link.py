"""The parent's end of one parser process: starts it, reads its pipes, monitors and ends it.

Used by the thread that asks. A second thread, which ends with the process, receives the frames: a
thread and a queue work the same on every system, unlike waiting on several pipes.
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
from typing import IO

import psutil

from desktop_rag.core.errors import Cancelled
from desktop_rag.ingest.parsing.child_environment import child_environment
from desktop_rag.ingest.parsing.protocol import LENGTH_BYTES, MAX_FRAME_BYTES
from desktop_rag.ingest.parsing.request_channel import RequestSender
from desktop_rag.ingest.read.foundation.read_limits import Reason

log = logging.getLogger(__name__)

_POLL_S = 0.2
_END_S = 10.0
# When this many frames are pending, the child blocks.
_WAITING_FRAMES = 32


class ChildLostError(Exception):
    """The process ended or was ended; `started` is the format it was reading."""

    def __init__(self, reason: Reason, title: str, hint: str = "") -> None:
        super().__init__(f"{title} {hint}")
        self.reason: Reason = reason
        self.title = title
        self.hint = hint
        self.started = ""


class ChildLink:
    """One running parser process."""

    def __init__(self, command: Sequence[str], memory_bytes: int) -> None:
        """Start the process. Raises OSError on failure."""
        self._max_memory_bytes = memory_bytes
        self._frames: queue.Queue[bytes | None] = queue.Queue(_WAITING_FRAMES)
        self._requests = RequestSender()
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=self._requests.stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
                # A separate process group, so that ending it also ends its children.
                start_new_session=sys.platform != "win32",
                creationflags=_NO_WINDOW,
            )
        except BaseException:
            self._requests.close()
            raise
        self._requests.attach(self._process)
        self._has_ended = False
        self._reader = threading.Thread(target=self._take_in, name="parser-frames", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def send(self, line: bytes, descriptor: int | None = None) -> None:
        """Send one request, with the file to read. Raises ChildLostError when the process ended.

        The caller closes its own copy of the descriptor.
        """
        try:
            self._requests.send(line, descriptor)
        except OSError as exc:
            raise self._crashed() from exc

    def receive(self, deadline: float, cancel: threading.Event | None) -> bytes:
        """The next frame. Raises ChildLostError or Cancelled, after ending the process.

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
        """End the process and its children at once. Does nothing if it has already ended."""
        if self._has_ended:
            return
        self._has_ended = True
        _end_tree(self._process.pid)
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            # It is blocked in a system call, on a dead network drive for example.
            log.warning("the parser process %s can't be ended", self._process.pid)
            return
        deadline = time.monotonic() + _END_S
        while self._reader.is_alive() and time.monotonic() < deadline:
            # The reader thread may be blocked on a full queue.
            with contextlib.suppress(queue.Empty):
                self._frames.get_nowait()
            self._reader.join(_POLL_S / 10)
        self._requests.close()
        if not self._reader.is_alive():
            _pipe(self._process.stdout).close()

    def _take_in(self) -> None:
        """Queue the frames, and None at the end. Runs on the reader thread."""
        pipe = _pipe(self._process.stdout)
        while length_bytes := _exactly(pipe, LENGTH_BYTES):
            length = int.from_bytes(length_bytes, "big")
            if not 0 < length <= MAX_FRAME_BYTES:
                # Not a frame; the decoder reports it.
                self._frames.put(b"")
                return
            body = _exactly(pipe, length)
            if not body:
                break
            self._frames.put(body)
        self._frames.put(None)

    def memory_bytes(self) -> int:
        """The resident memory of the process; 0 when it is ending, which the pipe shows."""
        try:
            return psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return 0

    def _check_memory(self) -> None:
        if self.memory_bytes() > self._max_memory_bytes:
            self.end()
            raise ChildLostError("too large", "Reading the file takes too much memory")

    def _crashed(self) -> ChildLostError:
        # If it is about to exit by itself, its own exit code is more informative.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_POLL_S)
        self.end()
        code = self._process.returncode
        with contextlib.suppress(ValueError):
            code = signal.Signals(-code).name if code < 0 else code
        hint = f"It may be damaged, or hold more than fits the memory ({code})."
        return ChildLostError("crashed", "The file crashes its reader", hint)


_NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    """Exactly this many bytes, or none if the pipe ends earlier."""
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
