"""The vectors by which intents are recognised: always by the bundled model.

Any thread. The recognition is calibrated for this model, and sends no sentence anywhere.
"""

from collections.abc import Sequence
from threading import Lock

import numpy as np

from desktop_rag.core.settings import IndexSettings
from desktop_rag.models.embedding.embedder_opener import EmbedderOpener
from desktop_rag.models.ports import Embedder, Vectors

_BATCH = 32


class BundledEmbedding:
    """Embeds sentences; opens the model for the first of them unless the library has it open."""

    def __init__(
        self, settings: IndexSettings, opened: Embedder | None, opener: EmbedderOpener
    ) -> None:
        """`opened` is what the library uses by these settings."""
        self._embedder = None if settings.model_folder else opened
        self._open = opener.open
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """The unit vector of each text, one a row. AppError when the model can't be opened."""
        with self._lock:
            if self._embedder is None:
                self._embedder = self._open("", 1)
        parts = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        return np.concatenate([self._embedder.embed_passages(list(part)) for part in parts])
