from dataclasses import replace

import numpy as np
import pytest

from desktop_rag.answer.fusion import (
    FusionModel,
    Logistic,
    Scores,
    Signals,
    fuse,
    measure,
    ordered,
    with_windows,
)
from desktop_rag.core.paths import resources_dir

TYPICAL = Signals(spread=0.33, lead=0.5)


def array(*values: float) -> Scores:
    return np.array(values)


@pytest.fixture
def model() -> FusionModel:
    return FusionModel.load(resources_dir() / "retrieval" / "fusion.toml")


def test_what_both_lists_like_comes_first() -> None:
    scores = fuse(array(9.0, 8.0, 1.0), array(0.1, 0.9, 0.8), 0.5)
    assert int(scores.argmax()) == 1


@pytest.mark.parametrize(("weight", "first"), [(1.0, 0), (0.0, 1)])
def test_the_weight_decides_between_the_lists(weight: float, first: int) -> None:
    assert int(fuse(array(9.0, 1.0), array(0.1, 0.9), weight).argmax()) == first


def test_scale_of_a_list_does_not_matter() -> None:
    dense = array(0.9, 0.2, 0.3)
    small = fuse(array(1.0, 2.0, 4.0), dense, 0.5)
    assert small == pytest.approx(fuse(array(100.0, 200.0, 400.0), dense, 0.5))


def test_equal_scores_are_no_division_by_zero() -> None:
    assert fuse(array(2.0, 2.0), array(0.5, 0.5), 0.5).tolist() == [0.0, 0.0]
    assert measure(array(0.0), array(0.4)).spread == 0.0


def test_signals_tell_how_far_the_first_stand_out() -> None:
    lexical, similar = np.linspace(10.0, 0.0, 101), np.linspace(0.8, 0.0, 101)
    found = measure(lexical, similar)
    assert found.spread == pytest.approx(0.4)
    assert found.lead == pytest.approx(0.05)


def test_a_library_full_of_the_subject_is_asked_by_meaning(model: FusionModel) -> None:
    much = replace(TYPICAL, spread=0.55, lead=0.2)
    foreign = replace(TYPICAL, spread=0.12, lead=0.6)
    weights = [model.lexical_weight(signals) for signals in (much, TYPICAL, foreign)]
    assert weights == sorted(weights)
    assert weights[0] < 0.25
    assert weights[2] > 0.7


def test_the_wish_of_the_person_moves_the_balance(model: FusionModel) -> None:
    middle = model.lexical_weight(TYPICAL)
    assert model.lexical_weight(TYPICAL, 0.2) < middle < model.lexical_weight(TYPICAL, 0.8)
    assert model.lexical_weight(TYPICAL, 0.0) == 0.0
    assert model.lexical_weight(TYPICAL, 1.0) == 1.0


def test_what_fits_in_words_and_meaning_is_relevant(model: FusionModel) -> None:
    near = {"similarity": 0.7, "spread": 0.45, "share": 0.6}
    far = {"similarity": 0.12, "spread": 0.08, "share": 0.02}
    assert model.relevance(near) > 0.9
    assert model.relevance(far) < 0.1
    assert model.relevance_by_words({"share": 0.6}) > model.relevance_by_words({"share": 0.02})


def test_a_logistic_counts_from_the_mean_in_deviations() -> None:
    logistic = Logistic(0.0, {"x": 2.0}, {"x": 10.0}, {"x": 5.0})
    assert logistic({"x": 10.0, "other": 9.0}) == 0.5
    assert logistic({"x": 15.0}) == pytest.approx(1 / (1 + np.exp(-2.0)))


def test_the_best_window_counts_a_part() -> None:
    found = with_windows(array(0.5, 0.5), array(1.0, np.nan))
    assert found.tolist() == pytest.approx([0.7, 0.5])


def test_equal_scores_keep_the_order_of_the_library() -> None:
    assert list(ordered([7, 3, 5], array(1.0, 1.0, 2.0), 2).items()) == [(5, 2.0), (3, 1.0)]
