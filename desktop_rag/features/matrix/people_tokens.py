"""Signs tokens for the people of a room, so that the rules of the local server hold. Any thread.

Decision 056 says what the server makes of them.
"""

import time
from collections.abc import Callable, Iterable

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from desktop_rag.features.matrix.bot_settings import LiveSettings

# The server takes no more tokens in a request.
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
    """Signs tokens by the settings."""

    def __init__(
        self, settings: LiveSettings, signing_key: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._key = signing_key
        self._clock = clock

    def of(self, user_ids: Iterable[str]) -> tuple[str, ...]:
        """A token for each of these people; none at all when one of them is not known.

        Then the server shows what is there for everybody, and no collection with rules of its own.
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
        signing, now = self._settings.now.signing, int(self._clock())
        claims = {
            "iss": signing.issuer,
            "aud": signing.audience,
            "sub": subject,
            "iat": now,
            "exp": now + _VALID_S,
        }
        return jwt.encode(claims, self._key, "EdDSA")
