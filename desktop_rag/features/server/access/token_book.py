"""The tokens of the local server, and their last uses, in files of their own. Any thread."""

import hmac
import json
import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import object_in, read_object, write_atomically
from desktop_rag.core.records import decoded, encoded
from desktop_rag.features.server.access.access_tokens import Token, digest_of

log = logging.getLogger(__name__)

_LOCK_S = 5.0


class TokenBook:
    """Keeps tokens without their secrets; other processes may change the file at any time."""

    def __init__(self, path: Path) -> None:
        """The file is created with the first token, for this user alone."""
        self._path = path
        self._lock = FileLock(path.with_suffix(".lock"), timeout=_LOCK_S)
        self._known: tuple[Token, ...] = ()
        self._stamp: tuple[int, int, int] | None = None

    def all(self) -> Sequence[Token]:
        """All tokens, the oldest first. AppError when the file can't be read."""
        self._read()
        return self._known

    def find(self, secret: str) -> Token | None:
        """The token with this secret, None for an unknown or expired one; takes constant time."""
        digest, found = digest_of(secret), None
        for token in self.all():
            if hmac.compare_digest(token.digest.encode("utf-8", "replace"), digest.encode()):
                found = token
        return None if found is None or found.is_expired(time.time()) else found

    def add(self, token: Token) -> None:
        """Keep a new token. AppError when its name is taken or the file can't be written."""
        name = " ".join(token.name.split())
        if not name:
            raise AppError("The token has no name.", "Name the program that will use it.")
        with self._writing():
            if any(known.name.casefold() == name.casefold() for known in self.all()):
                raise AppError(f"There is a token “{name}” already.", "Choose another name.")
            self._write([*self._known, token])

    def change(self, token_id: str, change: Callable[[Token], Token]) -> None:
        """Replace a token by what `change` makes of it; without effect when it was revoked."""
        with self._writing():
            self._write([change(t) if t.token_id == token_id else t for t in self.all()])

    def revoke(self, token_id: str) -> None:
        """Forget a token, which is refused from the next request on."""
        with self._writing():
            self._write([token for token in self.all() if token.token_id != token_id])

    def named(self, name: str) -> Token:
        """The token of this name, ignoring case; AppError with the existing names if none."""
        for token in self.all():
            if token.name.casefold() == name.casefold():
                return token
        names = ", ".join(token.name for token in self.all())
        hint = f"There are: {names}." if names else "There are no tokens yet."
        raise AppError(f"There is no token “{name}”.", hint)

    @contextmanager
    def _writing(self) -> Generator[None]:
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            with self._lock:
                yield
        except Timeout as exc:
            raise AppError("The tokens are being changed elsewhere.", "Try again.") from exc
        except OSError as exc:
            hint = f"{self._path}: {exc.strerror}."
            raise AppError("The tokens could not be saved.", hint) from exc

    def _read(self) -> None:
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp == self._stamp:
                return
            content = object_in(self._path.read_bytes())
            self._known = decoded(tuple[Token, ...], content.get("tokens"))
            self._stamp = stamp
        except FileNotFoundError:
            self._known, self._stamp = (), None
        except (OSError, ValueError) as exc:
            log.info("the tokens can't be read: %s", type(exc).__name__)
            hint = f"Remove {self._path} and make new tokens. Until then nobody is let in."
            raise AppError("The tokens of the server can't be read.", hint) from exc

    def _write(self, tokens: Sequence[Token]) -> None:
        content = {"tokens": encoded(tokens)}
        self._path.touch(mode=0o600)
        write_atomically(self._path, json.dumps(content, ensure_ascii=False, indent=1))
        self._path.chmod(0o600)
        self._read()


# A busy token must not cause a write for each request.
_PRECISION_S = 60.0


class TokenUses:
    """When each token was last used, to the minute; one process writes. Faults are only logged."""

    def __init__(self, path: Path) -> None:
        """The file is created with the first use."""
        self._path = path
        self._lock = threading.Lock()
        self._written: dict[str, float] | None = None

    def note(self, token_id: str) -> None:
        """This token is used now."""
        now = time.time()
        with self._lock:
            if self._written is None:
                self._written = dict(self.all())
            if now - self._written.get(token_id, 0.0) < _PRECISION_S:
                return
            self._written[token_id] = now
            try:
                self._path.parent.mkdir(mode=0o700, exist_ok=True)
                write_atomically(self._path, json.dumps(self._written))
            except OSError as exc:
                log.info("the use of a token was not noted: %s", type(exc).__name__)

    def all(self) -> Mapping[str, float]:
        """The time of the last use by token id, without tokens that were never used."""
        uses = read_object(self._path).items()
        return {token_id: float(at) for token_id, at in uses if isinstance(at, int | float)}
