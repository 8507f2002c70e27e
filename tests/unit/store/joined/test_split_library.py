"""A library split over two engines gives what one engine gives that holds all."""

import random
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop_rag.core.query import Filters
from desktop_rag.core.shared_library import shared_id
from desktop_rag.features.shared_library.joined.joined_engine import joined_engine
from desktop_rag.ingest.chunking.document_chunker import content_hash
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from tests.engines import UNTESTED, AtHand, Open, duckdb_in, postgres_in
from tests.stored_rows import put, ranking

WORDS = ["lamp", "keeper", "gate", "porter", "dusk", "wick", "lens", "sea", "storm", "rope"]
DIMENSIONS = 16
QUESTIONS = [
    [("lamp",)],
    [("keeper",), ("gate", "dusk")],
    [("storm",), ("sea",), ("unheard",), ("lamp",)],
]


def texts_of(seed: int) -> dict[str, tuple[str, ...]]:
    """Documents of one to four chunks, all of them different."""
    chance = random.Random(seed)
    return {
        f"{n:02}_{chance.choice(WORDS)}.txt": tuple(
            " ".join([*chance.choices(WORDS, k=chance.randint(3, 12)), f"n{n}c{c}"])
            for c in range(chance.randint(1, 4))
        )
        for n in range(chance.randint(2, 24))
    }


def vector_of(text: str) -> np.ndarray:
    found = np.random.default_rng(int(content_hash("", text), 16)).normal(size=DIMENSIONS)
    return (found / np.linalg.norm(found)).astype(np.float32)


def fill(engine: Engine, documents: dict[str, tuple[str, ...]]) -> None:
    vectors = engine.models.vectors("model", DIMENSIONS)
    for name, texts in documents.items():
        put(engine, name, *texts)
        hashes = [content_hash("", text) for text in texts]
        vectors.add(hashes, np.stack([vector_of(text) for text in texts]))


def told(engine: Engine, scope: Scope = EVERYWHERE) -> list[object]:
    """All that a search gives, by the text of its passages."""
    lexical, found = engine.lexical, list[object]()
    model = engine.models.search(engine.models.vectors("model", DIMENSIONS).model_id)
    nearest = model.nearest(vector_of("the question"), 7, scope)
    texts = {p.chunk_id: p.text for p in lexical.passages(dict(ranking(nearest)))}
    found.append([(texts[i], score) for i, score in ranking(nearest)])
    for words in QUESTIONS:
        weights = lexical.weigh(words)
        best = dict(lexical.best(weights, 10_000, scope))
        passages = lexical.passages(best)
        read = lexical.scores(weights, list(best))
        found += [
            weights,
            sorted((p.text, p.score, read[p.chunk_id]) for p in passages),
            len(lexical.documents_of(list(best))),
            len(lexical.in_scope(list(best), scope)),
        ]
        top = lexical.best(weights, 5, scope)
        found.append([score for _, score in top])
    names, total = engine.names.matching(["lamp", "gate"], [], ["keeper"], scope, 50)
    found += [
        {group.parts: group.count for group in names},
        total,
        [path for _, path in engine.names.spelled_like("03_lamb.txt", scope, 5)],
        engine.names.folders(scope),
        lexical.languages(),
        lexical.terms_completing("kee", 5),
        [str(row.path) for row in engine.documents.documents()],
        engine.documents.counts(),
        engine.documents.facets(),
        len(lexical.newest(5, scope)),
    ]
    return found


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def open_two(request: pytest.FixtureRequest) -> Open:
    if reason := UNTESTED.get(request.param):
        pytest.skip(reason)
    return {"duckdb": duckdb_in, "postgres": postgres_in}[request.param]


@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 10**6))
def test_a_split_library_is_searched_as_one(
    open_two: Open, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    documents = texts_of(seed)
    chance = random.Random(seed + 1)
    own = {name: texts for name, texts in documents.items() if chance.random() < 0.5}
    rest = {name: texts for name, texts in documents.items() if name not in own}
    root = tmp_path_factory.mktemp("split")
    for name in ("whole", "own", "other"):
        (root / name).mkdir()
    with (
        closing(open_two(root / "whole")) as whole,
        closing(open_two(root / "own")) as here,
        closing(open_two(root / "other")) as there,
    ):
        for engine, held in ((whole, documents), (here, own), (there, rest)):
            fill(engine, held)
        joined = joined_engine(here, AtHand(there))
        scope = Scope(filters=Filters(files=("1",)))
        assert told(joined) == told(whole)
        assert told(joined, scope) == told(whole, scope)


def test_a_scope_on_one_side_asks_that_side_only(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with closing(duckdb_in(tmp_path / "a")) as own, closing(duckdb_in(tmp_path / "b")) as other:
        fill(own, {"a.txt": ("the lamp here",)})
        fill(other, {"a.txt": ("the lamp there", "and its keeper")})
        joined = joined_engine(own, AtHand(other))

        def found(scope: Scope) -> set[str]:
            best = joined.lexical.best([("lamp",)], 10, scope)
            return {passage.text for passage in joined.lexical.passages(dict(best))}

        here, there = [c.collection_id for c in joined.sources.collections()]
        assert found(Scope()) == {"the lamp here", "the lamp there"}
        assert found(Scope(collection_ids=(here,))) == {"the lamp here"}
        assert found(Scope(collection_ids=(there,))) == {"the lamp there"}
        assert found(Scope(document_ids=(shared_id("a.txt"),))) == {"the lamp there"}
        assert joined.documents.text(shared_id("a.txt")) == "the lamp there and its keeper"
        assert joined.documents.text("a.txt") == "the lamp here"
        assert [c.text for c in joined.documents.chunks(shared_id("a.txt"))][1] == "and its keeper"
        [row] = joined.documents.get([shared_id("a.txt")])
        assert row.source_id in {source.source_id for source in joined.sources.sources()}
