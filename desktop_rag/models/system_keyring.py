"""The system's keyring, which may be missing, locked or slow: keys of endpoints, file passwords.

Any worker thread. Secrets that it can't keep stay in memory until the app ends; they are never
written anywhere else, nor part of a setting, a log or a repr.
"""

import json
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import read_object, write_atomically
from desktop_rag.core.records import readable_rows
from desktop_rag.models.endpoint_address import normalise_base_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyring.backend import KeyringBackend

log = logging.getLogger(__name__)

KEY_VARIABLE = "DESKTOP_RAG_API_KEY"
_KEYS = "desktop-rag"
_PASSWORDS = "desktop-rag, passwords of files"
_PLACES = "places"
_LIMIT_S = 3.0
_LOWEST_PRIORITY = 1.0
_T = TypeVar("_T")


class SystemKeyring:
    """Secrets of one service, by user name.

    `find_backend` returns the keyring on first use. Each call to it or to the keyring is limited to
    `limit_s`; once one fails, the keyring isn't tried again.
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

        A keyring that hangs can't be interrupted, so it is called on a thread of its own, which is
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


class KeptSecrets:
    """Secrets of one service, by user name; the parameters are those of `SystemKeyring`.

    A secret that the keyring can't keep stays in memory until the app ends.
    """

    def __init__(
        self,
        service: str,
        find_backend: "Callable[[], KeyringBackend] | None" = None,
        *,
        limit_s: float = _LIMIT_S,
    ) -> None:
        self._keyring = SystemKeyring(service, find_backend, limit_s=limit_s)
        self._session: dict[str, str] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def get(self, user: str) -> str:
        """The secret; "" when there is none."""
        with self._lock:
            if user in self._session:
                return self._session[user]
        return self._keyring.get(user)

    def save(self, user: str, secret: str) -> bool:
        """Store it; False when it is kept only until the app ends."""
        with self._lock:
            self._session[user] = secret
        is_saved = self._keyring.save(user, secret)
        if is_saved:
            with self._lock:
                self._session.pop(user, None)
        return is_saved

    def delete(self, user: str) -> None:
        """Delete it wherever it is kept; no effect if there is none."""
        with self._lock:
            self._session.pop(user, None)
        self._keyring.delete(user)


class KeyStore(KeptSecrets):
    """Keys by the address of their endpoint."""

    def __init__(
        self,
        find_backend: "Callable[[], KeyringBackend] | None" = None,
        *,
        limit_s: float = _LIMIT_S,
    ) -> None:
        super().__init__(_KEYS, find_backend, limit_s=limit_s)

    def get(self, user: str) -> str:
        """The key for this address, else that of DESKTOP_RAG_API_KEY, else ""."""
        if not (address := _address_of(user)):
            return ""
        return super().get(address) or os.environ.get(KEY_VARIABLE, "").strip()

    def keyring_name(self) -> str:
        """The name of the system's keyring, empty when it can't be used. No key is read."""
        return self._keyring.name()

    def save(self, user: str, secret: str) -> bool:
        """As for any secret. An empty key deletes."""
        if not secret.strip():
            self.delete(user)
            return True
        return super().save(_address_of(user), secret.strip())

    def delete(self, user: str) -> None:
        """Delete the key of this address."""
        super().delete(_address_of(user))


def _address_of(base_url: str) -> str:
    try:
        return normalise_base_url(base_url)
    except AppError:  # perhaps still being typed
        return base_url.strip()


class FilePasswords:
    """Passwords by the path of a file, or of a folder for all encrypted files below it.

    `list_path` is a file with the paths that have a password in the keyring, so that it is asked
    for no others; without it they are lost when the app ends. Passwords are cached in memory.
    """

    def __init__(
        self,
        list_path: Path | None = None,
        find_backend: "Callable[[], KeyringBackend] | None" = None,
    ) -> None:
        self._list_path = list_path
        self._keyring = SystemKeyring(_PASSWORDS, find_backend)
        self._known: dict[Path, str] = {}
        self._kept = _read_list(list_path)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "FilePasswords()"

    def candidates(self, path: Path) -> Sequence[str]:
        """The passwords to try on a file: its own, then those of its folders, nearest first."""
        found = [self._password(place) for place in (path, *path.parents)]
        return list(dict.fromkeys(filter(None, found)))

    def places(self, path: Path) -> list[Path]:
        """The file and the folders above it that have a password, nearest first."""
        with self._lock:
            return [p for p in (path, *path.parents) if self._known.get(p) or p in self._kept]

    def save(self, place: Path, password: str, *, keeps: bool) -> bool:
        """Remember a password of a file or folder; True if `keeps` and the keyring stores it.

        OSError when the list can't be written.
        """
        self.forget(place)
        is_kept = keeps and self._keyring.save(_account_of(place), password)
        with self._lock:
            self._known[place] = password
            if is_kept:
                self._kept.add(place)
                self._write_list()
        return is_kept

    def forget(self, place: Path) -> None:
        """Forget the password of a file or folder; OSError when the list can't be written."""
        with self._lock:
            self._known.pop(place, None)
            is_kept = place in self._kept
            self._kept.discard(place)
            if is_kept:
                self._write_list()
        if is_kept:
            self._keyring.delete(_account_of(place))

    def _password(self, place: Path) -> str:
        with self._lock:
            if place in self._known or place not in self._kept:
                return self._known.get(place, "")
        found = self._keyring.get(_account_of(place))
        with self._lock:
            return self._known.setdefault(place, found)

    def _write_list(self) -> None:
        if self._list_path is not None:
            rows = sorted(map(str, self._kept))
            # In ASCII, because a path need not be valid text.
            write_atomically(self._list_path, json.dumps({_PLACES: rows}))


def _read_list(path: Path | None) -> set[Path]:
    return set(readable_rows(Path, read_object(path).get(_PLACES))) if path else set()


def _account_of(place: Path) -> str:
    """The name of a place in the keyring, which takes no bytes that are not text."""
    return str(place).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
