"""Draws pages, reads unstored files and colours code in two parser processes. Any worker thread."""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ColourSpan, PageView, PageWish, ParsedDocument
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess

T = TypeVar("T")


class _OneAtATime:
    """A parser process, for any thread."""

    def __init__(self, parser: ParserProcess) -> None:
        self._parser = parser
        self._asking = threading.Lock()
        self._closing = threading.Event()

    def close(self) -> None:
        self._closing.set()
        self.release()

    def release(self) -> None:
        with self._asking:
            self._parser.close()

    def ask(self, ask: Callable[[ParserProcess], T]) -> T | None:
        """The answer; None after `close`."""
        with self._asking:
            if self._closing.is_set():
                return None
            return ask(self._parser)


class PageRenderer:
    """Draws pages and colours code. A page never waits for the colours of a long file."""

    def __init__(self, make_parser: Callable[[], ParserProcess]) -> None:
        self._pages, self._code = _OneAtATime(make_parser()), _OneAtATime(make_parser())

    def close(self) -> None:
        """End the parser processes, for good."""
        self._pages.close()
        self._code.close()

    def release(self) -> None:
        """End the processes once nothing is being drawn; the next page starts another."""
        self._pages.release()
        self._code.release()

    def draw(self, path: Path, wish: PageWish, *, cancel: threading.Event) -> PageView | None:
        """A picture of a page with the words marked; None after `close`.

        AppError when the page can't be drawn, Cancelled soon after `cancel` is set.
        """
        try:
            return self._pages.ask(lambda parser: parser.view_page(path, wish, cancel=cancel))
        except ParseFailed as failed:
            raise AppError("The page cannot be drawn.", failed.title) from failed

    def colours(self, path: Path, text: str, *, cancel: threading.Event) -> tuple[ColourSpan, ...]:
        """The colours of a file of source code; none if its text is not this one any more.

        Cancelled soon after `cancel` is set.
        """
        try:
            answer = self._code.ask(lambda parser: parser.colours(path, cancel=cancel))
        except ParseFailed:
            return ()
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return answer[1] if answer and answer[0] == digest else ()

    def parsed(self, path: Path, *, cancel: threading.Event) -> ParsedDocument | None:
        """What is in a file, without storing it; None after `close`.

        AppError with the reason when it can't be read, Cancelled soon after `cancel` is set.
        """
        return self._pages.ask(lambda parser: parser.parse(path, cancel=cancel))

    def warm_up(self) -> None:
        """Start the process, so that the first page does not wait for it."""
        self._pages.ask(lambda parser: parser.guards())
