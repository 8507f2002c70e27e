"""Measurements are runs of their set; what earlier versions stored in other forms becomes that."""

import json
from dataclasses import asdict, replace

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.values.measurement import Measurement, runs_of, set_of
from desktop_rag.features.evaluation.values.run import QuestionSet, Run, RunAnswer
from desktop_rag.store.contract.database import Database, Entity, fetched
from desktop_rag.store.contract.engine import Engine

MEASURED = Measurement(
    "abc1", "retrieval", "лампа's set", 100.5, 2.25, "0.1", {"limit": None, "k": 5},
    [{"mode": "hybrid", "ndcg@10": 0.5}, {"mode": "dense", "ndcg@10": 0.25}],
    [{"mode": mode, "query": "1", "text": "wo ist es, „dort“?", "ndcg@10": 0.5}
     for mode in ("hybrid", "dense")],
)  # fmt: skip
# As the last version with a table of its own stored it.
COMPARISON = {
    "comparison_id": "k1", "collection_id": "c", "collection": "Sea", "made_at": 8.0,
    "questions": [{"question_id": "q", "text": "Wann?", "place": "/a.md", "expected": "At dusk.",
                   "origin": "text"}],
    "trials": [
        {"chunking": {"method": "structure", "max_tokens": 0, "overlap_tokens": 0}, "chunks": 7,
         "retrieved": [{"question_id": "q", "is_found": False, "rank": 14, "reason": "split",
                        "pieces": 2, "shared": 0.5, "first": "B"}]},
        {"chunking": {"method": "words", "max_tokens": 200, "overlap_tokens": 0}, "chunks": 9,
         "retrieved": [{"question_id": "q", "is_found": True, "rank": 1, "reason": "",
                        "pieces": 1, "shared": 0.5, "first": "A"}]},
    ],
    "left_out": 3, "passages": 8, "tokens": 2400,
}  # fmt: skip


@pytest.fixture
def store(engine: Engine) -> ExperimentStore:
    return engine.store(ExperimentStore)


def test_a_measurement_comes_back_as_runs(store: ExperimentStore) -> None:
    # Its time is an earlier one: the clock was set back.
    earlier = replace(MEASURED, evaluation_id="def", created_at=99.0)
    for measured in (MEASURED, earlier):
        store.keep(measured)
    expected = [*runs_of(MEASURED), *runs_of(earlier)]
    assert store.all(Run) == [run for run, _ in expected]
    for run, answers in expected:
        assert store.all(RunAnswer, run.run_id) == answers
    [kept] = store.sets()
    assert (kept.name, kept.is_measured) == ("retrieval лампа's set", True)
    store.put(QuestionSet("z", "Zebra"))
    assert [each.name for each in store.sets()] == ["Zebra", kept.name]
    store.remove(kept.set_id)
    assert store.all(Run) == []


def write_earlier(database: Database, measured: Measurement, number: int) -> None:
    values = [json.dumps(v) if isinstance(v, list | dict) else v for v in asdict(measured).values()]
    places = ", ".join("?" * 10)
    database.write(
        lambda con: con.execute(f"INSERT INTO evaluations VALUES ({places})", [*values, number]),
        changes=[Entity("evaluation", measured.evaluation_id)],
    )


def test_what_earlier_versions_stored_is_moved_once(engine: Engine) -> None:
    other = replace(MEASURED, evaluation_id="abd2", kind="spans")
    for number, measured in enumerate((MEASURED, other), 1):
        write_earlier(engine.storage, measured, number)
    engine.storage.write(
        lambda con: con.execute(
            "INSERT INTO experiments (record_id, kind, owner_id, made_of, number)"
            " VALUES ('k1', 'comparison', '', ?, 1)",
            [json.dumps(COMPARISON)],
        ),
        changes=[Entity("experiment", "k1")],
    )
    for _ in range(2):
        store = engine.store(ExperimentStore)
        names = ["chunks Sea", "retrieval лампа's set", "spans лампа's set"]
        assert [each.name for each in store.sets()] == names
        assert store.all(Run, set_of(other).set_id) == [run for run, _ in runs_of(other)]
        [run, better] = store.all(Run, store.sets()[0].set_id)
        assert (run.set_up.name, run.figures["chunks"], run.figures["found"]) == (
            "By structure", 7, 0,
        )  # fmt: skip
        assert [q.expected for q in run.questions] == [("At dusk.",)]
        [missed], [found] = (store.all(RunAnswer, each.run_id) for each in (run, better))
        assert (missed.text, missed.measured) == ("the answer is split across 2 chunks", 0.0)
        assert found.measured == 1.0
        [(left,)] = fetched(engine.storage, "SELECT count(*) FROM evaluations")
        assert left == 0


def test_who_may_not_write_still_reads(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.store(ExperimentStore).put(QuestionSet("s", "Lamps"))
    write_earlier(engine.storage, MEASURED, 1)
    refused = AppError("The library is open for reading only.", "Start the app to change it.")

    def refuse(*_: object, **__: object) -> None:
        raise refused

    monkeypatch.setattr(engine.storage, "transact", refuse)
    assert [each.name for each in engine.store(ExperimentStore).sets()] == ["Lamps"]
