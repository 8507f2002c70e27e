"""The batch size of embedding, adapted to the computer. One for each thread that embeds."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from desktop_rag.models.ports import Embedder

# A question has to wait for the cores until the current batch is done.
_LONG_S = 0.08
_SHORT_S = 0.03
_FIRST = 8
_MOST = 32


class BatchSize:
    """`now` falls when batches take long on this computer, and rises when they are quick.

    Measured in processor time of the thread, so that waiting for a server does not count.
    """

    def __init__(self) -> None:
        self.now = _FIRST

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of one batch."""
        began_at = time.thread_time()
        vectors = embedder.embed_passages(texts)
        self.took(time.thread_time() - began_at)
        return vectors

    def took(self, seconds: float) -> None:
        """Adapt to the duration of a batch of this size."""
        if seconds > _LONG_S:
            self.now = max(1, self.now // 2)
        elif seconds < _SHORT_S:
            self.now = min(_MOST, 2 * self.now)
