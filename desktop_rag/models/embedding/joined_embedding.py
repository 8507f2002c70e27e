"""Both bundled models side by side, for short sentences in any language. Any worker thread."""

from collections.abc import Callable, Sequence

import numpy as np

from desktop_rag.models.embedding.bundled_models import (
    BUNDLED,
    BUNDLED_MULTILINGUAL,
    bundled_folders,
)
from desktop_rag.models.embedding.onnx_embedder import OnnxEmbedder
from desktop_rag.models.ports import Vectors

# The share of the multilingual model in a similarity. Of 0, .3, .5, .7 and 1 the best for intents
# with three examples each, over both sets of benchmarks/rails/intents.py without their tests.
_SHARE = 0.3


def joined_embedding(*, threads: int = 0) -> Callable[[Sequence[str]], Vectors]:
    """Gives unit vectors, shape (len(texts), 896); the models are loaded at the first call.

    The similarity of two is the weighted mean of the similarities that both models give.
    """
    opened: list[OnnxEmbedder] = []

    def embed(texts: Sequence[str]) -> Vectors:
        if not opened:
            folders = bundled_folders()
            opened.extend(
                OnnxEmbedder(folders[spec], threads=threads)
                for spec in (BUNDLED, BUNDLED_MULTILINGUAL)
            )
        first, second = (model.embed_passages(list(texts)) for model in opened)
        parts = [np.sqrt(1 - _SHARE) * first, np.sqrt(_SHARE) * second]
        return np.concatenate(parts, axis=1).astype(np.float32)

    return embed
