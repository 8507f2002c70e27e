import math
from functools import partial

import pytest

from desktop_rag.features.evaluation.measures.search import of_modes, rank_figures, rank_row

of_ranks = partial(rank_figures, _passages=50)
HIT = rank_row({"x": 2.0, "a": 1.0}, {"a": 1, "x": 0})
MISS = rank_row({"a": 0.5}, {"b": 1})
ASKED = [
    {"query": "1", "text": "lamp", **HIT, "ms": 4.0},
    {"query": "2", "text": "ferry", **MISS, "ms": 8.0},
]


def test_the_first_relevant_rank_is_of_a_graded_id() -> None:
    assert (HIT["first_relevant"], MISS["first_relevant"]) == (2, None)


def test_the_figures_of_a_mode_are_means_over_its_queries() -> None:
    figures = of_ranks(ASKED)
    assert figures["ndcg@10"] == pytest.approx(1 / math.log2(3) / 2)
    assert (figures["recall@5"], figures["mrr"]) == (0.5, 0.25)
    measured = of_modes("retrieval", {"dense": ASKED}, of_ranks, {"passages": 3})
    assert measured.results == [
        {
            "mode": "dense", "queries": 2, "ndcg@10": 0.3155, "recall@5": 0.5, "mrr": 0.25,
            "p50_ms": 4.0, "p95_ms": 8.0, "passages": 3,
        }
    ]  # fmt: skip


def test_the_reciprocal_rank_is_of_the_first_hit() -> None:
    row = rank_row(dict.fromkeys("xyba", 1.0), {"a": 2, "b": 1})
    assert of_ranks([row])["mrr"] == pytest.approx(1 / 3)


def test_a_query_row_tells_what_was_found() -> None:
    [row, _] = of_modes("retrieval", {"dense": ASKED}, of_ranks, {}).queries
    assert row == {
        "mode": "dense", "query": "1", "text": "lamp", "ndcg@10": 0.6309, "recall@5": 1.0,
        "first_relevant": 2, "ms": 4.0,
        "found": [{"id": "x", "score": 2.0}, {"id": "a", "score": 1.0}],
    }  # fmt: skip


def test_a_row_shows_ten_of_the_found() -> None:
    row = rank_row({str(n): -float(n) for n in range(30)}, {"20": 1})
    assert len(row["found"]) == 10
    assert (row["first_relevant"], row["ndcg@10"]) == (21, 0.0)
