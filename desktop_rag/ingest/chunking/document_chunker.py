"""Cuts parsed documents for one embedder: chunks, the words in them, and how they were cut.

Pure but for counting tokens; the indexer's thread and the rechunker's use one each.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.parsed import Chunk, ChunkSettings, ParsedDocument
from desktop_rag.core.terms import term_counts
from desktop_rag.ingest.chunking.chunker import CountTokens, chunk_document, chunking_signature


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """The chunks of a document, the terms of each, and the signature of the way it was cut."""

    chunks: tuple[Chunk, ...]
    term_counts: tuple[Counter[str], ...]
    chunking: str


class DocumentChunker:
    """`chunk_document` for one tokenizer."""

    def __init__(self, count_tokens: CountTokens, max_tokens: int, model: str = "") -> None:
        """`max_tokens` is what the embedder takes, special tokens included; `model` its name."""
        self._model = model
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens

    def cut(
        self, document: ParsedDocument, settings: ChunkSettings, before: Sequence[Chunk] = ()
    ) -> ChunkedDocument:
        """ChunkedDocument a document; borders from before stay where the text did not change."""
        chunks = tuple(
            chunk_document(document, settings, self._count_tokens, self._max_tokens, before)
        )
        counts = tuple(term_counts(chunk.embedded_text, document.language) for chunk in chunks)
        return ChunkedDocument(chunks, counts, self.signature(settings))

    def signature(self, settings: ChunkSettings) -> str:
        """Tells one way of cutting from another."""
        return chunking_signature(settings, self._max_tokens, self._model)
