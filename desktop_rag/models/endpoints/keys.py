"""The keys of endpoints, in the system's keyring. Runs on worker threads.

A keyring may be missing, locked, or waiting for a password. Then keys are kept in memory until the
app ends; they are never written anywhere else.
"""

import logging
import os
import threading
from typing import TYPE_CHECKING, TypeVar

from desktop_rag.core.errors import AppError
from desktop_rag.models.endpoint_address import normalise_base_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyring.backend import KeyringBackend

log = logging.getLogger(__name__)

KEY_VARIABLE = "DESKTOP_RAG_API_KEY"
SERVICE = "desktop-rag"
_LIMIT_S = 3.0
_LOWEST_PRIORITY = 1.0
_T = TypeVar("_T")


class KeyStore:
    """Keys by the address of their endpoint, for any thread.

    `find_backend` returns the keyring and is called on first use. Each call to it or to the keyring
    is limited to `limit_s`.
    """

    def __init__(
        self,
        find_backend: "Callable[[], KeyringBackend] | None" = None,
        *,
        limit_s: float = _LIMIT_S,
    ) -> None:
        self._find_backend = find_backend or _system_keyring
        self._limit_s = limit_s
        self._backend: KeyringBackend | None = None
        self._is_usable = True
        self._session: dict[str, str] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "KeyStore()"

    def get(self, base_url: str) -> str:
        """The key for this address, else that of DESKTOP_RAG_API_KEY, else an empty text."""
        if not (user := _user(base_url)):
            return ""
        with self._lock:
            if user in self._session:
                return self._session[user]
        found = self._in_time(lambda backend: backend.get_password(SERVICE, user))
        return found or os.environ.get(KEY_VARIABLE, "").strip()

    def keyring_name(self) -> str:
        """The name of the system's keyring, empty when it can't be used. No key is read."""
        return self._in_time(lambda backend: str(backend.name)) or ""

    def save(self, base_url: str, key: str) -> bool:
        """Store the key; False when it is kept only until the app ends. An empty key deletes."""
        if not key.strip():
            self.delete(base_url)
            return True
        user = _user(base_url)
        with self._lock:
            self._session[user] = key.strip()
        is_saved = self._in_time(lambda backend: _set_and_check(backend, user, key.strip()))
        if is_saved:
            with self._lock:
                self._session.pop(user, None)
        return bool(is_saved)

    def delete(self, base_url: str) -> None:
        """Delete the key wherever it is stored; no effect if there is none."""
        user = _user(base_url)
        with self._lock:
            self._session.pop(user, None)
        self._in_time(lambda backend: _delete(backend, user))

    def _in_time(self, call: "Callable[[KeyringBackend], _T]") -> _T | None:
        """The result of `call`, None when the keyring can't be used; it isn't tried again then.

        A keyring that hangs can't be interrupted. It is called on a thread of its own, which is
        abandoned if necessary and does not keep the app from exiting.
        """
        if not self._is_usable:
            return None
        results: list[_T] = []
        failures: list[Exception] = []

        def work() -> None:
            try:
                results.append(call(self._usable_backend()))
            except Exception as exc:  # backends raise any exception
                failures.append(exc)

        thread = threading.Thread(target=work, name="keyring", daemon=True)
        thread.start()
        thread.join(self._limit_s)
        if results:
            return results[0]
        reason = type(failures[0]).__name__ if failures else f"no answer in {self._limit_s:g} s"
        log.info("The keyring cannot be used: %s. Keys are kept for this session.", reason)
        self._is_usable = False
        return None

    def _usable_backend(self) -> "KeyringBackend":
        if self._backend is None:
            backend = self._find_backend()
            # Backends of lower priority store nothing, or write keys into plain files.
            if backend.priority < _LOWEST_PRIORITY:
                from keyring.errors import NoKeyringError

                raise NoKeyringError(type(backend).__module__)
            self._backend = backend
        return self._backend


def _system_keyring() -> "KeyringBackend":
    import keyring

    return keyring.get_keyring()


def _set_and_check(backend: "KeyringBackend", user: str, key: str) -> bool:
    backend.set_password(SERVICE, user, key)
    return backend.get_password(SERVICE, user) == key


def _delete(backend: "KeyringBackend", user: str) -> None:
    from keyring.errors import PasswordDeleteError

    try:
        backend.delete_password(SERVICE, user)
    except PasswordDeleteError:
        log.info("There was no key to delete.")


def _user(base_url: str) -> str:
    try:
        return normalise_base_url(base_url)
    except AppError:  # perhaps still being typed
        return base_url.strip()
