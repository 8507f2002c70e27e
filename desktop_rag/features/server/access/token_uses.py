"""When each token was used last, in a file of its own. Any thread; one process writes."""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.files.atomic_file import write_atomically

log = logging.getLogger(__name__)

# A busy token does not write a file for each request.
_PRECISION_S = 60.0


class TokenUses:
    """Notes uses to the minute. What can't be written or read is only logged."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        """The file is created with the first use. `clock` is the wall clock."""
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._written: dict[str, float] | None = None

    def note(self, token_id: str) -> None:
        """This token is used now."""
        now = self._clock()
        with self._lock:
            if self._written is None:
                self._written = dict(self.all())
            if now - self._written.get(token_id, 0.0) < _PRECISION_S:
                return
            self._written[token_id] = now
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_atomically(self._path, json.dumps(self._written))
            except OSError as exc:
                log.info("the use of a token was not noted: %s", type(exc).__name__)

    def all(self) -> Mapping[str, float]:
        """The time of the last use by token id, without tokens that were never used."""
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            listed = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
            return {str(token_id): float(at) for token_id, at in listed.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, RecursionError) as exc:
            log.info("the uses of tokens can't be read: %s", type(exc).__name__)
            return {}
