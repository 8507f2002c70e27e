import math

import pytest

from desktop_rag.features.evaluation.measures.retrieval import ModeResult, RankedQuery

HIT = RankedQuery("1", "lamp", (("x", 2.0), ("a", 1.0)), {"a": 1, "x": 0}, 4.0)
MISS = RankedQuery("2", "ferry", (("a", 0.5),), {"b": 1}, 8.0)


def test_the_first_relevant_rank_is_of_a_graded_id() -> None:
    assert (HIT.first_relevant, MISS.first_relevant) == (2, None)


def test_the_figures_of_a_mode_are_means_over_its_queries() -> None:
    result = ModeResult("dense", 50, (HIT, MISS))
    assert result.ndcg_at_10 == pytest.approx(1 / math.log2(3) / 2)
    assert (result.recall_at_5, result.mrr) == (0.5, 0.25)
    assert result.to_json() == {
        "mode": "dense", "queries": 2, "ndcg@10": 0.3155, "recall@5": 0.5, "mrr": 0.25,
        "p50_ms": 4.0, "p95_ms": 8.0,
    }  # fmt: skip


def test_a_query_row_tells_what_was_found() -> None:
    [row, _] = ModeResult("dense", 50, (HIT, MISS)).query_rows()
    assert row == {
        "mode": "dense", "query": "1", "text": "lamp", "ndcg@10": 0.6309, "first_relevant": 2,
        "found": [{"id": "x", "score": 2.0}, {"id": "a", "score": 1.0}], "ms": 4.0,
    }  # fmt: skip


def test_a_row_shows_ten_of_the_found() -> None:
    ranked = tuple((str(n), -float(n)) for n in range(30))
    row = RankedQuery("1", "lamp", ranked, {"20": 1}, 1.0).to_json()
    assert len(row["found"]) == 10
    assert (row["first_relevant"], row["ndcg@10"]) == (21, 0.0)
