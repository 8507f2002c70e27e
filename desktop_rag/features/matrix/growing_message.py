"""The growing answers of the bot, and the file of messages taken up. The event loop of the bot.

Each step has a transaction of its own, so that after a crash the last word can be said again
without being said twice: a homeserver takes a transaction once.
"""

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.records import decoded, encoded
from desktop_rag.features.matrix.heard_message import HeardMessage
from desktop_rag.features.matrix.message_text import (
    MessageText,
    content_of,
    edit_of,
    in_thread,
    plain,
)
from desktop_rag.features.matrix.room_client import RoomClient

log = logging.getLogger(__name__)

_NOT_WRITTEN = "What was answered can't be written down, so nothing is answered."

# A homeserver repeats only messages from the time that the bot was away.
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
    """Which messages were taken up, and how far each came: a file that outlives a crash.

    Written before anything is asked or said, so that nothing is answered twice. It holds no text.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        """Reads the file, and writes it anew without what is too old. AppError if it can't."""
        self._path = path
        self._clock = clock
        with os_error_as(_NOT_WRITTEN, path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._known = {each.event_id: each for each in self._kept(self._read())}
            lines = [_line(each) for each in self._known.values()]
            write_atomically(path, "".join(lines))
            self._file = path.open("a", encoding="utf-8")

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
        with os_error_as(_NOT_WRITTEN, self._path):
            self._file.write(_line(noted))
            self._file.flush()
            os.fsync(self._file.fileno())
        self._known[event_id] = noted

    def _read(self) -> Iterable[Handled]:
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                yield decoded(Handled, json.loads(line))
            except ValueError:
                # Cut off by a crash; nothing was said for it yet.
                log.info("a line of %s can't be read", self._path.name)

    def _kept(self, rows: Iterable[Handled]) -> list[Handled]:
        latest: dict[str, Handled] = {}
        for row in rows:
            latest[row.event_id] = row
        begin = self._clock() - _KEPT_S
        return [each for each in latest.values() if each.at >= begin][-_MOST_KEPT:]


def _line(handled: Handled) -> str:
    return json.dumps(encoded(handled)) + "\n"


_FIRST_AFTER_S = 1.5
_MOST_EDITS = 5
_TYPED_AGAIN_S = 20.0
_GOES_ON = " …"
_INTERRUPTED = "I was interrupted before this was finished. Please ask again."


class GrowingMessage:
    """One message in the thread of another: it grows by few edits, and ends once."""

    def __init__(self, rooms: RoomClient, handled: HandledEvents, message: HeardMessage) -> None:
        self._rooms = rooms
        self._handled = handled
        self._message = message
        self._event_id = ""
        self._edits = 0
        self._pause_s = _FIRST_AFTER_S
        self._next_at = time.monotonic() + self._pause_s

    def begin(self) -> None:
        """Write down that an answer is under way; before anything is asked."""
        self._note(Progress.ASKED)

    def drop(self) -> None:
        """Write down that nothing is to be said."""
        self._note(Progress.DONE)

    async def grow(self, text: str) -> None:
        """Show what there is so far, if it is time to: each pause is twice the one before."""
        if not text.strip() or time.monotonic() < self._next_at or self._edits >= _MOST_EDITS:
            return
        await self._show(plain(text + _GOES_ON), f"edit-{self._edits}")
        self._edits += 1
        self._pause_s *= 2
        self._next_at = time.monotonic() + self._pause_s

    async def finish(self, text: MessageText) -> str:
        """Say the last word; the id of the message, "" when the homeserver refuses it."""
        try:
            if not self._event_id:
                self._note(Progress.WHOLE)
            await self._show(text, "end")
        except AppError as error:
            log.warning("an answer could not be sent: %s", error.title)
            self._event_id = ""
        self._note(Progress.DONE)
        return self._event_id

    async def _show(self, text: MessageText, step: str) -> None:
        message, content = self._message, content_of(text)
        if not self._event_id:
            first = in_thread(content, message.answer_thread, message.event_id)
            transaction = _transaction(message.event_id, "begin")
            self._event_id = await self._rooms.send(message.room_id, first, transaction)
            return
        changed = edit_of(content, self._event_id)
        transaction = _transaction(message.event_id, step)
        await self._rooms.send(message.room_id, changed, transaction)

    def _note(self, progress: Progress) -> None:
        message = self._message
        self._handled.note(message.event_id, message.room_id, message.answer_thread, progress)


@asynccontextmanager
async def typing(rooms: RoomClient, room_id: str) -> AsyncGenerator[None]:
    """Shows that the bot writes, while the block runs."""

    async def show() -> None:
        while True:
            rooms.show_typing(room_id, is_typing=True)
            await asyncio.sleep(_TYPED_AGAIN_S)

    showing = asyncio.create_task(show())
    try:
        yield
    finally:
        showing.cancel()
        rooms.show_typing(room_id, is_typing=False)


async def say_interrupted(rooms: RoomClient, handled: HandledEvents, left: Handled) -> None:
    """Say that an answer was interrupted by the end of the bot, unless its last word was said."""
    content = content_of(plain(_INTERRUPTED))
    first = in_thread(content, left.thread_id, left.event_id)
    try:
        transaction = _transaction(left.event_id, "begin")
        event_id = await rooms.send(left.room_id, first, transaction)
        if left.progress is Progress.ASKED:
            end = _transaction(left.event_id, "end")
            await rooms.send(left.room_id, edit_of(content, event_id), end)
    except AppError as error:
        log.warning("an interruption could not be said: %s", error.title)
    handled.note(left.event_id, left.room_id, left.thread_id, Progress.DONE)


def _transaction(event_id: str, step: str) -> str:
    return f"{event_id} {step}"
