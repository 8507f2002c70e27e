"""Summaries of discussions, on request, and their storing once all who wrote agree.

The event loop of the bot. What waits for agreement is in memory: it ends with the bot.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from desktop_rag.matrix.bot_settings import LiveSettings, RoomRule
from desktop_rag.matrix.discussion_text import (
    Discussion,
    discussion,
    request_for_summary,
    summary_document,
    summary_of,
)
from desktop_rag.matrix.growing_message import GrowingMessage, typing
from desktop_rag.matrix.heard_events import Reaction
from desktop_rag.matrix.heard_message import HeardMessage, is_for
from desktop_rag.matrix.library_server import LibraryRefusedError, LibraryServer
from desktop_rag.matrix.message_text import (
    answer_text,
    content_of,
    in_thread,
    message_link,
    plain,
)
from desktop_rag.matrix.room_answers import in_words
from desktop_rag.matrix.room_client import RoomClient
from desktop_rag.matrix.room_commands import MOST_MESSAGES, Summarise

AGREE, REFUSE = "👍", "👎"
_WAITS_S = 86_400.0
_NOT_HERE = "Discussions in this room are not summarised."
_NO_MODEL = "There is no model for summaries: whoever runs this bot can name one (summary_model)."
_NOTHING = "There are no messages to summarise."
_NOT_STORED = "The summary is not stored: somebody does not agree."


@dataclass(slots=True)
class _Waiting:
    """A summary that is stored once all who are missing agree."""

    message: HeardMessage
    document: str
    collection: str
    collection_id: str
    missing: set[str]
    writers: frozenset[str]
    ends_at: float


class Summarising:
    """Summarises what people said, with a model that the local server exposes."""

    def __init__(
        self,
        rooms: RoomClient,
        library: LibraryServer,
        settings: LiveSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rooms = rooms
        self._library = library
        self._settings = settings
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}

    async def summarise(
        self, message: HeardMessage, asked: Summarise, rule: RoomRule, said: GrowingMessage
    ) -> None:
        """Show a summary in the thread of the request; ask for agreement if it is to be kept."""
        if not rule.summarises:
            await said.finish(plain(_NOT_HERE))
            return
        if not (model := self._settings.now.summary_model):
            await said.finish(plain(_NO_MODEL))
            return
        collection = _collection(asked, rule)
        if asked.is_stored and not collection:
            await said.finish(plain(_where_it_may(rule)))
            return
        given = await self._discussion(message, asked)
        if not given.messages:
            await said.finish(plain(_NOTHING))
            return
        try:
            async with typing(self._rooms, message.room_id):
                request = request_for_summary(given)
                written = await self._library.write_without_documents(model, request)
        except LibraryRefusedError as refused:
            await said.finish(plain(in_words(refused)))
            return
        text, sources = summary_of(written, given)
        lines = [_counted(given)]
        event_id = await said.finish(answer_text(text, sources, lines, title="Messages"))
        if asked.is_stored and event_id:
            document = summary_document(text, sources, self._rooms.room_name(message.room_id))
            await self._ask_for_agreement(message, document, collection, given)

    async def reacted(self, reaction: Reaction) -> None:
        """Take somebody's agreement, or refusal, to a summary that waits for it."""
        waiting = self._waiting.get(reaction.reacts_to)
        if waiting is None or reaction.sender not in waiting.writers:
            return
        key = reaction.key.rstrip("\ufe0f🏻🏼🏽🏾🏿")
        if key == REFUSE:
            del self._waiting[reaction.reacts_to]
            await self._say(waiting.message, _NOT_STORED, "refused")
        elif key == AGREE and self._clock() < waiting.ends_at:
            waiting.missing.discard(reaction.sender)
            if not waiting.missing:
                del self._waiting[reaction.reacts_to]
                await self._store(waiting)

    async def _discussion(self, message: HeardMessage, asked: Summarise) -> Discussion:
        """What people said, without requests to the bot and what the bot answered."""
        room_id, user_id = message.room_id, self._rooms.user_id
        if asked.is_of_thread:
            said = await self._rooms.thread(room_id, message.thread_id)
        else:
            said = await self._rooms.before_now(
                room_id, MOST_MESSAGES if asked.since else 2 * asked.count, asked.since
            )
        name, own = self._rooms.display_name, frozenset[str]()
        people = [
            each for each in said if each.sender != user_id and not is_for(each, user_id, name, own)
        ]
        kept = people[-asked.count :] if asked.count else people[-MOST_MESSAGES:]
        return discussion(kept, lambda user: self._rooms.name_of(room_id, user))

    async def _ask_for_agreement(
        self, message: HeardMessage, document: str, collection: str, given: Discussion
    ) -> None:
        try:
            there = await self._library.collections()
        except LibraryRefusedError as refused:
            await self._say(message, f"Nothing is stored. {in_words(refused)}", "gone")
            return
        if collection not in there:
            await self._say(message, f"“{collection}” is not there, so nothing is stored.", "gone")
            return
        missing = set(given.writers - {message.sender})
        waiting = _Waiting(
            message, document, collection, there[collection], missing,
            given.writers | {message.sender}, self._clock() + _WAITS_S,
        )  # fmt: skip
        if not missing:
            await self._store(waiting)
            return
        names = sorted(self._rooms.name_of(message.room_id, each) for each in missing)
        text = (
            f"{self._rooms.name_of(message.room_id, message.sender)} wants to store this summary as"
            f" a document in “{collection}”, where all who may read that collection find it, in"
            f" plain text. It is stored once {', '.join(names)} react with {AGREE} to this message,"
            f" within a day; one {REFUSE} ends it."
        )
        self._waiting[await self._say(message, text, "agree")] = waiting

    async def _store(self, waiting: _Waiting) -> None:
        message = waiting.message
        body = {
            "id": message.event_id,
            "application": "matrix",
            "title": f"Summary: {self._rooms.room_name(message.room_id)}",
            "format": "markdown",
            "text": waiting.document,
            "address": message_link(message.room_id, message.event_id),
        }
        try:
            await self._library.store(waiting.collection_id, body)
        except LibraryRefusedError as refused:
            await self._say(message, f"The summary is not stored. {in_words(refused)}", "stored")
            return
        text = f"The summary is stored in “{waiting.collection}”, with everybody's agreement."
        await self._say(message, text, "stored")

    async def _say(self, message: HeardMessage, text: str, step: str) -> str:
        content = in_thread(content_of(plain(text)), message.answer_thread, message.event_id)
        return await self._rooms.send(message.room_id, content, f"{message.event_id} {step}")


def _collection(asked: Summarise, rule: RoomRule) -> str:
    """The collection that a summary goes into; "" for one that it may not go into."""
    if not asked.store_in:
        return rule.stores_in[0] if len(rule.stores_in) == 1 else ""
    wanted = asked.store_in.casefold()
    return next((name for name in rule.stores_in if name.casefold() == wanted), "")


def _where_it_may(rule: RoomRule) -> str:
    if not rule.stores_in:
        return "Summaries of this room are not stored."
    return f"A summary can be stored in: {', '.join(rule.stores_in)}."


def _counted(given: Discussion) -> str:
    left_out = f", without {given.left_out} older ones" if given.left_out else ""
    count = len(given.messages)
    return f"Summary of {count} message{'' if count == 1 else 's'}{left_out}, by a model."
