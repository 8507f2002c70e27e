"""Search over a million passages: speed, accuracy and the cost of edits. See retrieval.py.

python benchmarks/retrieval_scale.py [--passages N] [--keep FOLDER]

A synthetic library (synthetic_library.py) is searched by the app's own retriever. Speed is compared
with one float32 matrix-vector product of NumPy over the same number of vectors, in the same run.
Recall of the candidate scan is measured on real embeddings of real paragraphs.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from bars import Bar, at_least, at_most, reported, table
from rewriting import changed, rewrite
from synthetic_library import DIMENSIONS, PASSAGES_A_DOCUMENT, Generator, build

from desktop_rag import app
from desktop_rag.core.library_events import Stage
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.measures.metrics import percentile
from desktop_rag.models.embedding.joined_embedding import BUNDLED, OnnxEmbedder, bundled_folders
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.connections import Columns, insert
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import DuckdbOpener, database_of, library_file
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.postings import PostingsMerge
from desktop_rag.store.duckdb.search.vector_store import DuckdbModelStore

_PASSAGES = 1_000_000
_QUESTIONS = 40
# Questions and products alternate in batches of this size; the first products are warm-up.
_IN_TURN = 10
_WARMING = 3
_RECALL_AT = 10
_RECALL_QUERIES = 200
_EMBED_BATCH = 32
_REWRITES = 10
_SMALL = 20_000
# The duration of the questions while files of 20 passages are indexed, and their number.
_INDEXING_S = 60.0
_FILES = 60
# Nobody asks without pauses; indexing, which yields to questions, would stall.
_PAUSE_S = 0.25
# The switch interval that the window sets for computing threads.
_SWITCH_S = 0.001
_SUBJECTS = 2_000
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
    """Times of hybrid search in the large library, idle and while it grows; of replacing."""
    services = app.build_services(home)
    try:
        # Simulates a library in use, without the questions that are timed.
        for question in _questions(_QUESTIONS, seed=6):
            services.chat.search(question)
        questions = _questions(_QUESTIONS)
        idle_ms, product_ms = _beside_product(services, questions, passages)
        replaced_ms = _replace_ms(services.engine)
        busy_ms, embedded = _while_indexing(services, home.root / "added", questions)
        used_mb = _memory_mb(database_of(services.engine))
    finally:
        services.close()
    p95_ms, busy_p95_ms = percentile(idle_ms, 0.95), percentile(busy_ms, 0.95)
    return [
        reported("matrix-vector product, ms", product_ms),
        reported("hybrid p50, ms", statistics.median(idle_ms)),
        reported("hybrid p95, ms", p95_ms),
        at_most("hybrid p50 / matrix-vector product", 1.5, statistics.median(idle_ms) / product_ms),
        reported("while indexing: questions", len(busy_ms)),
        reported("while indexing: passages embedded meanwhile", embedded),
        reported("while indexing: hybrid p95, ms", busy_p95_ms),
        at_most("hybrid p95 while indexing / idle", 2.0, busy_p95_ms / p95_ms),
        at_most("replace a document of 20 passages, ms", 20.0, replaced_ms),
        at_most(
            "memory of the store / setting", 1.0, used_mb / Settings().index.database_memory_mb
        ),
    ]


def _while_indexing(
    services: app.Services, folder: Path, questions: Sequence[str]
) -> tuple[list[float], int]:
    """Times of questions while files are read, chunked, stored and embedded; passages embedded."""
    _write_files(folder)
    library = services.library
    sys.setswitchinterval(_SWITCH_S)
    if all(source.path != folder for source in library.sources.all()):
        library.sources.add(folder)
    library.start(watch=False)
    times_ms: list[float] = []
    ends_at = time.monotonic() + _INDEXING_S
    while time.monotonic() < ends_at:
        if library.indexing.progress().stage in (Stage.READING, Stage.EMBEDDING, Stage.REFINING):
            question = questions[len(times_ms) % len(questions)]
            times_ms += _times_ms(lambda _, q=question: services.chat.search(q), 1)
            time.sleep(_PAUSE_S)
        elif library.indexing.wait_until_idle(0.05) and times_ms:
            break
    return times_ms, library.indexing.embedded_chunks


def _write_files(folder: Path) -> None:
    """Texts of random words, more than can be indexed during the measurement."""
    folder.mkdir(exist_ok=True)
    made, words = Generator(), Generator().words()
    for number in range(_FILES):
        subjects = np.full(PASSAGES_A_DOCUMENT, number % _SUBJECTS)
        rows = words[made.terms(subjects, 1_000_000 + number)]
        text = "\n\n".join(f"{' '.join(row)}." for row in rows)
        (folder / f"note{number}.txt").write_text(text, encoding="utf-8")


def _memory_limit_mb() -> int:
    return Settings().index.database_memory_mb


def _memory_mb(database: Database) -> float:
    with database.read() as con:
        [(used,)] = con.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
    return int(used) / 1e6


def growth(folder: Path) -> list[Bar]:
    """The file size after a fifth of a library was rewritten ten times."""
    home = Home(folder)
    _fill(home, _SMALL)
    before = library_file(home).stat().st_size
    engine = DuckdbOpener().open(home, _memory_limit_mb())
    largest = before
    try:
        vectors = engine.models.vectors(_model(), DIMENSIONS)
        documents = engine.documents.documents()
        for turn in range(_REWRITES):
            rewrite(engine, vectors, documents[turn % 5 :: 5], turn)
            largest = max(largest, library_file(home).stat().st_size)
        began_at = time.perf_counter()
    finally:
        engine.close()
    after = library_file(home).stat().st_size
    return [
        reported("file at its largest, while open / before", largest / before),
        reported("closing and giving back room, s", time.perf_counter() - began_at),
        at_most("file after ten rewrites of a fifth / before", 1.5, after / before),
    ]


def recall(texts: Sequence[str], queries: Sequence[str], folder: Path) -> list[Bar]:
    """Recall@10 of the candidate scan against exact search, over embeddings of these texts."""
    home = Home(folder)
    home.create()
    embedder = OnnxEmbedder(bundled_folders()[BUNDLED])
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.empty((len(texts), DIMENSIONS), np.float32)
    for first in range(0, len(order), _EMBED_BATCH):
        batch = order[first : first + _EMBED_BATCH]
        vectors[batch] = embedder.embed_passages([texts[i] for i in batch])
    database = Database(library_file(home), memory_mb=2048, backups=home.backups)
    try:
        models = DuckdbModelStore(database, IndexCache(database))
        store = models.vectors(embedder.name, DIMENSIONS)
        search = models.search(store.model_id)
        hashes = [f"{n + 1:032x}" for n in range(len(texts))]
        store.add(hashes, vectors)
        ids = list(range(1, len(texts) + 1))
        ones = [1] * len(ids)
        columns: Columns = {"chunk_id": ids, "position": ones, "term_count": ones}
        columns["content_hash"] = hashes
        database.write(lambda con: insert(con, "chunks", columns))
        found = 0
        asked = queries[:_RECALL_QUERIES]
        for query in asked:
            vector = embedder.embed_query(query)
            exact = np.argsort(-(vectors @ vector))[:_RECALL_AT]
            nearest = set(search.nearest(vector, _RECALL_AT).chunk_ids)
            found += sum(int(i) + 1 in nearest for i in exact)
    finally:
        database.close()
    share = found / (_RECALL_AT * len(asked))
    return [
        reported("real embeddings for recall", len(texts)),
        at_least("recall@10 of the candidate scan", 0.99, share),
    ]


def _fill(home: Home, passages: int) -> None:
    if library_file(home).exists():
        return
    home.create()
    database = Database(library_file(home), memory_mb=_memory_limit_mb(), backups=home.backups)
    try:
        build(database, _model(), passages, home.root / "folder")
        PostingsMerge(database).run()
    finally:
        database.close()


def _model() -> str:
    return OnnxEmbedder(bundled_folders()[BUNDLED]).name


def _questions(count: int, seed: int = 5) -> list[str]:
    """Three words of one subject among four of ordinary frequency."""
    made, random = Generator(), np.random.default_rng(seed)
    common = np.cumsum(1 / np.arange(1, 400_001))
    questions: list[str] = []
    for _ in range(count):
        drawn = np.searchsorted(common / common[-1], random.random(4))
        subject = made.terms(random.integers(0, 2_000, 1), int(random.integers(0, 1_000)))[0, :3]
        words = [made.word(int(number)) for number in (*drawn, *subject)]
        questions.append(f"What is the {' '.join(words)} of it?")
    return questions


def _beside_product(
    services: app.Services, questions: Sequence[str], passages: int
) -> tuple[list[float], float]:
    """Times of questions alternating with the product; the medians.

    Other load on the machine affects both.
    """
    matrix = np.random.default_rng(0).standard_normal((passages, DIMENSIONS), dtype=np.float32)
    vector = matrix[0].copy()
    idle_ms: list[float] = []
    product_ms: list[float] = []
    for first in range(0, len(questions), _IN_TURN):
        product_ms += _times_ms(lambda _: matrix @ vector, _IN_TURN)[_WARMING:]
        some = questions[first : first + _IN_TURN]
        idle_ms += _times_ms(lambda i, some=some: services.chat.search(some[i]), len(some))
    return idle_ms, statistics.median(product_ms)


def _times_ms(work: Callable[[int], object], count: int) -> list[float]:
    times: list[float] = []
    for number in range(count):
        began_at = time.perf_counter()
        work(number)
        times.append(_MS * (time.perf_counter() - began_at))
    return times


def _replace_ms(engine: Engine) -> float:
    """The time to store a changed document, until it is on disk."""
    ids = [f"document{number}" for number in range(100, 6_100, 100)]
    outcomes = changed(engine, engine.documents.get(ids), 99)
    return statistics.median(
        _times_ms(lambda i: engine.documents.settle([outcomes[i]]), len(outcomes))
    )


if __name__ == "__main__":
    main()
