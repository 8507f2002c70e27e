"""Chunks parsed documents for one embedder and counts their terms.

Pure except for counting tokens; the indexer's thread and the rechunker's use one instance each.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.parsed import Chunk, ChunkSettings, ParsedDocument
from desktop_rag.core.terms import term_counts
from desktop_rag.ingest.chunking.chunker import CountTokens, chunk_document, chunking_signature


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """The chunks of a document, the terms of each, and the chunking signature."""

    chunks: tuple[Chunk, ...]
    term_counts: tuple[Counter[str], ...]
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
        counts = tuple(term_counts(chunk.embedded_text, document.language) for chunk in chunks)
        return ChunkedDocument(chunks, counts, self.signature(settings))

    def signature(self, settings: ChunkSettings) -> str:
        """Identifies this way of chunking."""
        return chunking_signature(settings, self._max_tokens, self._model)
