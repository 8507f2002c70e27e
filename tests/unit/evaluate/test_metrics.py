import math

import pytest

from desktop_rag.features.evaluation.measures.metrics import ndcg, percentile, recall

RELEVANT = {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("ranked", "expected"),
    [
        (["a", "b"], 1.0),
        (["b", "a"], (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))),
        (["x", "a"], (2 / math.log2(3)) / (2 + 1 / math.log2(3))),
        (["x"] * 10 + ["a"], 0.0),
        ([], 0.0),
    ],
)
def test_ndcg(ranked: list[str], expected: float) -> None:
    assert ndcg(ranked, RELEVANT) == pytest.approx(expected)


def test_nothing_relevant_is_zero_not_an_error() -> None:
    assert ndcg(["a"], {}) == recall(["a"], {}) == 0.0


def test_recall_looks_at_the_first_five() -> None:
    assert recall(["a", "x", "x", "x", "x", "b"], RELEVANT) == 0.5


def test_percentile_is_a_value_that_occurred() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.95) == 4.0
    assert percentile([], 0.5) == 0.0
