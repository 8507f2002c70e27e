"""The keys of endpoints, in the system's keyring. Runs on worker threads."""

import os
import threading
from typing import TYPE_CHECKING

from desktop_rag.core.errors import AppError
from desktop_rag.models.endpoint_address import normalise_base_url
from desktop_rag.models.system_keyring import SystemKeyring

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyring.backend import KeyringBackend

KEY_VARIABLE = "DESKTOP_RAG_API_KEY"
SERVICE = "desktop-rag"
_LIMIT_S = 3.0


class KeyStore:
    """Keys by the address of their endpoint; the parameters are those of `SystemKeyring`.

    A key that the keyring can't keep stays in memory until the app ends.
    """

    def __init__(
        self,
        find_backend: "Callable[[], KeyringBackend] | None" = None,
        *,
        limit_s: float = _LIMIT_S,
    ) -> None:
        self._keyring = SystemKeyring(SERVICE, find_backend, limit_s=limit_s)
        self._session: dict[str, str] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "KeyStore()"

    def get(self, base_url: str) -> str:
        """The key for this address, else that of DESKTOP_RAG_API_KEY, else ""."""
        if not (user := _user(base_url)):
            return ""
        with self._lock:
            if user in self._session:
                return self._session[user]
        return self._keyring.get(user) or os.environ.get(KEY_VARIABLE, "").strip()

    def keyring_name(self) -> str:
        """The name of the system's keyring, empty when it can't be used. No key is read."""
        return self._keyring.name()

    def save(self, base_url: str, key: str) -> bool:
        """Store the key; False when it is kept only until the app ends. An empty key deletes."""
        if not key.strip():
            self.delete(base_url)
            return True
        user = _user(base_url)
        with self._lock:
            self._session[user] = key.strip()
        is_saved = self._keyring.save(user, key.strip())
        if is_saved:
            with self._lock:
                self._session.pop(user, None)
        return is_saved

    def delete(self, base_url: str) -> None:
        """Delete the key wherever it is stored; no effect if there is none."""
        user = _user(base_url)
        with self._lock:
            self._session.pop(user, None)
        self._keyring.delete(user)


def _user(base_url: str) -> str:
    try:
        return normalise_base_url(base_url)
    except AppError:  # perhaps still being typed
        return base_url.strip()
