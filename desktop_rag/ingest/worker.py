"""Reads files in the parser process and trusts nothing it says.

Used by one thread at a time, the indexer's.
"""

import json
import logging
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from desktop_rag.core.domain import ParsedDocument
from desktop_rag.core.errors import AppError
from desktop_rag.ingest.read.formats import PDF
from desktop_rag.ingest.worker_link import ChildLink, ChildLostError
from desktop_rag.ingest.worker_protocol import (
    Assembly,
    Limits,
    ProtocolError,
    Reason,
    clean_text,
)

log = logging.getLogger(__name__)

# Libraries keep some of the memory they take, so a process serves only so many files.
FILES_PER_PROCESS = 200
_MAX_SHOWN_CHARS = 300


class ParseFailed(AppError):  # noqa: N818  the file's failure, not the program's
    """A file has no text for us. `reason` is for decisions, title and hint are for people."""

    def __init__(self, reason: Reason, title: str, hint: str = "") -> None:
        super().__init__(title, hint)
        self.reason: Reason = reason


def worker_command() -> list[str]:
    """The command line of the parser process."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--worker"]
    return [sys.executable, "-m", "desktop_rag.ingest.worker_child"]


class ParserProcess:
    """Parses files, one at a time, in a process that may hang, crash or lie.

    The process is started at the first file, replaced after FILES_PER_PROCESS of them and after
    each mishap. `deaths_in_a_row` counts the mishaps since a file was last answered for.
    """

    def __init__(self, command: Sequence[str] | None = None, limits: Limits | None = None) -> None:
        self.deaths_in_a_row = 0
        self._command = list(command or worker_command())
        self._limits = limits or Limits()
        self._child: ChildLink | None = None
        self._files = 0

    def parse(self, path: Path, *, cancel: threading.Event | None = None) -> ParsedDocument:
        """The text of a file with its places.

        Raises ParseFailed if the file has none for us, Cancelled soon after `cancel` is set, and
        AppError if the parser process can't be started at all.
        """
        try:
            return self._attempt(path, cancel, is_safe=False)
        except ChildLostError as exc:
            if exc.reason != "crashed" or exc.started != PDF:
                raise ParseFailed(exc.reason, exc.title, exc.hint) from exc
            log.info("the PDF reader crashed, asking for the slower one: %s", exc.hint)
        try:
            return self._attempt(path, cancel, is_safe=True)
        except ChildLostError as exc:
            raise ParseFailed(exc.reason, exc.title, exc.hint) from exc

    def close(self) -> None:
        """End the process. The next `parse` would start a new one."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def _attempt(
        self, path: Path, cancel: threading.Event | None, *, is_safe: bool
    ) -> ParsedDocument:
        child = self._ready_child(cancel)
        deadline = time.monotonic() + self._limits.seconds_for(_size(path))
        request = {"path": str(path), "limits": self._limits.to_json(), "is_safe": is_safe}
        try:
            child.send(json.dumps(request).encode("ascii"))
            document = self._receive(child, deadline, cancel)
        except ParseFailed:
            self.deaths_in_a_row = 0
            raise
        except ChildLostError:
            self.deaths_in_a_row += 1
            self.close()
            raise
        except BaseException:
            # Whatever is left of the answer must not be taken for the next one.
            self.close()
            raise
        self.deaths_in_a_row = 0
        return document

    def _receive(
        self, child: ChildLink, deadline: float, cancel: threading.Event | None
    ) -> ParsedDocument:
        assembly = Assembly(self._limits)
        started = ""
        try:
            while True:
                message = assembly.add(child.receive(deadline, cancel))
                started = message.get("started", started)
                if "error" in message:
                    raise self._failure(message)
                if "done" in message:
                    return assembly.document(message["done"])
        except ProtocolError as exc:
            lost = ChildLostError("crashed", "The file crashes its reader", f"It says: {exc}")
            lost.started = started
            raise lost from exc
        except ChildLostError as exc:
            exc.started = started
            raise

    def _failure(self, message: dict[str, Any]) -> ParseFailed:
        try:
            reason, title, hint = (
                message["kind"], str(message["error"]["title"]), str(message["error"]["hint"])
            )  # fmt: skip
        except (TypeError, KeyError) as exc:
            raise ProtocolError("an error makes no sense") from exc
        if reason not in get_args(Reason):
            raise ProtocolError("an error has no reason")
        if message.get("is_last"):
            self.close()
        return ParseFailed(
            reason, clean_text(title[:_MAX_SHOWN_CHARS]), clean_text(hint[:_MAX_SHOWN_CHARS])
        )

    def _ready_child(self, cancel: threading.Event | None) -> ChildLink:
        child = self._child
        if child is None or self._files >= FILES_PER_PROCESS or not child.is_running:
            self.close()
            child = self._child = self._start(cancel)
            self._files = 0
        self._files += 1
        return child

    def _start(self, cancel: threading.Event | None) -> ChildLink:
        title = "The part of the app that reads files does not start"
        try:
            child = ChildLink(self._command, self._limits.memory_bytes)
        except OSError as exc:
            raise AppError(title, str(exc)) from exc
        try:
            frame = child.receive(time.monotonic() + self._limits.start_s, cancel)
            if frame == b'{"ready":true}':
                return child
        except ChildLostError as exc:
            raise AppError(title, exc.hint) from exc
        child.end()
        raise AppError(title, "It says something else than expected.")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # The child will say what is wrong with it.
