"""What the bot must keep secret, in the system's keyring. Any thread."""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.models.system_keyring import SystemKeyring

SERVICE = "desktop-rag-matrix"
VARIABLE = "DESKTOP_RAG_MATRIX_SECRETS"


@dataclass(frozen=True, slots=True)
class BotSecrets:
    """The access token of the account, the key of the store of encryption keys, the token for the
    local server, and the private key (PEM) that signs tokens for people.
    """

    access_token: str
    store_key: str
    library_token: str
    signing_key: str

    def __repr__(self) -> str:
        return "BotSecrets()"

    def to_json(self) -> str:
        """All of them as the keyring keeps them."""
        return json.dumps(asdict(self))


def new_store_key() -> str:
    """A key for a new store: it is never a word that somebody could guess."""
    return secrets.token_urlsafe(32)


class SecretKeeper:
    """Keeps the secrets of accounts by their Matrix ids."""

    def __init__(self, keyring: SystemKeyring | None = None) -> None:
        self._keyring = keyring or SystemKeyring(SERVICE)

    def get(self, user_id: str) -> BotSecrets:
        """The secrets of an account; those in the environment come first.

        AppError when there are none.
        """
        kept = os.environ.get(VARIABLE, "") or self._keyring.get(user_id)
        try:
            content: Any = json.loads(kept) if kept else None
            names = BotSecrets.__slots__
            return BotSecrets(**{name: str(content[name]) for name in names})
        except (ValueError, KeyError, TypeError) as exc:
            hint = f"Log in again: desktop-rag matrix login. Without a keyring, set {VARIABLE}."
            raise AppError(f"The secrets of {user_id} are not there.", hint) from exc

    def save(self, user_id: str, given: BotSecrets) -> bool:
        """Keep the secrets; False when there is no keyring that does."""
        return self._keyring.save(user_id, given.to_json())

    def delete(self, user_id: str) -> None:
        """Forget the secrets of an account."""
        self._keyring.delete(user_id)
