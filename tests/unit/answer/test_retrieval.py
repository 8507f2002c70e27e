import pytest

from desktop_rag.answer.retrieval import fuse


def test_what_both_lists_like_comes_first() -> None:
    scores = fuse({1: 9.0, 2: 8.0, 3: 1.0}, {2: 0.9, 3: 0.8, 1: 0.1}, 0.5)
    assert max(scores, key=scores.__getitem__) == 2


@pytest.mark.parametrize(("weight", "first"), [(1.0, 1), (0.0, 2)])
def test_the_weight_decides_between_the_lists(weight: float, first: int) -> None:
    scores = fuse({1: 9.0, 2: 1.0}, {1: 0.1, 2: 0.9}, weight)
    assert max(scores, key=scores.__getitem__) == first


def test_scale_of_a_list_does_not_matter() -> None:
    small = fuse({1: 1.0, 2: 2.0, 3: 4.0}, {1: 0.9, 2: 0.2, 3: 0.3}, 0.5)
    large = fuse({1: 100.0, 2: 200.0, 3: 400.0}, {1: 0.9, 2: 0.2, 3: 0.3}, 0.5)
    assert small == pytest.approx(large)


def test_one_list_alone_keeps_its_order_and_ties_are_no_division_by_zero() -> None:
    assert fuse({}, {}, 0.5) == {}
    assert fuse({1: 2.0}, {}, 0.5) == {1: 0.0}
    alone = fuse({1: 2.0, 2: 3.0}, {}, 0.5)
    assert alone[2] > alone[1]
