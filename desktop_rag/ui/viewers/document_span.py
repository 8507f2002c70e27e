"""What is to be read: a document, the words in it, and what is known if it is gone. Any thread."""

from dataclasses import dataclass

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.markup.plain_markdown import shown_text

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentSpan:
    """A document and a span of its text, such as a passage or quote; the span may be empty.

    `quote` are the words there when they were cited, since the document may have changed.
    `title` and `passage` are shown when the library no longer has the document, nor another of the
    same `path` and `part`.
    """

    document_id: str
    start: int = 0
    end: int = 0
    quote: str = ""
    title: str = ""
    passage: str = ""
    path: str = ""
    part: str = ""

    @property
    def span(self) -> Span:
        """The start and the end."""
        return self.start, self.end


def span_of(source: SourceRef) -> DocumentSpan:
    """The cited words of a source."""
    title = source.title or source.path
    # The text of a query's result is nowhere in the document.
    quote = "" if source.query else source.quote or source.text
    return DocumentSpan(
        source.document_id, source.start, source.end, quote, title,
        shown_text(source.text, source.path, source.url), source.path, source.part,
    )  # fmt: skip
