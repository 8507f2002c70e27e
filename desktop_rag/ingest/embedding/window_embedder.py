"""Makes the vectors of windows, after those of passages. The thread of the embedding queue."""

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from desktop_rag.ingest.embedding.batch_size import BatchSize
from desktop_rag.ingest.embedding.windows import WORDS, windows
from desktop_rag.models.answer_priority import FairShare
from desktop_rag.models.ports import Embedder
from desktop_rag.store.contract.vectors import VectorStore


class WindowEmbedder:
    """The embedder with the table of windows its vectors go to."""

    def __init__(
        self, vectors: VectorStore, embedder: Embedder, share: FairShare, most_words: int = WORDS
    ) -> None:
        """`most_words` is the size of a window."""
        self._vectors = vectors
        self._most_words = most_words
        self._embedder = embedder
        self._share = share
        self._batch_size = BatchSize()

    def embed(self, rows: Sequence[tuple[str, str]], may_go_on: Callable[[], bool]) -> bool:
        """Embed the windows of (content hash, text) and store them in one transaction.

        False when `may_go_on`, asked before each batch, ended it early: then nothing is stored.
        """
        cut = [
            [text[start:end] for start, end in windows(text, self._most_words)] for _, text in rows
        ]
        found = self._vectors_of([window for texts in cut for window in texts], may_go_on)
        if found is None:
            return False
        ends = list(accumulate(len(texts) for texts in cut))
        parts = [found[end - len(texts) : end] for end, texts in zip(ends, cut, strict=True)]
        self._vectors.add_windows([content_hash for content_hash, _ in rows], parts)
        return True

    def _vectors_of(
        self, texts: Sequence[str], may_go_on: Callable[[], bool]
    ) -> NDArray[np.float32] | None:
        found = np.empty((len(texts), self._embedder.dimensions), np.float32)
        # By length: a server may pad the texts of a batch.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        start = 0
        while start < len(order):
            self._share.wait()
            if not may_go_on():
                return None
            batch = order[start : start + self._batch_size.now]
            found[batch] = self._batch_size.embed(self._embedder, [texts[i] for i in batch])
            start += len(batch)
        return found
