"""Parser processes that outlive a test: starting one takes a second of processor time.

An idle process keeps nothing of the files it has read, so it goes to a pool instead of ending. One
that is reading, that failed, or that runs a command of a test's own ends as always.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from desktop_rag.ingest.parsing import parser_process
from desktop_rag.ingest.parsing.parser_process import ChildLink, worker_command
from desktop_rag.ingest.parsing.protocol import Limits

_MOST_ANSWERS = 200
_shared: list["_SharedChild"] = []
_lock = threading.Lock()


@contextmanager
def shared_parser_processes() -> Iterator[None]:
    """Within it, a new ParserProcess takes an idle process from the pool."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser_process, "ChildLink", _take_or_start)
        yield
    while _shared:
        _shared.pop().end_for_good()


def belongs_to_the_pool(thread: threading.Thread) -> bool:
    """True for a thread that reads from a process of the pool."""
    with _lock:
        return any(thread is child.thread for child in _shared)


def _take_or_start(command: Sequence[str], memory_bytes: int) -> ChildLink:
    if command != worker_command() or memory_bytes != Limits().memory_bytes:
        return ChildLink(command, memory_bytes)
    with _lock:
        while _shared:
            if (child := _shared.pop()).is_running:
                return child
    return _SharedChild(command, memory_bytes)


class _SharedChild(ChildLink):
    def __init__(self, command: Sequence[str], memory_bytes: int) -> None:
        super().__init__(command, memory_bytes)
        self._has_started = self._is_idle = False
        self._answers = 0
        self._ready = b""

    @property
    def thread(self) -> threading.Thread:
        return self._reader

    def send(self, line: bytes, descriptor: int | None = None) -> None:
        self._is_idle = False
        super().send(line, descriptor)

    def receive(self, deadline: float, cancel: threading.Event | None) -> bytes:
        if self._has_started and self._is_idle:
            return self._ready
        frame = super().receive(deadline, cancel)
        if not self._has_started:
            self._has_started, self._ready = True, frame
        message = json.loads(frame)
        is_answered = not message.keys().isdisjoint(("done", "error"))
        self._is_idle = is_answered and not message.get("is_last")
        self._answers += self._is_idle
        return frame

    def end(self) -> None:
        if not self._is_idle or self._answers > _MOST_ANSWERS or not self.is_running:
            super().end()
            return
        with _lock:
            if self not in _shared:
                _shared.append(self)

    def end_for_good(self) -> None:
        self._is_idle = False
        self.end()
