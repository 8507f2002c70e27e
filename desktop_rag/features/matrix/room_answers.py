"""Answers questions about documents in a room. The event loop of the bot."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from desktop_rag.core.claims import Verdict
from desktop_rag.features.matrix.bot_settings import LiveSettings, RoomRule
from desktop_rag.features.matrix.conversations import Conversations
from desktop_rag.features.matrix.growing_message import GrowingMessage, typing
from desktop_rag.features.matrix.heard_message import HeardMessage
from desktop_rag.features.matrix.library_server import (
    AskedQuestion,
    LibraryAnswer,
    LibraryRefusedError,
    LibraryServer,
)
from desktop_rag.features.matrix.message_text import LinkedSource, answer_text, plain, reaction_to
from desktop_rag.features.matrix.room_client import RoomClient
from desktop_rag.features.matrix.room_commands import Question
from desktop_rag.features.matrix.room_readers import Readers, RoomReaders, address_for_room

_SOMEBODY_CAME = (
    "Somebody joined this room meanwhile, so this answer is not shown. Please ask again."
)
_NOTHING_HERE = "Nothing can be asked in this room now."
_NO_ANSWER = "The library gave no answer."
SUPPORTED_KEY, DOUBTED_KEY = "✅", "⚠️"


class Answering:
    """Asks the local server for the people of a room, and shows what it answers."""

    def __init__(
        self,
        rooms: RoomClient,
        library: LibraryServer,
        readers: RoomReaders,
        conversations: Conversations,
        settings: LiveSettings,
    ) -> None:
        self._rooms = rooms
        self._library = library
        self._readers = readers
        self._conversations = conversations
        self._settings = settings

    async def answer(
        self, message: HeardMessage, question: Question, rule: RoomRule, said: GrowingMessage
    ) -> None:
        """Answer one question in the thread of its message, with what all its readers may read."""
        readers = self._readers.of(message, rule)
        try:
            async with typing(self._rooms, message.room_id):
                answer = await self._asked(message, question, rule, readers, said)
        except LibraryRefusedError as refused:
            await said.finish(plain(in_words(refused)))
            return
        if answer is None:
            await said.finish(plain(_NOTHING_HERE))
        elif not self._readers.are_the_same(readers, message.room_id, rule):
            await said.finish(plain(_SOMEBODY_CAME))
        else:
            await self._show(message, question, answer, said)

    async def names(self, message: HeardMessage, rule: RoomRule) -> list[str]:
        """The collections that can be asked in a room, as its people may see them."""
        there = await self._library.collections(self._readers.of(message, rule).tokens)
        return [name for name in there if not rule.collections or name in rule.collections]

    async def _asked(
        self,
        message: HeardMessage,
        question: Question,
        rule: RoomRule,
        readers: Readers,
        said: GrowingMessage,
    ) -> LibraryAnswer | None:
        """The answer; None when there is nothing that may be asked."""
        collection_ids: tuple[str, ...] = ()
        wanted = (question.collection,) if question.collection else rule.collections
        if wanted:
            there = await self._library.collections(readers.tokens)
            collection_ids = tuple(there[name] for name in wanted if name in there)
            if not collection_ids:
                return None
        before = await self._conversations.of(message, self._asking(message, rule))
        asked = AskedQuestion(question.text, tuple(before.turns), collection_ids, readers.tokens)
        text = ""
        async with aclosing(self._library.ask(asked)) as pieces:
            async for piece in pieces:
                if isinstance(piece, LibraryAnswer):
                    return piece
                text += piece
                if self._readers.are_the_same(readers, message.room_id, rule):
                    await said.grow(text)
        raise LibraryRefusedError(_NO_ANSWER)

    async def _show(
        self, message: HeardMessage, question: Question, answer: LibraryAnswer, said: GrowingMessage
    ) -> None:
        sources = self._sources(answer.sources)
        line, key = checked(answer.claims)
        lines = [each for each in (line, answer.notes) if each]
        self._conversations.answered(message, question.text, answer.text, sources)
        event_id = await said.finish(answer_text(answer.text, sources, lines))
        if key and event_id:
            content = reaction_to(event_id, key)
            await self._rooms.react(message.room_id, content, f"{message.event_id} check")

    def _sources(self, given: Sequence[Mapping[str, Any]]) -> list[LinkedSource]:
        """The sources that the answer cites; all of them when it cites none."""
        cited = [each for each in given if each["is_cited"]] or list(given)
        settings = self._settings.now
        return [
            LinkedSource(
                int(each["n"]),
                str(each["title"]),
                str(each["place"]),
                address_for_room(str(each["url"]), settings),
            )
            for each in cited
        ]

    def _asking(self, message: HeardMessage, rule: RoomRule) -> list[str]:
        return [each for each in self._rooms.people(message.room_id) if rule.lets_in(each)]


def checked(claims: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The checks of an answer as a line and as the key of a reaction; "" for none."""
    verdicts = [str(each["verdict"]) for each in claims]
    unchecked = verdicts.count(Verdict.NOT_CHECKED.value)
    if not verdicts:
        return "", ""
    good = verdicts.count(Verdict.SUPPORTED.value)
    line = f"Checked: {good} of {len(verdicts)} statements are supported by their sources."
    if denied := verdicts.count(Verdict.CONTRADICTED.value):
        line += f" {denied} {'is' if denied == 1 else 'are'} contradicted."
    if unchecked:
        line += f" {unchecked} could not be checked."
    return line, SUPPORTED_KEY if good == len(verdicts) else DOUBTED_KEY


def in_words(refused: LibraryRefusedError) -> str:
    """What the server said, and when it may be asked again."""
    if refused.retry_after_s:
        return f"{refused.title} Try again in {refused.retry_after_s:.0f} seconds."
    return refused.title
