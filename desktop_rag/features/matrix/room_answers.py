"""What messages ask of the bot, and its answers about documents. The event loop of the bot."""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from desktop_rag.core.claims import Verdict
from desktop_rag.features.matrix.bot_settings import LiveSettings, RoomRule
from desktop_rag.features.matrix.growing_message import GrowingMessage, typing
from desktop_rag.features.matrix.heard_message import HeardMessage, is_for, without_mention
from desktop_rag.features.matrix.library_server import (
    AskedQuestion,
    LibraryAnswer,
    LibraryRefusedError,
    LibraryServer,
)
from desktop_rag.features.matrix.message_text import LinkedSource, answer_text, plain, reaction_to
from desktop_rag.features.matrix.room_client import RoomClient
from desktop_rag.features.matrix.room_readers import Readers, RoomReaders, address_for_room

MOST_MESSAGES = 400
_DEFAULT_MESSAGES = 50
_SUMMARY = re.compile(
    r"summari[sz]e(?:\s+(?:this\s+)?(?:(?P<thread>thread)|last\s+(?P<count>\d{1,4})(?:\s+messages)?"
    r"|since\s+(?P<date>\d{4}-\d{2}-\d{2})))?"
    r"(?P<stores>\s+and\s+store(?:\s+it)?(?:\s+in\s+(?P<store>.+?))?)?\s*[.!]?",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"ask\s+[\"“](?P<name>[^\"”]+)[\"”]\s*:?\s*(?P<question>.*)", re.I | re.S)
_HELP = re.compile(r"help\s*[.!?]?|", re.IGNORECASE)
_SOURCES = re.compile(r"sources\s*[.!?]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Help:
    """What the bot can do here."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the answer in this thread, or what may be asked in this room."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about documents, of one collection or of all of the room."""

    text: str
    collection: str = ""


@dataclass(frozen=True, slots=True)
class Summarise:
    """A summary of the thread, of the last messages, or of those since a time (Unix seconds).

    With `is_stored` it becomes a document of the collection `store_in`, "" for the only one.
    """

    count: int = 0
    since: float = 0.0
    is_stored: bool = False
    store_in: str = ""

    @property
    def is_of_thread(self) -> bool:
        """True for a summary of the thread that it was asked for in."""
        return not self.count and not self.since


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A command that names something which is not there."""

    said: str


Command = Help | Sources | Question | Summarise | NotUnderstood


def command_in(text: str, collections: Sequence[str], *, is_in_thread: bool) -> Command:
    """The command in a text without the mention, else a question; `collections` are the room's."""
    if _HELP.fullmatch(text):
        return Help()
    if _SOURCES.fullmatch(text):
        return Sources()
    if found := _SUMMARY.fullmatch(text):
        return _summary(found, is_in_thread=is_in_thread)
    if found := _QUOTED.fullmatch(text):
        return _named(found["name"], found["question"], collections)
    return _asked(text, collections)


def _summary(found: re.Match[str], *, is_in_thread: bool) -> Command:
    since = 0.0
    if date := found["date"]:
        try:
            since = datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
        except ValueError:
            return NotUnderstood(f"{date} is no date.")
    count = min(int(found["count"] or 0), MOST_MESSAGES)
    is_plain = not (found["thread"] or found["count"] or found["date"])
    if found["thread"] and not is_in_thread:
        return NotUnderstood("This message is in no thread.")
    if is_plain and not is_in_thread:
        count = _DEFAULT_MESSAGES
    if found["count"] and not count:
        return NotUnderstood("There is nothing in no messages.")
    store_in = (found["store"] or "").strip(' "“”')
    return Summarise(count, since, bool(found["stores"]), store_in)


def _named(name: str, question: str, collections: Sequence[str]) -> Command:
    known = next((each for each in collections if each.casefold() == name.casefold()), None)
    if known is None:
        return NotUnderstood(f"“{name}” can't be asked here. `sources` lists what can.")
    if not question.strip():
        return NotUnderstood(f"What do you want to know from “{known}”?")
    return Question(question.strip(), known)


def _asked(text: str, collections: Sequence[str]) -> Command:
    """`ask NAME …` with the longest name that fits; any other text is a question as it is."""
    for name in sorted(collections, key=len, reverse=True):
        pattern = rf"ask\s+{re.escape(name)}\s*(?::\s*|\s+)(?P<question>\S.*)"
        if found := re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL):
            return Question(found["question"].strip(), name)
    return Question(text)


_MOST_THREADS = 500
_MOST_TURNS = 12
_ABOUT_SOURCES = "\n\nSources:\n"


@dataclass(slots=True)
class Conversation:
    """The turns of a thread (role and text), and the sources of its last answer."""

    turns: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    sources: tuple[LinkedSource, ...] = ()


class Conversations:
    """The conversations of the threads used last, in memory; after a restart the room has them."""

    def __init__(self, rooms: RoomClient) -> None:
        self._rooms = rooms
        self._kept: OrderedDict[str, Conversation] = OrderedDict()

    def known(self, thread_id: str) -> Conversation | None:
        """The conversation of a thread, if it is in memory."""
        return self._kept.get(thread_id)

    async def of(self, message: HeardMessage, asking: Sequence[str]) -> Conversation:
        """The conversation that a message continues, with the questions of `asking` only."""
        if not message.thread_id:
            return self._keep(message.event_id, Conversation())
        if (kept := self._kept.get(message.thread_id)) is None:
            kept = Conversation(await self._read(message, frozenset(asking)))
        return self._keep(message.thread_id, kept)

    def answered(
        self, message: HeardMessage, question: str, text: str, sources: Sequence[LinkedSource]
    ) -> None:
        """Remember a question with its answer."""
        kept = self._keep(message.answer_thread, self._kept.get(message.answer_thread))
        kept.turns += [("user", question), ("assistant", text)]
        del kept.turns[:-_MOST_TURNS]
        kept.sources = tuple(sources)

    def _keep(self, thread_id: str, kept: Conversation | None) -> Conversation:
        self._kept[thread_id] = kept = kept or Conversation()
        self._kept.move_to_end(thread_id)
        while len(self._kept) > _MOST_THREADS:
            self._kept.popitem(last=False)
        return kept

    async def _read(self, message: HeardMessage, asking: frozenset[str]) -> list[tuple[str, str]]:
        user_id, name = self._rooms.user_id, self._rooms.display_name
        said = await self._rooms.thread(message.room_id, message.thread_id)
        own_ids = frozenset(each.event_id for each in said if each.sender == user_id)
        turns: list[tuple[str, str]] = []
        for each in said:
            if each.event_id == message.event_id:
                break
            if each.sender == user_id:
                turns.append(("assistant", each.text.partition(_ABOUT_SOURCES)[0]))
            elif each.sender in asking and is_for(each, user_id, name, own_ids):
                turns.append(("user", without_mention(each.text, user_id, name)))
        return turns[-_MOST_TURNS:]


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
        asking = [each for each in self._rooms.people(message.room_id) if rule.lets_in(each)]
        before = await self._conversations.of(message, asking)
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
            LinkedSource(int(each["n"]), str(each["title"]), str(each["place"]),
                         address_for_room(str(each["url"]), settings))
            for each in cited
        ]  # fmt: skip


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
