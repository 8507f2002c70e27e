"""Which messages were taken up, and how far each came: a file that outlives a crash.

It is written before anything is asked or said, so nothing is answered twice. It holds ids and
times, and no text. The thread of the bot.
"""

import json
import logging
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import write_atomically

log = logging.getLogger(__name__)

# A homeserver gives a message again only within the time that the bot was away.
_KEPT_S = 60 * 86_400.0
_MOST_KEPT = 200_000


class Progress(StrEnum):
    """How far a message came. Of `ASKED` and `WHOLE` something may be in the room already."""

    WAITING = "waiting"
    ASKED = "asked"
    WHOLE = "whole"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Handled:
    """A message that was taken up, and the thread of its answer."""

    event_id: str
    room_id: str
    thread_id: str
    progress: Progress
    at: float


class HandledEvents:
    """Appends to the file, and knows all that is in it. One process at a time."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        """Reads the file, and writes it anew without what is too old. AppError if it can't."""
        self._path = path
        self._clock = clock
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._known = {each.event_id: each for each in self._kept(self._read())}
            lines = [_line(each) for each in self._known.values()]
            write_atomically(path, "".join(lines))
            self._file = path.open("a", encoding="utf-8")
        except OSError as exc:
            raise _failed(path, exc) from exc

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def is_known(self, event_id: str) -> bool:
        """True for a message that was taken up, now or earlier."""
        return event_id in self._known

    def unfinished(self) -> list[Handled]:
        """What was under way when the bot ended, the oldest first."""
        return [each for each in self._known.values() if each.progress is not Progress.DONE]

    def note(self, event_id: str, room_id: str, thread_id: str, progress: Progress) -> None:
        """Write how far a message came; it is on the disk when this returns."""
        noted = Handled(event_id, room_id, thread_id, progress, self._clock())
        try:
            self._file.write(_line(noted))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as exc:
            raise _failed(self._path, exc) from exc
        self._known[event_id] = noted

    def _read(self) -> Iterable[Handled]:
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                yield _handled(json.loads(line))
            except (ValueError, TypeError, KeyError):
                # The last line of a crash; nothing was said for it yet.
                log.info("a line of %s can't be read", self._path.name)

    def _kept(self, rows: Iterable[Handled]) -> list[Handled]:
        latest: dict[str, Handled] = {}
        for row in rows:
            latest[row.event_id] = row
        begin = self._clock() - _KEPT_S
        return [each for each in latest.values() if each.at >= begin][-_MOST_KEPT:]


def _handled(row: Any) -> Handled:  # noqa: ANN401  JSON
    event_id, room_id, thread_id = (str(row[n]) for n in ("event_id", "room_id", "thread_id"))
    return Handled(event_id, room_id, thread_id, Progress(row["progress"]), float(row["at"]))


def _line(handled: Handled) -> str:
    return json.dumps(asdict(handled)) + "\n"


def _failed(path: Path, exc: OSError) -> AppError:
    title = "What was answered can't be written down, so nothing is answered."
    return AppError(title, f"{path}: {exc.strerror}.")
