"""Memory of this process and of a local model server while an answer is made. Owns a thread."""

import os
import threading
from types import TracebackType
from urllib.parse import urlsplit

import psutil

from desktop_rag.core.experiments.run import Memory

_EVERY_S = 0.1
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class MemoryMeter:
    """Looks ten times a second between `__enter__` and `__exit__`."""

    def __init__(self, server_pid: int = 0) -> None:
        """`server_pid` is 0 for a server elsewhere or unknown."""
        self._pids = (os.getpid(), server_pid)
        self._seen: tuple[list[int], list[int]] = ([], [])
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="memory-meter", daemon=True)

    def __enter__(self) -> "MemoryMeter":
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()
        self._look()

    @property
    def app(self) -> Memory:
        """The memory of this process."""
        return _memory(self._seen[0])

    @property
    def server(self) -> Memory:
        """The memory of the server, without the processes that it started."""
        return _memory(self._seen[1])

    def _work(self) -> None:
        while not self._is_over.wait(_EVERY_S):
            self._look()

    def _look(self) -> None:
        for pid, seen in zip(self._pids, self._seen, strict=True):
            if pid:
                try:
                    seen.append(psutil.Process(pid).memory_info().rss)
                except psutil.Error:
                    continue


def server_pid(base_url: str) -> int:
    """The process on this computer that listens at an address; 0 where there is none or no right.

    0 also for this process itself, whose memory is known.
    """
    parts = urlsplit(base_url)
    if parts.hostname not in _LOOPBACK:
        return 0
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return 0
    for connection in found:
        is_listening = connection.status == psutil.CONN_LISTEN
        is_there = is_listening and connection.laddr and connection.laddr.port == port
        if is_there and connection.pid != os.getpid():
            return connection.pid or 0
    return 0


def _memory(seen: list[int]) -> Memory:
    return Memory(max(seen), sum(seen) // len(seen)) if seen else Memory()
