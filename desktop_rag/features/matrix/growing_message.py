"""The bot's one message to a message of somebody: it grows by few edits, and ends once.

Each step has a transaction of its own, so that after a crash the last word can be said again
without being said twice: a homeserver takes a transaction once. The event loop of the bot.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from desktop_rag.core.errors import AppError
from desktop_rag.features.matrix.handled_events import Handled, HandledEvents, Progress
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

_FIRST_AFTER_S = 1.5
_MOST_EDITS = 5
_TYPED_AGAIN_S = 20.0
_GOES_ON = " …"
_INTERRUPTED = "I was interrupted before this was finished. Please ask again."


class GrowingMessage:
    """Says one thing in the thread of a message."""

    def __init__(
        self,
        rooms: RoomClient,
        handled: HandledEvents,
        message: HeardMessage,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rooms = rooms
        self._handled = handled
        self._message = message
        self._clock = clock
        self._event_id = ""
        self._edits = 0
        self._pause_s = _FIRST_AFTER_S
        self._next_at = clock() + self._pause_s

    def begin(self) -> None:
        """Write down that an answer is under way; before anything is asked."""
        self._note(Progress.ASKED)

    def drop(self) -> None:
        """Write down that nothing is to be said."""
        self._note(Progress.DONE)

    async def grow(self, text: str) -> None:
        """Show what there is so far, if it is time to: each pause is twice the one before."""
        if not text.strip() or self._clock() < self._next_at or self._edits >= _MOST_EDITS:
            return
        await self._show(plain(text + _GOES_ON), f"edit-{self._edits}")
        self._edits += 1
        self._pause_s *= 2
        self._next_at = self._clock() + self._pause_s

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
