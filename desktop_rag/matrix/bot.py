"""The bot: listens in its rooms, decides what is answered, and ends in order. One event loop."""

import asyncio
import contextlib
import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import read_object, write_atomically
from desktop_rag.matrix.bot_settings import LiveSettings, RoomRule
from desktop_rag.matrix.conversations import Conversations
from desktop_rag.matrix.growing_message import GrowingMessage, say_interrupted
from desktop_rag.matrix.handled_events import Handled, HandledEvents, Progress
from desktop_rag.matrix.heard_events import Heard
from desktop_rag.matrix.heard_message import HeardMessage, is_for, without_mention
from desktop_rag.matrix.library_server import LibraryRefusedError
from desktop_rag.matrix.message_text import answer_text, plain
from desktop_rag.matrix.pace import Pace
from desktop_rag.matrix.room_answers import Answering, in_words
from desktop_rag.matrix.room_client import RoomClient
from desktop_rag.matrix.room_commands import (
    Help,
    NotUnderstood,
    Question,
    Sources,
    Summarise,
    command_in,
)
from desktop_rag.matrix.summarising import Summarising

log = logging.getLogger(__name__)

_AT_ONCE = 4
_END_WITHIN_S = 20.0
# Nobody waits any longer for an answer to an older message.
_OLDEST_S = 86_400.0
_HOUR_S, _MINUTE_S = 3_600.0, 60.0
_BROKEN = "Something went wrong on my side. Whoever runs me finds it in the log."
_HELP = """\
Mention me, or reply to me, with a question about the documents of this room.
I answer in a thread with numbered sources; go on there by mentioning me again.

sources: what can be asked here; in a thread, the sources of my last answer
ask COLLECTION question: ask one collection only
summarise, summarise last 30, summarise since 2026-01-31: what was discussed
summarise … and store in COLLECTION: keep the summary, once all who wrote agree"""


@dataclass(frozen=True, slots=True)
class BotParts:
    """What the bot works with."""

    settings: LiveSettings
    rooms: RoomClient
    handled: HandledEvents
    answering: Answering
    summarising: Summarising
    conversations: Conversations


