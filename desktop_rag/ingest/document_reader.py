"""Documents as a person looks at them: text, chunks, exact places, pictures of pages.

Any worker thread; pictures are made one at a time, in a parser process of their own.
"""

import threading
from collections.abc import Callable

from desktop_rag.core.anchors import Anchor, PageView
from desktop_rag.core.domain import Document
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.places import Places, places_from_json
from desktop_rag.core.quote_alignment import locate
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from desktop_rag.store.contract.documents import DocumentStore

_LONGEST_QUOTE_CHARS = 4000


class DocumentReader:
    """Answers where something stands in a document that was read."""

    def __init__(self, documents: DocumentStore, make_parser: Callable[[], ParserProcess]) -> None:
        """`make_parser` makes the process that draws pages, once the first is asked for."""
        self._documents = documents
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

    def document(self, document_id: str) -> Document | None:
        """The row of a document; None when it is not known (any more)."""
        return next(iter(self._documents.get([document_id])), None)

    def text(self, document_id: str) -> str:
        """The whole extracted text; empty when there is none."""
        return self._documents.text(document_id) or ""

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks in reading order."""
        return self._documents.chunks(document_id)

    def place(self, document_id: str, start: int, end: int) -> Anchor:
        """The exact place of the text [start, end)."""
        marks, headings, _ = places_from_json(self._documents.content(document_id)[1])
        return Places(marks, headings).anchor(start, end)

    def locate(self, document_id: str, quote: str) -> tuple[int, int] | None:
        """Where a quoted sentence stands in the text, by alignment; None without clear support."""
        return locate(quote, self.text(document_id))

    def page_view(
        self, document_id: str, start: int, end: int, width_px: int, *, cancel: threading.Event
    ) -> PageView | None:
        """A picture of the page the span begins on, with the span marked; None: it has no pages.

        AppError when the page can't be drawn, Cancelled soon after `cancel` is set.
        """
        document = self.document(document_id)
        if document is None or document.part:
            return None
        page = self.place(document_id, start, end).page
        if page is None:
            return None
        end = min(end, start + _LONGEST_QUOTE_CHARS)
        quote = self.text(document_id)[start:end]
        with self._drawing:
            if self._closing.is_set():
                return None
            self._parser = self._parser or self._make_parser()
            try:
                return self._parser.view_page(document.path, page, quote, width_px, cancel=cancel)
            except ParseFailed as failed:
                raise AppError("The page cannot be drawn.", failed.title) from failed
