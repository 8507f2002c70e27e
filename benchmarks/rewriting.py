"""The cost of edits in a synthetic library: replacing documents, and file size. Not a script.

Documents get new text as the indexer stores it, a batch per transaction, then their vectors and
windows as they are embedded. Documents all over the tables change, which is the worst case.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from synthetic_library import DIMENSIONS, windows_like

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.terms import term_counts
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.vectors import VectorStore

# Batch sizes of the indexer and the embedding queue, for documents of 20 passages.
_DOCUMENTS = 20
_PASSAGES = 64


def rewrite(engine: Engine, vectors: VectorStore, documents: Sequence[Document], turn: int) -> None:
    """Replace the text of each document, with its vectors, and run the maintenance."""
    for first in range(0, len(documents), _DOCUMENTS):
        batch = documents[first : first + _DOCUMENTS]
        outcomes = changed(engine, batch, turn)
        engine.documents.settle(outcomes)
        hashes = [chunk.content_hash for outcome in outcomes for chunk in outcome.chunks]
        random = np.random.default_rng((turn, first)).standard_normal((len(hashes), DIMENSIONS))
        units = (random / np.linalg.norm(random, axis=1, keepdims=True)).astype(np.float32)
        windows = windows_like(units)
        for n in range(0, len(hashes), _PASSAGES):
            vectors.add(hashes[n : n + _PASSAGES], units[n : n + _PASSAGES])
        for n in range(0, len(hashes), _PASSAGES):
            vectors.add_windows(hashes[n : n + _PASSAGES], windows[n : n + _PASSAGES])
    engine.chunks.prune_vectors(vectors.model_id)
    if engine.upkeep.is_due():
        engine.upkeep.run()


def changed(engine: Engine, documents: Sequence[Document], turn: int) -> list[IndexingOutcome]:
    """The documents of one source with new text, waiting to be stored."""
    outcomes = [_with_another_text(engine, document, turn) for document in documents]
    waiting = {
        d.document_id: lambda row: replace(row, state=DocumentState.WAITING) for d in documents
    }
    engine.documents.apply_changes(documents[0].source_id, [], waiting, [])
    return outcomes


def _with_another_text(engine: Engine, document: Document, turn: int) -> IndexingOutcome:
    chunks = tuple(
        replace(chunk, text=f"{chunk.text} {turn}", content_hash=_next_hash(chunk.content_hash))
        for chunk in engine.documents.chunks(document.document_id)
    )
    counts = tuple(term_counts(chunk.text) for chunk in chunks)
    row = replace(document, state=DocumentState.SEARCHABLE_BY_WORDS)
    return IndexingOutcome(row, " ".join(chunk.text for chunk in chunks), chunks, counts)


def _next_hash(content_hash: str) -> str:
    return f"{(int(content_hash, 16) * 6364136223846793005 + 1) % (1 << 128):032x}"