class Bot:
    """Answers in the rooms on its list, and in no other."""

    def __init__(self, parts: BotParts, mark_file: Path) -> None:
        """`mark_file` holds the place in the homeserver's events to go on from."""
        self._parts = parts
        self._rooms = parts.rooms
        self._handled = parts.handled
        self._mark_file = mark_file
        self._mark = str(read_object(mark_file).get("mark", ""))
        self._pace = Pace()
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._answers: set[asyncio.Task[None]] = set()
        self._refused: dict[tuple[str, str, str], float] = {}

    async def run(self, ended: asyncio.Event) -> None:
        """Listen until `ended`. AppError when the account is signed out, or the disk is full."""
        listening = asyncio.create_task(self._listen())
        ending = asyncio.create_task(ended.wait())
        await asyncio.wait({listening, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if not listening.done():
            listening.cancel()
        if self._answers:
            await asyncio.wait(self._answers, timeout=_END_WITHIN_S)
        for task in self._answers:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listening

    async def _listen(self) -> None:
        heard = await self._rooms.listen(self._mark, is_first=True)
        await self._settle()
        while True:
            self._parts.settings.refresh()
            self._rooms.trust_devices()
            await self._keep_to_the_list(heard)
            await self._take(heard)
            self._go_on_from(heard.mark)
            heard = await self._rooms.listen(heard.mark, is_first=False)

    async def _settle(self) -> None:
        """Finish what the end of the bot left: ask what was not asked yet, and tell of the rest."""
        for left in self._handled.unfinished():
            if left.progress is not Progress.WAITING:
                await say_interrupted(self._rooms, self._handled, left)
            elif message := await self._rooms.message(left.room_id, left.event_id):
                self._begin(message)
            else:
                self._note(left, Progress.DONE)

    async def _keep_to_the_list(self, heard: Heard) -> None:
        """Join the rooms of the list when invited, and be in no other."""
        rooms = self._parts.settings.now.rooms
        for room_id in heard.invited_to:
            if room_id in rooms:
                await self._rooms.join(room_id)
            else:
                await self._rooms.leave(room_id)
        for room_id in self._rooms.joined():
            if room_id not in rooms:
                await self._rooms.leave(room_id)

    async def _take(self, heard: Heard) -> None:
        for reaction in heard.reactions:
            if reaction.room_id in self._parts.settings.now.rooms:
                await self._parts.summarising.reacted(reaction)
        for message in heard.messages:
            if not self._handled.is_known(message.event_id) and await self._is_meant(message):
                thread = message.answer_thread
                self._handled.note(message.event_id, message.room_id, thread, Progress.WAITING)
                self._begin(message)

    async def _is_meant(self, message: HeardMessage) -> bool:
        """True for a message to the bot in one of its rooms, by its mention or as a reply."""
        rooms, user_id = self._rooms, self._rooms.user_id
        if message.room_id not in self._parts.settings.now.rooms or message.sender == user_id:
            return False
        if message.sent_at < time.time() - _OLDEST_S:
            return False
        own = frozenset[str]()
        if message.replies_to and not message.is_notice:
            replied = await rooms.message(message.room_id, message.replies_to)
            own = frozenset({message.replies_to} if replied and replied.sender == user_id else ())
        return is_for(message, user_id, rooms.display_name, own)

    def _begin(self, message: HeardMessage) -> None:
        task = asyncio.create_task(self._answer(message))
        self._answers.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._answers.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # A fault in one answer ends no other.
            log.error("an answer failed", exc_info=error)

    async def _answer(self, message: HeardMessage) -> None:
        async with self._places:
            said = GrowingMessage(self._rooms, self._handled, message)
            rule = self._parts.settings.now.rooms.get(message.room_id)
            if rule is None or (refusal := self._refusal(message, rule)) == "":
                said.drop()
                return
            said.begin()
            if refusal:
                await said.finish(plain(refusal))
                return
            try:
                await self._do(message, rule, said)
            except LibraryRefusedError as refused:
                await said.finish(plain(in_words(refused)))
            except AppError as error:
                log.warning("an answer ended early: %s", error.title)
                await said.finish(plain(error.title))
            except Exception:
                await said.finish(plain(_BROKEN))
                raise

    def _refusal(self, message: HeardMessage, rule: RoomRule) -> str | None:
        """Why a message is not answered; "" when that was said before, None when it is answered."""
        settings, sender = self._parts.settings.now, message.sender
        if not rule.lets_in(sender):
            said = "You are not on the list of people who may ask me in this room."
            return self._said_once(message, said, _HOUR_S)
        if not message.is_verified and self._rooms.is_encrypted(message.room_id):
            if not message.is_encrypted:
                return self._said_once(message, "I answer encrypted messages only here.", _MINUTE_S)
            if settings.verified_devices_only:
                device = message.device_id or "unknown"
                said = f"I don't know your device {device}: whoever runs me can verify it."
                return self._said_once(message, said, _MINUTE_S)
        wait_s = self._pace.wait_s(sender, settings.person_rate)
        if not wait_s:
            wait_s = self._pace.wait_s(message.room_id, settings.room_rate)
        if wait_s:
            said = f"That is too much for me. Ask again in {wait_s:.0f} seconds."
            return self._said_once(message, said, _MINUTE_S)
        return None

    def _said_once(self, message: HeardMessage, said: str, within_s: float) -> str:
        """The words the first time within these seconds, then "": a refusal is no echo."""
        key, now = (message.room_id, message.sender, said.partition(" in ")[0]), time.monotonic()
        if now - self._refused.get(key, -within_s) < within_s:
            return ""
        self._refused[key] = now
        return said

    async def _do(self, message: HeardMessage, rule: RoomRule, said: GrowingMessage) -> None:
        rooms, parts = self._rooms, self._parts
        text = without_mention(message.text, rooms.user_id, rooms.display_name)
        names = rule.collections
        if text.casefold().startswith("ask ") and not names:
            names = tuple(await parts.answering.names(message, rule))
        command = command_in(text, names, is_in_thread=bool(message.thread_id))
        if isinstance(command, Question):
            await parts.answering.answer(message, command, rule, said)
        elif isinstance(command, Summarise):
            await parts.summarising.summarise(message, command, rule, said)
        elif isinstance(command, Help):
            await said.finish(plain(_HELP))
        elif isinstance(command, Sources):
            await self._list_sources(message, rule, said)
        else:
            assert isinstance(command, NotUnderstood)
            await said.finish(plain(command.said))

    async def _list_sources(
        self, message: HeardMessage, rule: RoomRule, said: GrowingMessage
    ) -> None:
        known = self._parts.conversations.known(message.thread_id)
        if known and known.sources:
            await said.finish(answer_text("", known.sources))
            return
        names = await self._parts.answering.names(message, rule)
        listed = "\n".join(f"- {name}" for name in names)
        await said.finish(plain(f"Here you can ask:\n{listed}" if names else "Nothing, here."))

    def _go_on_from(self, mark: str) -> None:
        """Write down how far the bot has listened, after all of it was taken up."""
        if mark == self._mark:
            return
        try:
            write_atomically(self._mark_file, json.dumps({"mark": mark}))
        except OSError as exc:
            hint = f"{self._mark_file}: {exc.strerror}."
            raise AppError("The bot can't write down how far it has listened.", hint) from exc
        self._mark = mark

    def _note(self, left: Handled, progress: Progress) -> None:
        self._handled.note(left.event_id, left.room_id, left.thread_id, progress)
