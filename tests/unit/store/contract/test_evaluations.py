import json
from dataclasses import replace

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.measures.stored_runs import Evaluation, EvaluationStore
from desktop_rag.store.contract.engine import Engine

RUN = Evaluation(
    "abc1", "retrieval", "лампа's set", 100.5, 2.25, "0.1", {"limit": None, "k": 5},
    [{"mode": "hybrid", "ndcg@10": 0.5}], [{"query": "1", "text": "wo ist es, „dort“?"}],
)  # fmt: skip


@pytest.fixture
def store(engine: Engine) -> EvaluationStore:
    return engine.store(EvaluationStore)


def test_a_run_comes_back_as_it_was(store: EvaluationStore) -> None:
    store.add(RUN)
    assert store.get("abc1") == RUN
    assert Evaluation.from_json(json.loads(json.dumps(RUN.to_json()))) == RUN


def test_the_list_is_newest_first_and_without_queries(store: EvaluationStore) -> None:
    # Its time is an earlier one: the clock was set back.
    newer = replace(RUN, evaluation_id="def", created_at=99.0)
    for run in (RUN, newer):
        store.add(run)
    assert store.all() == [replace(run, queries=[]) for run in (newer, RUN)]


def test_an_id_may_be_shortened_while_it_is_clear(store: EvaluationStore) -> None:
    store.add(RUN)
    store.add(replace(RUN, evaluation_id="abd2"))
    assert store.get("abc").evaluation_id == "abc1"
    for unclear in ("ab", "x", "%", "a__1"):
        with pytest.raises(AppError, match="run"):
            store.get(unclear)
