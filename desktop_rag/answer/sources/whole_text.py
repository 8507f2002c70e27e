"""The whole text of documents as sources, in parts that are easy to find. Worker threads."""

from collections.abc import Iterator, Sequence

from desktop_rag.answer.sources.source_merging import CountTokens, numbered, place_of
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Document, Passage
from desktop_rag.core.parsed import Chunk
from desktop_rag.store.contract.documents import DocumentStore

# A whole text is split into parts of about a page, so that a citation is easy to find.
_PART_TOKENS = 600
# The marks around each part in the prompt.
_FRAME_TOKENS = 60
# No text has more characters per token than this, so a longer one need not be counted.
_MOST_TOKEN_CHARS = 12


class WholeTexts:
    """Makes sources of whole documents."""

    def __init__(self, documents: DocumentStore, count_tokens: CountTokens) -> None:
        self._documents = documents
        self._count_tokens = count_tokens

    def within(
        self, documents: Sequence[Document], most_tokens: int, count_tokens: CountTokens
    ) -> tuple[SourceRef, ...]:
        """The whole text of all documents in parts; nothing when it takes more than `most_tokens`.

        `count_tokens` counts as the model does that is to read them.
        """
        parts: list[Passage] = []
        for document in documents:
            text, places = self._documents.content(document.document_id)
            if not text or len(text) > most_tokens * _MOST_TOKEN_CHARS:
                return ()
            chunks = self._documents.chunks(document.document_id)
            for start, end in self._spans(chunks, len(text)):
                parts.append(passage_of(document, text[start:end], places, start))
        counts = count_tokens([part.text for part in parts])
        is_fitting = sum(counts) + _FRAME_TOKENS * len(counts) <= most_tokens
        return numbered(parts) if is_fitting else ()

    def _spans(self, chunks: Sequence[Chunk], length: int) -> Iterator[tuple[int, int]]:
        """The text [0, length) in parts that each begin with a chunk."""
        start = tokens = 0
        counts = self._count_tokens([chunk.text for chunk in chunks])
        for chunk, count in zip(chunks, counts, strict=True):
            if tokens and tokens + count > _PART_TOKENS:
                yield start, chunk.start
                start, tokens = chunk.start, 0
            tokens += count
        yield start, length


def passage_of(document: Document, text: str, places: str, start: int) -> Passage:
    """A part of the text in the form of a search result."""
    end = start + len(text)
    return Passage(
        chunk_id=0,
        document_id=document.document_id,
        path=str(document.path),
        title=document.title or document.name,
        text=text,
        anchor=place_of(places, start, end) or Anchor(),
        start=start,
        end=end,
        score=0.0,
        part=document.part,
        url=document.address,
    )
