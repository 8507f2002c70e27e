"""The event log, written by a thread of its own so that no disk delays the work. Any thread.

Losing an event is better than losing an answer: nothing here raises into the recorded work.
"""

import json
import logging
import threading
from collections.abc import Iterator

from desktop_rag.activity.activity_event import ActivityEvent
from desktop_rag.activity.event_files import EventFiles
from desktop_rag.core.changes import Changes
from desktop_rag.core.errors import AppError
from desktop_rag.core.records import readable

log = logging.getLogger(__name__)

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
        for line in self._files.newest_first():
            if event := _event_of(line):
                yield event

    def flush(self) -> None:
        """Wait until the events so far are written, for a few seconds at most."""
        with self._condition:
            self._condition.wait_for(lambda: not (self._pending or self._is_writing), _FLUSH_S)

    def delete_all(self) -> None:
        """Remove every event, pending ones too. AppError when a file can't be removed."""
        self.flush()
        try:
            with self._files_lock:
                self._files.delete_all()
        except OSError as exc:
            title = "The recorded activity could not be deleted."
            raise AppError(title, f"{exc.filename}: {exc.strerror}.") from exc

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


def _event_of(line: bytes) -> ActivityEvent | None:
    try:
        return readable(ActivityEvent, json.loads(line), mends=True)
    except (ValueError, RecursionError):
        return None
