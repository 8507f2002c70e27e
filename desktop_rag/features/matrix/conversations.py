"""What was said in the threads of the bot. In memory only; after a restart the room tells it.

The thread of the bot.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from desktop_rag.features.matrix.heard_message import HeardMessage, is_for, without_mention
from desktop_rag.features.matrix.message_text import LinkedSource
from desktop_rag.features.matrix.room_client import RoomClient

_MOST_THREADS = 500
_MOST_TURNS = 12
_ABOUT_SOURCES = "\n\nSources:\n"


@dataclass(slots=True)
class Conversation:
    """The turns of a thread (role and text), and the sources of its last answer."""

    turns: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    sources: tuple[LinkedSource, ...] = ()


class Conversations:
    """The conversations of threads, those that were used last."""

    def __init__(self, rooms: RoomClient) -> None:
        self._rooms = rooms
        self._kept: OrderedDict[str, Conversation] = OrderedDict()

    def known(self, thread_id: str) -> Conversation | None:
        """The conversation of a thread, if it is in memory."""
        return self._kept.get(thread_id)

    async def of(self, message: HeardMessage, asking: Sequence[str]) -> Conversation:
        """The conversation that a message goes on with; only questions of `asking` are part of it.

        What others wrote in the thread was not said to the bot.
        """
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
