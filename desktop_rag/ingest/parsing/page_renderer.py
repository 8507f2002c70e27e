"""Pictures of pages, colours of code and unstored texts, one at a time in a process of its own.

Any worker thread.
"""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from desktop_rag.core.anchors import PageView, PageWish
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ColourSpan, ParsedDocument
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess

T = TypeVar("T")


class PageRenderer:
    """Draws pages and colours code; the process starts with the first request."""

    def __init__(self, make_parser: Callable[[], ParserProcess]) -> None:
        self._make_parser = make_parser
        self._parser: ParserProcess | None = None
        self._drawing = threading.Lock()
        self._closing = threading.Event()

    def close(self) -> None:
        """End the parser process, for good."""
        self._closing.set()
        self.let_go()

    def let_go(self) -> None:
        """End the parser process once nothing is being drawn; the next page starts another."""
        with self._drawing:
            if self._parser is not None:
                self._parser.close()
                self._parser = None

    def draw(self, path: Path, wish: PageWish, *, cancel: threading.Event) -> PageView | None:
        """The picture of a page with the words marked; None after `close`.

        AppError when the page can't be drawn, Cancelled soon after `cancel` is set.
        """
        try:
            return self._ask(lambda parser: parser.view_page(path, wish, cancel=cancel))
        except ParseFailed as failed:
            raise AppError("The page cannot be drawn.", failed.title) from failed

    def colours(self, path: Path, text: str, *, cancel: threading.Event) -> tuple[ColourSpan, ...]:
        """The colours of a file of source code; none if its text is not this one any more."""
        try:
            answer = self._ask(lambda parser: parser.colours(path, cancel=cancel))
        except ParseFailed:
            return ()
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return answer[1] if answer and answer[0] == digest else ()

    def parsed(self, path: Path, *, cancel: threading.Event) -> ParsedDocument | None:
        """What is in a file, without storing it; None after `close`.

        AppError with the reason when it can't be read, Cancelled soon after `cancel` is set.
        """
        return self._ask(lambda parser: parser.parse(path, cancel=cancel))

    def warm_up(self) -> None:
        """Start the process, so that the first page does not wait for it."""
        self._ask(lambda parser: parser.guards())

    def _ask(self, ask: Callable[[ParserProcess], T]) -> T | None:
        with self._drawing:
            if self._closing.is_set():
                return None
            self._parser = self._parser or self._make_parser()
            return ask(self._parser)
