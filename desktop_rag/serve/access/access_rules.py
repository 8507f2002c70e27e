"""Collections whose readers another application decides about, in a file of their own.

A rule holds no secret: the key is a public one, in a file that the rule names. Any thread;
processes take turns.
"""

import json
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import write_atomically
from desktop_rag.models.endpoint_address import is_this_computer

# Only with a public key: with the others, whoever can check a token can make one.
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
_LOCK_S = 5.0
_FORM = "There is a fault in it. Correct it, or delete it and set the rules again."


@dataclass(frozen=True, slots=True)
class AccessRule:
    """The application that says who may read which documents of a collection.

    Its users come with a token signed with the key in `key_file`, a public key in PEM or a JWKS, by
    one of the `algorithms`, from `issuer` and for `audience`. The application is asked at
    `address` which documents they may read.
    """

    collection_id: str
    key_file: str
    algorithms: tuple[str, ...]
    issuer: str
    audience: str
    address: str

    def check(self) -> None:
        """AppError for a rule that can't be kept to. The key is not read."""
        if not self.issuer.strip() or not self.audience.strip():
            raise AppError("The issuer and the audience of the tokens are needed.")
        unknown = [name for name in self.algorithms if name not in ALGORITHMS]
        if unknown or not self.algorithms:
            said = f"“{unknown[0]}” is not one of them." if unknown else "None is named."
            raise AppError(f"The algorithms are {', '.join(ALGORITHMS)}.", said)
        if not Path(self.key_file).is_absolute():
            raise AppError("The file of the key is named by its full path.", self.key_file)
        _check_address(self.address)

    def to_json(self) -> dict[str, Any]:
        """The stored form."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "AccessRule":
        """The inverse of `to_json`. AppError, TypeError or KeyError for anything else."""
        names = ("collection_id", "key_file", "issuer", "audience", "address")
        texts = {name: fields[name] for name in names}
        algorithms = fields["algorithms"]
        if not all(isinstance(value, str) for value in (*texts.values(), *algorithms)):
            raise TypeError("not a text")
        rule = cls(algorithms=tuple(algorithms), **texts)
        rule.check()
        return rule


def _check_address(address: str) -> None:
    """AppError for an address to which no user's token may be sent."""
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

    def set(self, rule: AccessRule) -> None:
        """Keep a rule in place of an earlier one for the collection. AppError for a wrong one."""
        rule.check()
        with self._writing():
            others = [r for r in self.all() if r.collection_id != rule.collection_id]
            self._write([*others, rule])

    def remove(self, collection_id: str) -> None:
        """Let everyone with a token for it read the collection again."""
        with self._writing():
            self._write([r for r in self.all() if r.collection_id != collection_id])

    def _read(self) -> tuple[AccessRule, ...]:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            rows = cast("list[dict[str, Any]]", content["rules"])
            return tuple(AccessRule.from_json(row) for row in rows)
        except OSError as exc:
            raise _unreadable(f"{exc.strerror}.") from exc
        except AppError as error:
            raise _unreadable(f"{error.title} {error.hint}") from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
            raise _unreadable(_FORM) from exc

    def _write(self, rules: Sequence[AccessRule]) -> None:
        stored = {"rules": [rule.to_json() for rule in rules]}
        write_atomically(self._path, json.dumps(stored, ensure_ascii=False, indent=1))

    @contextmanager
    def _writing(self) -> Generator[None]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._lock:
                yield
        except Timeout as exc:
            raise AppError("Another process changes the rules.", "Try again.") from exc
        except OSError as exc:
            hint = f"{self._path}: {exc.strerror}."
            raise AppError("The rules of access can't be changed.", hint) from exc


def _unreadable(hint: str) -> AppError:
    return AppError("The rules of access can't be read.", hint)
