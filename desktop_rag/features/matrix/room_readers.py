"""The readers of what the bot says in a room, and tokens signed for them. The thread of the bot."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from desktop_rag.features.matrix.bot_settings import BotSettings, LiveSettings, RoomRule
from desktop_rag.features.matrix.heard_message import HeardMessage
from desktop_rag.features.matrix.room_client import RoomClient

# The most tokens that the server takes in a request.
MOST_PEOPLE = 50
_VALID_S = 300


def new_signing_key() -> str:
    """A new private key (Ed25519) in PEM."""
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain).decode()


def public_key(signing_key: str) -> str:
    """The public key in PEM, for a rule of the local server."""
    key = serialization.load_pem_private_key(signing_key.encode(), None)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()


class PeopleTokens:
    """Signs tokens for people, so that the server's rules hold for them (decision 056)."""

    def __init__(self, settings: LiveSettings, signing_key: str) -> None:
        self._settings = settings
        self._key = signing_key

    def of(self, user_ids: Iterable[str]) -> tuple[str, ...]:
        """A token for each of these people; none at all when one of them is not known.

        The server then shows what is there for everybody, and no collection with rules of its own.
        """
        subjects = [self._subject(user_id) for user_id in sorted(set(user_ids))]
        if not self._settings.now.signing.issuer or not all(subjects):
            return ()
        if len(subjects) > MOST_PEOPLE:
            return ()
        return tuple(self._token(subject) for subject in dict.fromkeys(subjects))

    def _subject(self, user_id: str) -> str:
        person = self._settings.now.people.get(user_id)
        if person and person.subject:
            return person.subject
        server = user_id.partition(":")[2]
        return user_id if server in self._settings.now.signing.servers else ""

    def _token(self, subject: str) -> str:
        signing, now = self._settings.now.signing, int(time.time())
        claims = {
            "iss": signing.issuer,
            "aud": signing.audience,
            "sub": subject,
            "iat": now,
            "exp": now + _VALID_S,
        }
        return jwt.encode(claims, self._key, "EdDSA")


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
