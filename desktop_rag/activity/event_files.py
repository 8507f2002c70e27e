"""The files of the event log: numbered, one event a line, bounded in bytes and days.

One thread writes; any thread reads. The files are ordered by their numbers, so that a clock that is
set back changes nothing.
"""

import errno
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from desktop_rag.activity.activity_event import ActivityEvent
from desktop_rag.core.changes import Changes
from desktop_rag.core.errors import os_error_as
from desktop_rag.core.records import readable

log = logging.getLogger(__name__)

T = TypeVar("T")
_NAME = re.compile(r"events-(\d{6,})\.jsonl")
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class LogLimits:
    """The limits of the log: bytes of one file and of all, and days until an event is removed."""

    file_bytes: int = 1_000_000
    total_bytes: int = 8_000_000
    days: int = 90


class EventFiles:
    """Appends lines to the newest file, begins another one each day, and removes the oldest."""

    def __init__(
        self, folder: Path, limits: LogLimits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """The folder is created with the first line. `clock` returns Unix time."""
        self._folder = folder
        self._limits = limits or LogLimits()
        self._clock = clock
        # The newest file as this object left it; None when the disk has to be asked.
        self._newest: _Newest | None = None

    def append(self, line: bytes) -> None:
        """Append one line, which ends with a line feed.

        OSError when it can't be written. A part of it may be; readers skip that.
        """
        newest, self._newest = self._newest or self._found(), None
        day = _day_of(self._clock())
        if newest.day != day or newest.size + len(line) > self._limits.file_bytes:
            newest = _Newest(newest.number + 1, 0, day, is_cut=False)
            self._remove_old(newest.number)
        whole = b"\n" + line if newest.is_cut else line
        _append(self._path(newest.number), whole)
        self._newest = _Newest(newest.number, newest.size + len(whole), day, is_cut=False)

    def newest_first(self) -> Iterator[bytes]:
        """Every line, the last one first. A file that can't be read is skipped."""
        for number in reversed(self._numbers()):
            try:
                content = self._path(number).read_bytes()
            except OSError as exc:
                log.info("events were not read: %s", exc.strerror)
                continue
            yield from (line for line in reversed(content.split(b"\n")) if line)

    def rows(self, kind: type[T]) -> Iterator[T]:
        """The lines as records of this kind, the last one first; others may have edited some."""
        for line in self.newest_first():
            try:
                row = readable(kind, json.loads(line), mends=True)
            except (ValueError, RecursionError):
                continue
            if row:
                yield row

    def delete_all(self) -> None:
        """Remove every file. OSError when one can't be removed; nobody may write meanwhile."""
        self._newest = None
        for number in self._numbers():
            self._path(number).unlink(missing_ok=True)

    def _found(self) -> "_Newest":
        self._folder.mkdir(mode=0o700, exist_ok=True)
        numbers = self._numbers()
        if not numbers:
            return _Newest(1, 0, _day_of(self._clock()), is_cut=False)
        path = self._path(numbers[-1])
        self._remove_old(numbers[-1])
        status = path.stat()
        return _Newest(
            numbers[-1], status.st_size, _day_of(status.st_mtime), is_cut=_is_cut_off(path)
        )

    def _remove_old(self, kept_number: int) -> None:
        """Remove files beyond the limits, leaving room for a full one of the kept number."""
        left_bytes = self._limits.total_bytes - self._limits.file_bytes
        oldest = self._clock() - self._limits.days * _DAY_S
        for number in reversed(self._numbers()):
            if number >= kept_number:
                continue
            status = self._path(number).stat()
            left_bytes -= status.st_size
            if left_bytes < 0 or status.st_mtime < oldest:
                self._path(number).unlink(missing_ok=True)

    def _numbers(self) -> list[int]:
        try:
            names = [_NAME.fullmatch(path.name) for path in self._folder.iterdir()]
        except OSError:
            return []
        return sorted(int(name[1]) for name in names if name)

    def _path(self, number: int) -> Path:
        return self._folder / f"events-{number:06}.jsonl"


@dataclass(frozen=True, slots=True)
class _Newest:
    """The file being written: its number, bytes, day, and whether its last line has no end."""

    number: int
    size: int
    day: str
    is_cut: bool


def _day_of(moment: float) -> str:
    return datetime.fromtimestamp(moment).astimezone().date().isoformat()


def _append(path: Path, line: bytes) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        if os.write(descriptor, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)


def _is_cut_off(path: Path) -> bool:
    """True when the last line has no end, as after a crash or on a full disk."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


# A disk that hangs must not fill the memory.
_MOST_PENDING = 10_000
_FLUSH_S = 5.0


class EventLog:
    """Keeps events in order. The thread starts with the first event and ends with `close`.

    It publishes each ActivityEvent to `changes` once it is written.
    """

    def __init__(self, files: EventFiles, changes: Changes | None = None) -> None:
        self._files = files
        self.changes = changes or Changes()
        self._files_lock = threading.Lock()
        self._condition = threading.Condition()
        self._pending: list[ActivityEvent] = []
        self._is_writing = self._is_closed = False
        self._thread: threading.Thread | None = None
        self._has_failed = False

    def append(self, event: ActivityEvent) -> None:
        """Have the event written soon; it is lost when the disk is full or the log is closed."""
        with self._condition:
            if self._is_closed or len(self._pending) >= _MOST_PENDING:
                return
            self._pending.append(event)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="event-log", daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def newest_first(self) -> Iterator[ActivityEvent]:
        """The written events, the last one first. Lines that are no events are skipped."""
        return self._files.rows(ActivityEvent)

    def flush(self) -> None:
        """Wait until the events so far are written, for a few seconds at most."""
        with self._condition:
            self._condition.wait_for(lambda: not (self._pending or self._is_writing), _FLUSH_S)

    def delete_all(self) -> None:
        """Remove every event, pending ones too. AppError when a file can't be removed."""
        self.flush()
        with os_error_as("The recorded activity could not be deleted."), self._files_lock:
            self._files.delete_all()

    def close(self) -> None:
        """Write the events so far, for some seconds at most; later ones are dropped. Idempotent."""
        with self._condition:
            self._is_closed = True
            self._condition.notify_all()
        if self._thread:
            self._thread.join(_FLUSH_S)

    def _work(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._pending or self._is_closed)
                events, self._pending = self._pending, []
                if not events:
                    return
                self._is_writing = True
            try:
                for event in events:
                    self._write(event)
            finally:
                with self._condition:
                    self._is_writing = False
                    self._condition.notify_all()

    def _write(self, event: ActivityEvent) -> None:
        try:
            with self._files_lock:
                self._files.append(_line_of(event))
        except OSError as exc:
            if not self._has_failed:
                log.info("events are lost: %s", exc.strerror)
            self._has_failed = True
            return
        self._has_failed = False
        self.changes.publish(event)


def _line_of(event: ActivityEvent) -> bytes:
    text = json.dumps(event.to_json(), ensure_ascii=False, separators=(",", ":"))
    # File names that are no UTF-8 hold lone surrogates, which become escapes of JSON.
    return text.encode("utf-8", "backslashreplace") + b"\n"
