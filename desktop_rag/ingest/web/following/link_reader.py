"""Reads the links of fetched pages in a parser process of its own. Runs on the thread that asks.

Foreign HTML goes through native code, which the app's own process must not run on it.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from desktop_rag.core.crawling.page_links import PageLinks
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from desktop_rag.ingest.web.page_files import drop, save

_NAME = ".links.html"


class LinkReader:
    """Asks the parser process for links; it starts with the first page."""

    def __init__(self, make_parser: Callable[[], ParserProcess]) -> None:
        self._make_parser = make_parser
        self._parser: ParserProcess | None = None

    def close(self) -> None:
        """End the parser process; the next page starts another."""
        if self._parser is not None:
            self._parser.close()
            self._parser = None

    def links_in(self, copy: Path, *, cancel: threading.Event) -> PageLinks:
        """The links of a stored page; none of one that can't be read. Cancelled as it says."""
        self._parser = self._parser or self._make_parser()
        try:
            return self._parser.page_links(copy, cancel=cancel)
        except ParseFailed:
            return PageLinks()

    def links_of(self, body: bytes, folder: Path, *, cancel: threading.Event) -> PageLinks:
        """The links of a page that is not stored yet. AppError when the disk takes nothing."""
        copy = folder / _NAME
        save(copy, body)
        try:
            return self.links_in(copy, cancel=cancel)
        finally:
            drop(copy)
