"""The candidates of a search, where some passages have no vector yet."""

import pytest

from desktop_rag.answer.search.candidates import AnsweringIndex
from desktop_rag.answer.search.question_terms import SearchQuestion
from desktop_rag.core.query import Query
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE
from tests.stored_rows import put
from tests.unit.answer.search.test_retriever import Letters, retriever_of


@pytest.mark.everyday
def test_a_passage_without_a_vector_is_as_near_as_the_farthest(engine: Engine) -> None:
    put(engine, "a.txt", "The lamp is lit at dusk.", "Zebras buzz, fizz and jazz by the lamp.")
    vectors = engine.models.vectors(Letters.name, Letters.dimensions)
    rows = engine.chunks.without_vectors(vectors.model_id, 10)
    vectors.add([row[0] for row in rows], Letters().embed_passages([row[2] for row in rows]))
    put(engine, "b.txt", "The lamp was read just now.")
    retriever = retriever_of(
        engine, AnsweringIndex(Letters(), engine.models.search(vectors.model_id))
    )
    query = Query("When is the lamp lit?")
    question = SearchQuestion(query.text, lambda: retriever.reader.read(query))
    found = retriever.candidate_search.gather(question, EVERYWHERE)
    assert found is not None
    compared = [near for near, is_compared in zip(found.near, found.is_compared, strict=True)
                if is_compared]  # fmt: skip
    [new] = [near for near, is_compared in zip(found.near, found.is_compared, strict=True)
             if not is_compared]  # fmt: skip
    assert len(compared) == 2
    assert new == min(compared) < max(compared)
