"""Search over a million passages: how fast, how exact, and what editing costs. See retrieval.py.

    python benchmarks/retrieval_scale.py [--passages N] [--keep FOLDER]

A made-up library (synthetic_library.py) is searched by the app's own retriever. Speed is held
against one float32 matrix-vector product of NumPy over vectors of the same number, in the same run.
Recall of the candidate scan is measured on real embeddings of real paragraphs.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from bars import Bar, at_least, at_most, reported, table
from synthetic_library import DIMENSIONS, Generator, build

from desktop_rag import app
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.terms import term_counts
from desktop_rag.evaluate.metrics import percentile
from desktop_rag.models.embedding import OnnxEmbedder
from desktop_rag.store.clustering import PostingsClustering
from desktop_rag.store.contract.documents import Outcome
from desktop_rag.store.database import Database, insert
from desktop_rag.store.documents import DocumentStore
from desktop_rag.store.opening import duckdb_of
from desktop_rag.store.vectors import VectorStore

_PASSAGES = 1_000_000
_QUESTIONS = 40
_RECALL_AT = 10
_RECALL_QUERIES = 200
_EMBED_BATCH = 32
_REWRITES = 10
_SMALL = 50_000
_MS = 1000.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=_PASSAGES)
    parser.add_argument("--keep", type=Path, help="build here, or use what was built here before")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bars = measure(Path(scratch), arguments.passages, arguments.keep)
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))


def measure(scratch: Path, passages: int = _PASSAGES, keep: Path | None = None) -> list[Bar]:
    """All bars of scale; `scratch` takes some 6 GB for a million passages."""
    home = Home(keep or scratch / "large")
    _fill(home, passages)
    return [*speed(home, passages), *growth(scratch / "growing")]


def speed(home: Home, passages: int) -> list[Bar]:
    """Times of hybrid search and of replacing a document in the large library."""
    product_ms = _product_ms(passages)
    services = app.build_services(home)
    try:
        questions = _questions(_QUESTIONS)
        for question in questions[:5]:
            services.chat.search(question)
        times_ms = _times_ms(lambda i: services.chat.search(questions[i]), len(questions))
        database = duckdb_of(services.engine)
        replaced_ms = _replace_ms(database, DocumentStore(database))
    finally:
        services.close()
    ratio = statistics.median(times_ms) / product_ms
    return [
        reported("matrix-vector product, ms", product_ms),
        reported("hybrid p50, ms", statistics.median(times_ms)),
        reported("hybrid p95, ms", percentile(times_ms, 0.95)),
        at_most("hybrid p50 / matrix-vector product", 1.5, ratio),
        at_most("replace a document of 20 passages, ms", 20.0, replaced_ms),
    ]


def growth(folder: Path) -> list[Bar]:
    """The size of the file after a fifth of a library was rewritten ten times."""
    home = Home(folder)
    _fill(home, _SMALL)
    before = home.database.stat().st_size
    database = Database(
        home.database, memory_mb=Settings().index.database_memory_mb, backups=home.backups
    )
    try:
        store, vectors = DocumentStore(database), VectorStore(database, _model(), DIMENSIONS)
        rows = store.documents()
        clustering = PostingsClustering(database)
        for turn in range(_REWRITES):
            for row in rows[turn % 5 :: 5]:
                _rewrite(database, store, vectors, row.document_id, turn)
            vectors.prune()
            if clustering.is_due():
                clustering.run()
    finally:
        database.close()
    after = home.database.stat().st_size
    return [at_most("file after ten rewrites of a fifth / before", 1.5, after / before)]


def recall(texts: Sequence[str], queries: Sequence[str], folder: Path) -> list[Bar]:
    """Recall@10 of the candidate scan against the exact order, over embeddings of these texts."""
    home = Home(folder)
    home.create()
    embedder = OnnxEmbedder(app.model_folder(Settings().index))
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.empty((len(texts), DIMENSIONS), np.float32)
    for first in range(0, len(order), _EMBED_BATCH):
        batch = order[first : first + _EMBED_BATCH]
        vectors[batch] = embedder.embed_passages([texts[i] for i in batch])
    database = Database(home.database, memory_mb=2048, backups=home.backups)
    try:
        store = VectorStore(database, embedder.name, DIMENSIONS)
        hashes = [f"{n + 1:032x}" for n in range(len(texts))]
        store.add(hashes, vectors)
        ids = list(range(1, len(texts) + 1))
        database.write(lambda con: insert(con, "chunks", {"chunk_id": ids, "content_hash": hashes}))
        found = 0
        asked = queries[:_RECALL_QUERIES]
        for query in asked:
            vector = embedder.embed_query(query)
            exact = np.argsort(-(vectors @ vector))[:_RECALL_AT]
            nearest = {chunk_id for chunk_id, _ in store.nearest(vector, _RECALL_AT)}
            found += sum(int(i) + 1 in nearest for i in exact)
    finally:
        database.close()
    share = found / (_RECALL_AT * len(asked))
    return [
        reported("real embeddings for recall", len(texts)),
        at_least("recall@10 of the candidate scan", 0.99, share),
    ]


def _fill(home: Home, passages: int) -> None:
    if home.database.exists():
        return
    home.create()
    database = Database(
        home.database, memory_mb=Settings().index.database_memory_mb, backups=home.backups
    )
    try:
        build(database, _model(), passages, home.root / "folder")
        PostingsClustering(database).run()
    finally:
        database.close()


def _model() -> str:
    return OnnxEmbedder(app.model_folder(Settings().index)).name


def _questions(count: int) -> list[str]:
    """Three words of one subject among four that are as frequent as words are."""
    made, random = Generator(), np.random.default_rng(5)
    common = np.cumsum(1 / np.arange(1, 400_001))
    questions: list[str] = []
    for _ in range(count):
        drawn = np.searchsorted(common / common[-1], random.random(4))
        subject = made.terms(random.integers(0, 2_000, 1), int(random.integers(0, 1_000)))[0, :3]
        words = [made.word(int(number)) for number in (*drawn, *subject)]
        questions.append(f"What is the {' '.join(words)} of it?")
    return questions


def _product_ms(passages: int) -> float:
    matrix = np.random.default_rng(0).standard_normal((passages, DIMENSIONS), dtype=np.float32)
    vector = matrix[0].copy()
    return statistics.median(_times_ms(lambda _: matrix @ vector, 15)[3:])


def _times_ms(work: Callable[[int], object], count: int) -> list[float]:
    times: list[float] = []
    for number in range(count):
        began_at = time.perf_counter()
        work(number)
        times.append(_MS * (time.perf_counter() - began_at))
    return times


def _replace_ms(database: Database, store: DocumentStore) -> float:
    """Of storing a document anew, until it is on disk."""
    outcomes = [_changed(database, store, f"document{n}", 99) for n in range(100, 2_100, 100)]
    return statistics.median(_times_ms(lambda i: store.settle([outcomes[i]]), len(outcomes)))


def _rewrite(
    database: Database, store: DocumentStore, vectors: VectorStore, document_id: str, turn: int
) -> None:
    """Store another text in the place of a document's, with its vectors."""
    outcome = _changed(database, store, document_id, turn)
    store.settle([outcome])
    hashes = [chunk.content_hash for chunk in outcome.chunks]
    random = np.random.default_rng(turn).standard_normal((len(hashes), DIMENSIONS))
    unit = (random / np.linalg.norm(random, axis=1, keepdims=True)).astype(np.float32)
    vectors.add(hashes, unit)
    vectors.add_windows(hashes, [unit[:3]] * len(hashes))


def _changed(database: Database, store: DocumentStore, document_id: str, turn: int) -> Outcome:
    """The document with another text, which its row now waits for."""
    [row] = store.get([document_id])
    chunks = store.chunks(document_id)
    new = [
        replace(chunk, text=f"{chunk.text} {turn}", content_hash=_next_hash(chunk.content_hash))
        for chunk in chunks
    ]
    counts = tuple(term_counts(chunk.text) for chunk in new)
    database.write(
        lambda con: con.execute(
            "UPDATE documents SET state = 'waiting' WHERE document_id = ?", [document_id]
        )
    )
    settled = replace(row, state=DocumentState.SEARCHABLE_BY_WORDS)
    return Outcome(settled, "text", tuple(new), counts)


def _next_hash(content_hash: str) -> str:
    return f"{(int(content_hash, 16) * 6364136223846793005 + 1) % (1 << 128):032x}"


if __name__ == "__main__":
    main()
