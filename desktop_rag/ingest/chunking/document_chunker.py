"""Chunks parsed documents for one embedder and counts their terms.

Pure except for counting tokens; the indexer's thread and the rechunker's use one instance each.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from desktop_rag.core.parsed import Chunk, ChunkSettings, ParsedDocument
from desktop_rag.core.terms import term_counts
from desktop_rag.ingest.chunking.chunker import CountTokens, chunk_document, chunking_signature

# The counted terms of a large document take several times as much memory as its text.
_MOST_COUNTED = 2_000


class TermCounts(Sequence[Counter[str]]):
    """The terms of each chunk, counted when they are read."""

    def __init__(self, chunks: Sequence[Chunk], language: str) -> None:
        self._chunks = chunks
        self._language = language

    def __len__(self) -> int:
        return len(self._chunks)

    @overload
    def __getitem__(self, index: int) -> Counter[str]: ...
    @overload
    def __getitem__(self, index: slice) -> "TermCounts": ...
    def __getitem__(self, index: int | slice) -> "Counter[str] | TermCounts":
        if isinstance(index, slice):
            return TermCounts(self._chunks[index], self._language)
        return term_counts(self._chunks[index].embedded_text, self._language)


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """The chunks of a document, the terms of each, and the chunking signature."""

    chunks: tuple[Chunk, ...]
    term_counts: Sequence[Counter[str]]
    chunking: str


class DocumentChunker:
    """Applies `chunk_document` with one tokenizer."""

    def __init__(self, count_tokens: CountTokens, max_tokens: int, model: str = "") -> None:
        """`max_tokens` is the embedder's limit, special tokens included; `model` is its name."""
        self._model = model
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens

    def cut(
        self, document: ParsedDocument, settings: ChunkSettings, before: Sequence[Chunk] = ()
    ) -> ChunkedDocument:
        """Chunk a document; boundaries of `before` stay where the text is unchanged."""
        chunks = tuple(
            chunk_document(document, settings, self._count_tokens, self._max_tokens, before)
        )
        counts: Sequence[Counter[str]] = TermCounts(chunks, document.language)
        if len(chunks) <= _MOST_COUNTED:
            # Here, as storing them is the work of the one thread that writes.
            counts = tuple(counts)
        return ChunkedDocument(chunks, counts, self.signature(settings))

    def signature(self, settings: ChunkSettings) -> str:
        """Identifies this way of chunking."""
        return chunking_signature(settings, self._max_tokens, self._model)
