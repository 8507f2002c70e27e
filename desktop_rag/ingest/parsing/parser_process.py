"""Reads files in the parser process and trusts nothing it says.

Used by one thread at a time, the indexer's.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_args

from desktop_rag.core.anchors import PageView
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.ingest.parsing.child_link import ChildLink, ChildLostError
from desktop_rag.ingest.parsing.frame_assembly import Assembly, clean_text
from desktop_rag.ingest.parsing.protocol import Limits, ProtocolError, Request
from desktop_rag.ingest.read.formats import PDF
from desktop_rag.ingest.read.foundation.read_limits import MAX_VIEW_PX, PageViewRequest, Reason

log = logging.getLogger(__name__)

# Libraries keep some of the memory they take, so a process serves only so many files.
FILES_PER_PROCESS = 200
CRASHES_BEFORE_PROBE = 3
_MAX_SHOWN_CHARS = 300

T = TypeVar("T")
# How what has come in is finished, from what came last.
Made = Callable[[Assembly, Mapping[str, Any]], T]


class ParseFailed(AppError):  # noqa: N818  the file's failure, not the program's
    """A file has no text for us. `reason` is for decisions, title and hint are for people."""

    def __init__(self, reason: Reason, title: str, hint: str = "") -> None:
        super().__init__(title, hint)
        self.reason: Reason = reason


def worker_command() -> list[str]:
    """The command line of the parser process."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--worker"]
    return [sys.executable, "-m", "desktop_rag.ingest.parsing.parser_child"]


class ParserUnavailable(AppError):  # noqa: N818  it says how the parser is
    """Files keep ending the parser process, and it fails without them too. Nothing is read."""

    def __init__(self, hint: str) -> None:
        super().__init__("Reading files keeps failing.", hint)


class ParserProcess:
    """Parses files, one at a time, in a process that may hang, crash or lie.

    The process is started at the first file, replaced after FILES_PER_PROCESS of them and after
    each mishap. When CRASHES_BEFORE_PROBE files in a row end it, it is asked whether it is well
    without them: bad files may well stand side by side.
    """

    def __init__(
        self,
        command: Sequence[str] | None = None,
        limits: Limits | None = None,
        *,
        uses_ocr: bool = True,
    ) -> None:
        """With `uses_ocr` text in pictures is read, where the extra for it is installed."""
        self.uses_ocr = uses_ocr
        self._command = list(command or worker_command())
        self._limits = limits or Limits()
        self._child: ChildLink | None = None
        self._files = 0
        self._deadly: set[Path] = set()

    @property
    def consecutive_crashes(self) -> int:
        """How many files ended the process since one was last answered for."""
        return len(self._deadly)

    def parse(
        self, path: Path, *, is_web_page: bool = False, cancel: threading.Event | None = None
    ) -> ParsedDocument:
        """The text of a file with its places. A web page is one that the app fetched.

        Raises ParseFailed when the file yields no text, Cancelled soon after `cancel` is set,
        ParserUnavailable when the parser itself is at fault, and AppError when the process cannot
        be started.
        """
        request = Request(path, self._limits, web_page=is_web_page, ocr=self.uses_ocr)
        try:
            document = self._parse(request, cancel)
        except ParseFailed:
            self._deadly.clear()
            raise
        except ChildLostError as exc:
            self._deadly.add(path)
            self._check_health(cancel)
            raise ParseFailed(exc.reason, exc.title, exc.hint) from exc
        self._deadly.clear()
        return document

    def view_page(
        self,
        path: Path,
        page: int,
        quote: str,
        width_px: int,
        *,
        cancel: threading.Event | None = None,
    ) -> PageView:
        """A picture of a PDF's page (from 1), at most MAX_VIEW_PX wide, and where the quote stands.

        Raises as `parse` does. A document that is being parsed elsewhere is waited for by nobody:
        use a second ParserProcess for views.
        """
        wish = PageViewRequest(page, quote, max(1, min(width_px, MAX_VIEW_PX)))
        try:
            return self._attempt(Request(path, self._limits, view=wish), cancel, Assembly.view)
        except ChildLostError as exc:
            raise ParseFailed(exc.reason, exc.title, exc.hint) from exc

    def close(self) -> None:
        """End the process. The next `parse` would start a new one."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def _parse(self, request: Request, cancel: threading.Event | None) -> ParsedDocument:
        try:
            return self._attempt(request, cancel, Assembly.document)
        except ChildLostError as exc:
            if exc.reason != "crashed" or exc.started != PDF:
                raise
            log.info("the PDF reader crashed, asking for the slower one: %s", exc.hint)
        return self._attempt(replace(request, is_safe=True), cancel, Assembly.document)

    def _check_health(self, cancel: threading.Event | None) -> None:
        """Raise ParserUnavailable if the process fails with nothing foreign to read."""
        if len(self._deadly) < CRASHES_BEFORE_PROBE:
            return
        self._deadly.clear()
        try:
            self._attempt(Request(None, self._limits), cancel, Assembly.document)
        except (ChildLostError, ParseFailed) as exc:
            raise ParserUnavailable(f"{exc.title}. {exc.hint}".strip()) from exc

    def _attempt(self, request: Request, cancel: threading.Event | None, made: Made[T]) -> T:
        child = self._ready_child(cancel)
        seconds = self._limits.seconds_for(_size(request.path))
        try:
            child.send(request.to_line())
            return self._receive(child, time.monotonic() + seconds, cancel, made)
        except ParseFailed:
            raise
        except BaseException:
            # Whatever is left of the answer must not be taken for the next one.
            self.close()
            raise

    def _receive(
        self, child: ChildLink, deadline: float, cancel: threading.Event | None, made: Made[T]
    ) -> T:
        assembly = Assembly(self._limits)
        started, pages_read = "", 0
        try:
            while True:
                message = assembly.add(child.receive(deadline, cancel))
                started = message.get("started", started)
                if "page_read" in message and pages_read < self._limits.ocr_pages:
                    pages_read += 1
                    deadline = max(deadline, time.monotonic() + self._limits.ocr_page_s)
                if "error" in message:
                    raise self._failure(message)
                if "done" in message:
                    return made(assembly, message["done"])
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


def _size(path: Path | None) -> int:
    try:
        return path.stat().st_size if path else 0
    except OSError:
        return 0  # The child will say what is wrong with it.
