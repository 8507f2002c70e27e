"""The system's keyring, which may be missing, locked, or waiting for a password.

Any worker thread. Secrets that it can't keep stay in memory until the app ends; they are never
written anywhere else.
"""

import logging
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyring.backend import KeyringBackend

log = logging.getLogger(__name__)

_LIMIT_S = 3.0
_LOWEST_PRIORITY = 1.0
_T = TypeVar("_T")


class SystemKeyring:
    """Secrets of one service, by user name.

    `find_backend` returns the keyring and is called on first use. Each call to it or to the keyring
    is limited to `limit_s`; once one fails, the keyring isn't tried again.
    """

    def __init__(
        self,
        service: str,
        find_backend: "Callable[[], KeyringBackend] | None" = None,
        *,
        limit_s: float = _LIMIT_S,
    ) -> None:
        self._service = service
        self._find_backend = find_backend or _system_keyring
        self._limit_s = limit_s
        self._backend: KeyringBackend | None = None
        self._is_usable = True

    def get(self, user: str) -> str:
        """The secret; "" when there is none, or no usable keyring."""
        service = self._service
        return self._in_time(lambda backend: backend.get_password(service, user)) or ""

    def save(self, user: str, secret: str) -> bool:
        """Store the secret; False when the keyring does not keep it."""
        service = self._service
        return bool(self._in_time(lambda backend: _set_and_check(backend, service, user, secret)))

    def delete(self, user: str) -> None:
        """Delete the secret; no effect if there is none."""
        service = self._service
        self._in_time(lambda backend: _delete(backend, service, user))

    def name(self) -> str:
        """The name of the keyring in use, empty when it can't be used. Nothing is read from it."""
        return self._in_time(lambda backend: str(backend.name)) or ""

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
        log.info("The keyring cannot be used: %s. Secrets are kept for this session.", reason)
        self._is_usable = False
        return None

    def _usable_backend(self) -> "KeyringBackend":
        if self._backend is None:
            backend = self._find_backend()
            # Backends of lower priority store nothing, or write secrets into plain files.
            if backend.priority < _LOWEST_PRIORITY:
                from keyring.errors import NoKeyringError

                raise NoKeyringError(type(backend).__module__)
            self._backend = backend
        return self._backend


def _system_keyring() -> "KeyringBackend":
    import keyring

    return keyring.get_keyring()


def _set_and_check(backend: "KeyringBackend", service: str, user: str, secret: str) -> bool:
    backend.set_password(service, user, secret)
    return backend.get_password(service, user) == secret


def _delete(backend: "KeyringBackend", service: str, user: str) -> None:
    from keyring.errors import PasswordDeleteError

    try:
        backend.delete_password(service, user)
    except PasswordDeleteError:
        log.info("There was no secret to delete.")
