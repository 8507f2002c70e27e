"""Measurements are compared as runs of questions are."""

from typing import Any

import pytest

from desktop_rag.features.evaluation.values.answer_matrix import matrix_of
from desktop_rag.features.evaluation.values.measurement import Measurement, runs_of, set_of
from desktop_rag.features.evaluation.values.paired_comparison import Outcome
from desktop_rag.features.evaluation.values.run_summary import compare_runs, summary
from desktop_rag.features.evaluation.values.scoring import RunScores, named, scored


def measured(kind: str, *rows: dict[str, Any]) -> list[RunScores]:
    """The runs of a measurement with these rows."""
    kept = Measurement("abc", kind, "harbour", 9.0, 1.5, "1", {}, [{}], list(rows))
    return named([scored(run, answers, ()) for run, answers in runs_of(kept)])


def ranked(mode: str, query: int, ndcg: float) -> dict[str, Any]:
    found = [{"id": "a", "score": 1.0}, {"id": "b", "score": 0.5}]
    return {
        "mode": mode, "query": str(query), "text": f"lamp {query}", "found": found,
        "ndcg@10": ndcg, "ms": 4.0,
    }  # fmt: skip


def test_modes_of_a_search_are_compared_query_by_query() -> None:
    rows = [ranked("dense", n, 0.5) for n in range(9)] + [
        ranked("hybrid", n, 1.0) for n in range(9)
    ]
    dense, hybrid = measured("retrieval", *rows)
    assert (dense.name, hybrid.name) == ("dense", "hybrid")
    assert dense.run.run_id != hybrid.run.run_id
    told = compare_runs(dense, hybrid, ())
    assert told.outcome is Outcome.BETTER
    assert told.in_words().endswith("It rests on the known answers of the set.")
    figures = summary(hybrid)
    assert (figures.score, figures.answered, figures.seconds) == (1.0, 9, 0.004)
    assert (figures.supported, figures.cited) == (None, None)
    [first, *_] = matrix_of(dense.run.questions, [dense, hybrid]).rows
    assert [cell and cell.text for cell in first.cells] == ["a, b", "a, b"]


@pytest.mark.parametrize(
    ("kind", "row", "score"),
    [
        ("spans", {"query": "1", "text": "x", "found": [], "recall": 0.25}, 0.25),
        ("pages", {"query": "1", "text": "x", "found": [], "first_relevant": 5}, 1.0),
        ("pages", {"query": "1", "text": "x", "found": [], "first_relevant": 6}, 0.0),
        ("pages", {"query": "1", "text": "x", "found": [], "first_relevant": None}, 0.0),
        ("evidence", {"query": "1", "text": "x", "missing": ["dusk"], "groups": 2}, 0.0),
        ("grounding", {"id": "1", "label": "supported", "verdict": "supported"}, 1.0),
        ("grounding", {"id": "1", "label": "unsupported", "verdict": "supported"}, 0.0),
        ("agreement", {"id": "1", "label": "unsupported", "model": "contradicted"}, 1.0),
        ("rails", {"examples": 3, "text": "x", "expected": "a", "intent": "a"}, 1.0),
        ("rails", {"examples": 3, "text": "x", "expected": "a", "intent": "a", "model": "b"}, 0.0),
        ("answers", {"id": "1", "question": "x", "answer": "At dusk.", "expected": ["dusk"]}, 1.0),
        ("answers", {"id": "1", "question": "x", "answer": "At dusk."}, None),
        ("retrieval", {"query": 1, "found": [{"id": 3}], "ndcg@10": "none"}, 0.0),
    ],
)
def test_what_counts_as_right(kind: str, row: dict[str, Any], score: float | None) -> None:
    [scores] = measured(kind, row)
    assert scores.mean() == score


def test_a_sentence_asked_of_several_draws_has_the_mean_of_them() -> None:
    right = {"examples": 1, "text": "x", "expected": "a", "intent": "a"}
    [scores] = measured("rails", right, right | {"intent": "b"})
    assert (scores.name, scores.mean(), len(scores.run.questions)) == ("1 examples", 0.5, 1)


def test_all_that_a_measure_told_stays_with_its_runs() -> None:
    rows = [ranked("dense", 1, 0.5), ranked("dense", 1, 1.0)]
    figures = [{"mode": "dense", "ndcg@10": 0.75, "mrr": float("nan")}]
    kept = Measurement("abc", "retrieval", "harbour", 9.0, 1.5, "1", {"k": 5}, figures, rows)
    [(run, [answer])] = runs_of(kept)
    assert run.figures == {"mode": "dense", "ndcg@10": 0.75, "mrr": None}
    assert run.settings == {"k": 5, "seconds": 1.5}
    assert (run.set_id, run.made_at, run.app_version) == (set_of(kept).set_id, 9.0, "1")
    assert list(answer.rows) == rows
    assert runs_of(kept) == runs_of(kept), "it has the same ids each time"
