"""Both bundled models side by side, for short sentences in any language. Any worker thread."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from desktop_rag.models.embedding.bundled_models import (
    BUNDLED,
    BUNDLED_MULTILINGUAL,
    bundled_folders,
)
from desktop_rag.models.embedding.kept_vectors import KeptVectors
from desktop_rag.models.embedding.onnx_embedder import OnnxEmbedder
from desktop_rag.models.ports import Embedder, Vectors

# The share of the multilingual model in a similarity: see decision 062.
_SHARE = 0.3
_BATCH = 32


def joined_embedding(
    open_model: Callable[[str], Embedder],
) -> Callable[[Sequence[str]], Vectors]:
    """Gives unit vectors, shape (len(texts), 896), and raises what `open_model` does.

    It is asked for each model by its spec. The similarity of two vectors is the weighted mean of
    the similarities that both models give.
    """

    def embed(texts: Sequence[str]) -> Vectors:
        parts = [
            np.sqrt(share) * _vectors(open_model(spec), texts)
            for spec, share in ((BUNDLED, 1 - _SHARE), (BUNDLED_MULTILINGUAL, _SHARE))
        ]
        return np.concatenate(parts, axis=1).astype(np.float32)

    return embed


def rail_embeddings(
    path: Path, open_model: Callable[[str], Embedder]
) -> tuple[Callable[[Sequence[str]], Vectors], Callable[[Sequence[str]], Vectors]]:
    """The embedding, and one for texts that rarely change, whose vectors are kept in a file."""

    def names() -> str:
        parts = [open_model(spec).name for spec in (BUNDLED, BUNDLED_MULTILINGUAL)]
        return " ".join([*parts, str(_SHARE)])

    embed = joined_embedding(open_model)
    return embed, KeptVectors(path, names, embed)


def bundled_opener(*, threads: int = 0) -> Callable[[str], Embedder]:
    """Loads each bundled model when it is first asked for, where there is no library."""
    opened: dict[str, Embedder] = {}

    def open_model(spec: str) -> Embedder:
        if spec not in opened:
            opened[spec] = OnnxEmbedder(bundled_folders()[spec], threads=threads)
        return opened[spec]

    return open_model


def _vectors(model: Embedder, texts: Sequence[str]) -> Vectors:
    batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
    found = [model.embed_passages(list(batch)) for batch in batches]
    return np.concatenate(found) if found else np.zeros((0, model.dimensions), np.float32)
