"""Makes and stores the vectors of chunks, batch by batch, letting questions go first.

Used by the threads of the embedding queue and of the rechunker.
"""

from collections.abc import Callable, Sequence

import numpy as np

from desktop_rag.core.parsed import Chunk, embedded_text
from desktop_rag.ingest.embedding.batch_size import BatchSize
from desktop_rag.ingest.embedding.embedder_registry import DenseIndex
from desktop_rag.models.answer_priority import FairShare


class ChunkEmbedder:
    """The embedder with the table its vectors go to."""

    def __init__(self, index: DenseIndex, share: FairShare, count: Callable[[int], None]) -> None:
        """`count` is called with the number of passages embedded."""
        self._vectors = index.vectors
        self._embedder = index.embedder
        self._share = share
        self._count = count
        self._batch_size = BatchSize()

    def embed(self, rows: Sequence[tuple[str, str, str]], may_go_on: Callable[[], bool]) -> bool:
        """Embed (content hash, context, text) and store the vectors in one transaction.

        False when `may_go_on`, asked before each batch, ended it early; what is done is stored.
        """
        parts: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []
        start = 0
        while start < len(rows):
            self._share.wait()
            if not may_go_on():
                break
            batch = rows[start : start + self._batch_size.now]
            texts = [embedded_text(head, text) for _, head, text in batch]
            parts.append(self._batch_size.embed(self._embedder, texts))
            self._count(len(batch))
            start += len(batch)
        done = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)
        if len(done):
            self._vectors.add([row[0] for row in rows[: len(done)]], done)
        return len(done) == len(rows)

    def embed_chunks(self, chunks: Sequence[Chunk], may_go_on: Callable[[], bool]) -> bool:
        """Make the vectors that these chunks lack; False when it was ended early."""
        missing = self._vectors.missing([chunk.content_hash for chunk in chunks])
        rows = {
            c.content_hash: (c.content_hash, c.context, c.text)
            for c in chunks
            if c.content_hash in missing
        }
        return self.embed(sorted(rows.values(), key=lambda row: len(row[2])), may_go_on)
