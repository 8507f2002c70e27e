"""Pictures of document pages, drawn one at a time in a parser process of its own.

Any worker thread.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from desktop_rag.core.anchors import PageView
from desktop_rag.core.errors import AppError
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess


class PageRenderer:
    """Draws pages of files; the process starts with the first request."""

    def __init__(self, make_parser: Callable[[], ParserProcess]) -> None:
        self._make_parser = make_parser
        self._parser: ParserProcess | None = None
        self._drawing = threading.Lock()
        self._closing = threading.Event()

    def close(self) -> None:
        """End the parser process."""
        self._closing.set()
        with self._drawing:
            if self._parser is not None:
                self._parser.close()
                self._parser = None

    def draw(
        self, path: Path, page: int, quote: str, width_px: int, *, cancel: threading.Event
    ) -> PageView | None:
        """The picture of a page with the quote marked; None after `close`.

        AppError when the page can't be drawn, Cancelled soon after `cancel` is set.
        """
        with self._drawing:
            if self._closing.is_set():
                return None
            self._parser = self._parser or self._make_parser()
            try:
                return self._parser.view_page(path, page, quote, width_px, cancel=cancel)
            except ParseFailed as failed:
                raise AppError("The page cannot be drawn.", failed.title) from failed
