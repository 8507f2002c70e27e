"""The rules by which other applications decide who reads a collection, in a file of their own.

A rule holds no secret: the key that it names is public. Any thread; processes take turns. The
libraries for keys are imported only when a rule is set.
"""

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import object_in, write_atomically
from desktop_rag.core.records import decoded, encoded
from desktop_rag.features.server.values.access_values import ALGORITHMS, AccessRule
from desktop_rag.models.endpoint_address import is_this_computer

_LOCK_S = 5.0
_FORM = "There is a fault in it. Correct it, or delete it and set the rules again."


def check_rule(rule: AccessRule) -> None:
    """AppError for a rule that is not valid. The key is not read."""
    if not rule.issuer.strip() or not rule.audience.strip():
        raise AppError("The issuer and the audience of the tokens are needed.")
    unknown = [name for name in rule.algorithms if name not in ALGORITHMS]
    if unknown or not rule.algorithms:
        said = f"“{unknown[0]}” is not one of them." if unknown else "None is named."
        raise AppError(f"The algorithms are {', '.join(ALGORITHMS)}.", said)
    if not Path(rule.key_file).is_absolute():
        raise AppError("The file of the key is named by its full path.", rule.key_file)
    _check_address(rule.address)


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError as exc:
        raise AppError("The address of the application is not valid.", address) from exc
    if parts.scheme not in ("http", "https") or not host or parts.fragment:
        raise AppError("The address of the application is not valid.", address)
    if parts.username is not None or parts.password is not None:
        raise AppError("The address of the application holds no user or password.", address)
    if any(char.isspace() or not char.isprintable() for char in address):
        raise AppError("The address of the application is not valid.", "It has a blank.")
    if parts.scheme == "http" and not is_this_computer(address):
        hint = "Tokens of users would cross the network in plain sight."
        raise AppError("An application on another computer is asked by https.", hint)


class AccessRules:
    """Keeps the rules, one for each collection. A change holds from the next request on."""

    def __init__(self, path: Path) -> None:
        """The file is created with the first rule."""
        self._path = path
        self._lock = FileLock(path.with_suffix(".lock"), timeout=_LOCK_S)
        self._reading = threading.Lock()
        self._known: tuple[AccessRule, ...] = ()
        self._stamp: tuple[int, int, int] | None = None

    def all(self) -> Sequence[AccessRule]:
        """All rules. AppError when the file can't be read: nobody knows then what is protected."""
        with self._reading:
            try:
                status = self._path.stat()
            except FileNotFoundError:
                self._known, self._stamp = (), None
                return ()
            except OSError as exc:
                raise _unreadable(f"{exc.strerror}.") from exc
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._stamp:
                self._known, self._stamp = self._read(), stamp
            return self._known

    def of(self, collection_id: str) -> AccessRule | None:
        """The rule of a collection. AppError as in `all`."""
        return next((r for r in self.all() if r.collection_id == collection_id), None)

    def set(self, rule: AccessRule, key: str = "") -> None:
        """Store a rule, and the text of its public `key`, if given. AppError if one is invalid."""
        from desktop_rag.features.server.access.user_tokens import UserTokens, check_key  # noqa: PLC0415

        kept = self._key_file(rule.collection_id)
        if key:
            rule = replace(rule, key_file=str(kept))
        check_rule(rule)
        if key:
            check_key(key, rule)
        else:
            UserTokens().keys(rule)
        with self._writing():
            others = [r for r in self.all() if r.collection_id != rule.collection_id]
            if key:
                kept.parent.mkdir(mode=0o700, exist_ok=True)
                write_atomically(kept, key)
            self._write([*others, rule])
            if rule.key_file != str(kept):
                kept.unlink(missing_ok=True)

    def remove(self, collection_id: str) -> None:
        """Let everyone with a token for it read the collection again."""
        with self._writing():
            self._write([r for r in self.all() if r.collection_id != collection_id])
            self._key_file(collection_id).unlink(missing_ok=True)

    def _key_file(self, collection_id: str) -> Path:
        return self._path.parent / "user_keys" / f"{collection_id}.key"

    def _read(self) -> tuple[AccessRule, ...]:
        try:
            content = object_in(self._path.read_bytes())
            rules = decoded(tuple[AccessRule, ...], content.get("rules"))
            for rule in rules:
                check_rule(rule)
            return rules
        except OSError as exc:
            raise _unreadable(f"{exc.strerror}.") from exc
        except AppError as error:
            raise _unreadable(f"{error.title} {error.hint}") from error
        except ValueError as exc:
            raise _unreadable(_FORM) from exc

    def _write(self, rules: Sequence[AccessRule]) -> None:
        stored = {"rules": encoded(rules)}
        write_atomically(self._path, json.dumps(stored, ensure_ascii=False, indent=1))

    @contextmanager
    def _writing(self) -> Generator[None]:
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            with self._lock:
                yield
        except Timeout as exc:
            raise AppError("Another process changes the rules.", "Try again.") from exc
        except OSError as exc:
            hint = f"{self._path}: {exc.strerror}."
            raise AppError("The rules of access can't be changed.", hint) from exc


def _unreadable(hint: str) -> AppError:
    return AppError("The rules of access can't be read.", hint)
