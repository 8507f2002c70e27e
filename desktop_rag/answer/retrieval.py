"""Finds the passages for a question: words and meaning, fused. Any worker thread.

Fusion is a convex combination of normalised scores (Bruch, Gai and Ingber, 2023, "An Analysis of
Fusion Functions for Hybrid Retrieval"), which beats reciprocal ranks on nearly every set we tried.
"""

from collections.abc import Callable, Iterable

import numpy as np

from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.text import terms
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import Embedder
from desktop_rag.store.search import LexicalStore, VectorStore

# Deep enough that what one list ranks first is scored by the other too.
_POOL = 100
# The fewest similarities from which their spread says anything.
_LEAST_SPREAD = 1e-6


class Retriever:
    """Search over the whole index or one collection.

    With no embedder, or no vectors yet, every mode falls back on words: the person gets what
    there is.
    """

    def __init__(
        self,
        lexical: LexicalStore,
        dense: Callable[[], tuple[Embedder, VectorStore] | None],
        gate: ModelGate,
    ) -> None:
        """`dense` gives the embedder to ask now and the vectors it made, None without any."""
        self._lexical = lexical
        self._dense = dense
        self._gate = gate

    def search(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        collection_id: str = "",
        lexical_weight: float = 0.5,
    ) -> list[Passage]:
        """The best passages first. Scores are comparable within one result only."""
        wanted = terms(query)
        pool = max(_POOL, limit)
        dense = None if mode == "lexical" else self._dense()
        if dense is None:
            return self._lexical.passages(dict(self._lexical.best(wanted, limit, collection_id)))
        embedder, vectors = dense
        with self._gate.question():
            vector = embedder.embed_query(query)
        nearest = dict(vectors.nearest(vector, pool, collection_id))
        if mode == "dense":
            return self._lexical.passages(_top(nearest, limit))
        best = dict(self._lexical.best(wanted, pool, collection_id))
        similar = nearest | vectors.similarities(vector, _without(best, nearest))
        matching = best | self._lexical.scores(wanted, _without(nearest, best))
        fused = fuse(matching, similar, lexical_weight)
        return self._lexical.passages(_top(fused, limit))


def fuse(
    lexical: dict[int, float], dense: dict[int, float], lexical_weight: float
) -> dict[int, float]:
    """One score a chunk: weighted sum of the two lists' z-scores over the pool of both.

    A chunk without any of the words has lexical score 0; one without a vector yet stands at
    the pool's lowest similarity.
    """
    ids = list(lexical | dense)
    if not ids:
        return {}
    lowest = min(dense.values(), default=0.0)
    by_words = _standardised(lexical.get(i, 0.0) for i in ids)
    by_meaning = _standardised(dense.get(i, lowest) for i in ids)
    scores = lexical_weight * by_words + (1 - lexical_weight) * by_meaning
    return dict(zip(ids, scores.tolist(), strict=True))


def _standardised(values: Iterable[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    array = np.fromiter(values, dtype=np.float64)
    return (array - array.mean()) / max(float(array.std()), _LEAST_SPREAD)


def _top(scores: dict[int, float], limit: int) -> dict[int, float]:
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit])


def _without(some: dict[int, float], known: dict[int, float]) -> list[int]:
    return [chunk_id for chunk_id in some if chunk_id not in known]
