"""Passwords of encrypted files and folders, for the session or in the system's keyring.

Any worker thread. They are never part of a setting, a log or a repr, and are in no file. A file of
the app lists the paths that have one in the keyring, so that the keyring is asked for no other.
"""

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from desktop_rag.core.files.atomic_file import read_object, write_atomically
from desktop_rag.models.system_keyring import SystemKeyring

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyring.backend import KeyringBackend

SERVICE = "desktop-rag, passwords of files"
_PLACES = "places"


class FilePasswords:
    """Passwords by the path of a file, or of a folder for all encrypted files below it.

    `list_path` is the file with the paths that have a password in the keyring; without it they are
    lost when the app ends. `find_backend` returns the keyring and is called on first use. What was
    looked up stays in memory until the app ends.
    """

    def __init__(
        self,
        list_path: Path | None = None,
        find_backend: "Callable[[], KeyringBackend] | None" = None,
    ) -> None:
        self._list_path = list_path
        self._keyring = SystemKeyring(SERVICE, find_backend)
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
        """Remember a password of a file or folder; with `keeps` in the keyring.

        False when it is remembered only until the app ends. OSError when the list can't be written.
        """
        self.forget(place)
        is_kept = keeps and self._keyring.save(_user(place), password)
        with self._lock:
            self._known[place] = password
            if is_kept:
                self._kept.add(place)
                self._write_list()
        return is_kept

    def forget(self, place: Path) -> None:
        """Forget the password of a file or folder, wherever it is.

        OSError when the list can't be written.
        """
        with self._lock:
            self._known.pop(place, None)
            is_kept = place in self._kept
            self._kept.discard(place)
            if is_kept:
                self._write_list()
        if is_kept:
            self._keyring.delete(_user(place))

    def _password(self, place: Path) -> str:
        with self._lock:
            if place in self._known or place not in self._kept:
                return self._known.get(place, "")
        found = self._keyring.get(_user(place))
        with self._lock:
            return self._known.setdefault(place, found)

    def _write_list(self) -> None:
        if self._list_path is not None:
            rows = sorted(map(str, self._kept))
            # In ASCII, because a path need not be valid text.
            write_atomically(self._list_path, json.dumps({_PLACES: rows}))


def _read_list(path: Path | None) -> set[Path]:
    rows = read_object(path).get(_PLACES) if path else None
    listed = cast("list[object]", rows) if isinstance(rows, list) else []
    return {Path(row) for row in listed if isinstance(row, str)}


def _user(place: Path) -> str:
    """The name of a place in the keyring, which takes no bytes that are not text."""
    return str(place).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
