from dataclasses import replace

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.values.measurement import Measurement
from desktop_rag.store.contract.engine import Engine

RUN = Measurement(
    "abc1", "retrieval", "лампа's set", 100.5, 2.25, "0.1", {"limit": None, "k": 5},
    [{"mode": "hybrid", "ndcg@10": 0.5}], [{"query": "1", "text": "wo ist es, „dort“?"}],
)  # fmt: skip


@pytest.fixture
def store(engine: Engine) -> ExperimentStore:
    return engine.store(ExperimentStore)


def test_a_run_comes_back_as_it_was(store: ExperimentStore) -> None:
    store.add_measurement(RUN)
    assert store.measurement("abc1") == RUN
    assert store.measurements(RUN.set_name) == [RUN]
    assert store.measurements("retrieval other") == []


def test_the_list_is_newest_first_and_without_queries(store: ExperimentStore) -> None:
    # Its time is an earlier one: the clock was set back.
    newer = replace(RUN, evaluation_id="def", created_at=99.0)
    for run in (RUN, newer):
        store.add_measurement(run)
    assert store.measurements() == [replace(run, queries=[]) for run in (newer, RUN)]


def test_an_id_may_be_shortened_while_it_is_clear(store: ExperimentStore) -> None:
    store.add_measurement(RUN)
    store.add_measurement(replace(RUN, evaluation_id="abd2"))
    assert store.measurement("abc").evaluation_id == "abc1"
    for unclear in ("ab", "x", "%", "a__1"):
        with pytest.raises(AppError, match="run"):
            store.measurement(unclear)
