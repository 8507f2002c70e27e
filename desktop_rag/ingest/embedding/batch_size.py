"""How many texts are embedded at once. Each thread that embeds has its own."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from desktop_rag.models.ports import Embedder

# A batch under way has the cores that a question wants.
_LONG_S = 0.08
_SHORT_S = 0.03
_FIRST = 8
_MOST = 32


class BatchSize:
    """Follows what the computer and the texts make of it: `now` falls when a batch takes long.

    Measured is the processor time of the thread, so that waiting for a server counts nothing.
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
        """A batch of this size took so long."""
        if seconds > _LONG_S:
            self.now = max(1, self.now // 2)
        elif seconds < _SHORT_S:
            self.now = min(_MOST, 2 * self.now)
