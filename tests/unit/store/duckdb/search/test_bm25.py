"""The ways to the best chunks differ in cost, never in what they find."""

import random

import pytest

from desktop_rag.store.contract.database import key_of
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.scope import EVERYWHERE, Scope
from desktop_rag.store.contract.search import CHEAP, Weights, best_chunks
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.lexical_store import DuckdbWordIndex
from tests.stored_rows import put, remove

ALL = 10_000
RARE, COMMON = ("rare",), ("common",)


def best(
    index: DuckdbWordIndex, weights: Weights, limit: int, scope: Scope, cheap: int = CHEAP
) -> list[tuple[int, float]]:
    return best_chunks(weights, index.postings(weights), index.allowed(scope), limit, cheap)


@pytest.fixture
def filled(engine: Engine) -> Engine:
    """60 documents of words that are more and less frequent, some of them sorted."""
    chance = random.Random(4)
    words = ["common", "usual", "known", "rare", "odd"]
    for n in range(60):
        texts = [" ".join(chance.choices(words, [60, 30, 10, 3, 1], k=12)) for _ in range(3)]
        put(engine, f"{n}.txt", *texts)
        if n == 40:
            engine.upkeep.run()
    remove(engine, "3.txt", "50.txt")
    return engine


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 5, 40])
@pytest.mark.parametrize("scope", [EVERYWHERE, Scope(document_ids=("7.txt", "44.txt", "45.txt"))])
def test_frequent_words_are_left_out_or_not_with_the_same_result(
    filled: Engine, database: Database, limit: int, scope: Scope
) -> None:
    words = [("usual",), COMMON, RARE, ("odd", "known")]
    with IndexCache(database).snapshot() as snapshot:
        index = DuckdbWordIndex(snapshot)
        weights = index.weights(words)
        step_by_step = best(index, weights, limit, scope, cheap=0)
        at_once = best(index, weights, ALL, scope)[:limit]
    assert [i for i, _ in step_by_step] == [i for i, _ in at_once]
    assert [s for _, s in step_by_step] == pytest.approx([s for _, s in at_once])


@pytest.mark.slow
def test_a_chunk_that_only_a_frequent_word_lifts_to_the_top_is_found(
    engine: Engine, database: Database
) -> None:
    put(engine, "ahead.txt", "rare gate")
    put(engine, "lifted.txt", "rare gate common")
    for n in range(30):
        put(engine, f"{n}.txt", "common wall" if n % 2 else "known wall")
    with IndexCache(database).snapshot() as snapshot:
        index = DuckdbWordIndex(snapshot)
        by_rare = best(index, index.weights([RARE]), ALL, EVERYWHERE)
        weights = index.weights([RARE, COMMON])
        [(found, _)] = best(index, weights, 1, EVERYWHERE, cheap=0)
        # The frequent word can't lift a chunk without the rare one, so it is added last.
        assert by_rare[0][1] > weights.greatest(1)
    assert (found, by_rare[0][0]) == (by_rare[1][0], by_rare[1][0] - 1)


@pytest.mark.everyday
def test_a_term_of_two_words_counts_for_the_more_frequent_one(
    engine: Engine, database: Database
) -> None:
    put(engine, "a.txt", "rare common")
    put(engine, "b.txt", "common")
    both = ("rare", "common")
    with IndexCache(database).snapshot() as snapshot:
        index = DuckdbWordIndex(snapshot)
        weights = index.weights([both, COMMON])
        found = dict(best(index, weights, ALL, EVERYWHERE))
        assert found == dict(best(index, weights.only([both]), ALL, EVERYWHERE))
        assert found == pytest.approx(engine.lexical.scores(weights, list(found)))
    assert len(found) == 2


@pytest.mark.slow
@pytest.mark.parametrize("term", ["lamp", "größe", "東京", ""])
def test_a_term_has_the_same_number_in_sql(database: Database, term: str) -> None:
    with database.read() as con:
        [(key,)] = con.execute("SELECT md5_number_lower(?)", [term]).fetchall()
    assert key == key_of(term)
