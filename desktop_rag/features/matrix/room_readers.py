"""Who will read what the bot says in a room, and what they may all read. The thread of the bot."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from desktop_rag.features.matrix.bot_settings import BotSettings, RoomRule
from desktop_rag.features.matrix.heard_message import HeardMessage
from desktop_rag.features.matrix.people_tokens import PeopleTokens
from desktop_rag.features.matrix.room_client import RoomClient

_THIS_COMPUTER = ("localhost", "::1")


@dataclass(frozen=True, slots=True)
class Readers:
    """The people that an answer was made for; with `tokens`, it may hold what others may not read.

    Without any the answer holds what the token of the bot covers, for whoever is in the room.
    """

    people: frozenset[str]
    tokens: tuple[str, ...]


class RoomReaders:
    """Finds the readers of an answer, and whether they are still the same."""

    def __init__(self, rooms: RoomClient, tokens: PeopleTokens) -> None:
        self._rooms = rooms
        self._tokens = tokens

    def of(self, message: HeardMessage, rule: RoomRule) -> Readers:
        """The readers of an answer to a message."""
        people = self._rooms.people(message.room_id)
        if rule.shows_all:
            return Readers(people, self._tokens.of([message.sender]))
        if self._rooms.is_public(message.room_id):
            return Readers(people, ())
        return Readers(people, self._tokens.of(people | {message.sender}))

    def are_the_same(self, readers: Readers, room_id: str, rule: RoomRule) -> bool:
        """True while nobody else would read what was made for these people."""
        if rule.shows_all or not readers.tokens:
            return True
        is_public = self._rooms.is_public(room_id)
        return not is_public and self._rooms.people(room_id) <= readers.people


def address_for_room(url: str, settings: BotSettings) -> str:
    """The address of a source if the people of a room can open it, otherwise "".

    One on this computer leads nowhere for others, unless the homeserver is here too.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    is_here = _is_this_computer(parts.hostname)
    home = urlsplit(settings.homeserver).hostname or ""
    return "" if is_here and not _is_this_computer(home) else url


def _is_this_computer(host: str) -> bool:
    return host in _THIS_COMPUTER or host.startswith("127.")
