from dataclasses import replace

import numpy as np
import pytest

from desktop_rag.answer.search.fusion import (
    FEW,
    MOST_COMPANY,
    FusionModel,
    Logistic,
    Scores,
    Signals,
    company,
    fuse,
    measure,
    ordered,
    spread_of,
    with_windows,
)
from desktop_rag.core.paths import resources_dir

TYPICAL = Signals(cohesion=0.3, closeness=0.09, match=0.2, standout=6.0, singularity=0.02)
UNKNOWN = np.full((2, 2), np.nan)


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
    assert spread_of(array(0.4)) == 0.0
    assert measure(array(0.0), array(0.4), array(0.4), np.ones((1, 1))).standout == 0.0


def test_signals_tell_how_far_the_first_stand_out() -> None:
    lexical, similar = np.zeros(101), np.linspace(0.8, 0.0, 101)
    lexical[7] = 1.0
    alike = np.eye(101)
    alike[:5, :5] = 0.6
    found = measure(lexical, similar, similar, alike)
    assert spread_of(similar) == pytest.approx(0.4)
    assert found.match == pytest.approx(0.8 * 0.4)
    assert found.standout == pytest.approx(10.0)
    assert found.closeness == pytest.approx(0.8 - 0.6)
    assert found.singularity == pytest.approx((0.8 - 0.6) * 0.8 * 0.4)
    assert found.cohesion == pytest.approx(0.6 - alike.mean())


def test_passages_of_no_vector_give_no_company() -> None:
    found = measure(array(1.0, 0.0), array(0.5, 0.2), array(0.5, 0.2), UNKNOWN)
    assert (found.cohesion, found.closeness) == (0.0, 0.5)
    assert company(array(1.0, 0.0), UNKNOWN).tolist() == [0.0, 0.0]


def test_a_signal_far_from_all_that_was_seen_says_no_more(model: FusionModel) -> None:
    far, further = replace(TYPICAL, standout=30.0), replace(TYPICAL, standout=3000.0)
    assert model.lexical_weight(far) == model.lexical_weight(further)
    assert model.company_weight(far, FEW) == model.company_weight(further, FEW)
    assert model.lexical_weight(far) != model.lexical_weight(TYPICAL)


def test_company_is_likeness_to_what_stands_first() -> None:
    alike = np.full((7, 7), 0.1)
    alike[5, :5] = alike[:5, 5] = 0.9
    found = company(array(7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0), alike)
    assert int(found.argmax()) == 5


def test_a_passage_without_a_vector_has_the_company_of_the_middle() -> None:
    alike = np.array([[1.0, 0.2, np.nan], [0.2, 1.0, np.nan], [np.nan, np.nan, np.nan]])
    found = company(array(2.0, 1.0, 0.0), alike)
    assert found[2] == pytest.approx(found.mean())


def test_a_library_of_one_subject_is_asked_by_meaning_and_company(model: FusionModel) -> None:
    subject = replace(TYPICAL, cohesion=0.6, closeness=0.05, match=0.4, standout=4.3)
    foreign = replace(TYPICAL, cohesion=0.12, closeness=0.05, match=0.08, standout=6.0)
    weights = [model.lexical_weight(signals) for signals in (subject, TYPICAL, foreign)]
    assert weights == sorted(weights)
    assert weights[2] > 0.7
    near = [model.company_weight(signals, FEW) for signals in (foreign, TYPICAL, subject)]
    assert near == sorted(near)
    assert near[0] > 0.0
    assert near[2] < MOST_COMPANY


def test_the_wish_of_the_person_moves_the_balance(model: FusionModel) -> None:
    middle = model.lexical_weight(TYPICAL)
    assert model.lexical_weight(TYPICAL, 0.2) < middle < model.lexical_weight(TYPICAL, 0.8)
    assert model.lexical_weight(TYPICAL, 0.0) == 0.0
    assert model.lexical_weight(TYPICAL, 1.0) == 1.0


def test_what_fits_in_words_and_meaning_is_relevant(model: FusionModel) -> None:
    near = {"nearness": 0.7, "standout": 6.0, "share": 0.6}
    far = {"nearness": 0.12, "standout": 1.5, "share": 0.02}
    for relevance in (model.relevance, model.relevance_among_few):
        assert relevance(near) > 0.9
        assert relevance(far) < 0.1
    assert model.relevance_by_words({"share": 0.6}) > model.relevance_by_words({"share": 0.02})
    # A middling lead is what questions about something else have too.
    assert model.relevance_by_lead({"lead": 0.4}) > 0.5
    assert model.relevance_by_lead({"lead": 0.2}) < 0.2


def test_a_logistic_counts_from_the_mean_in_deviations() -> None:
    logistic = Logistic(0.0, {"x": 2.0}, {"x": 10.0}, {"x": 5.0})
    assert logistic({"x": 10.0, "other": 9.0}) == 0.5
    assert logistic({"x": 15.0}) == pytest.approx(1 / (1 + np.exp(-2.0)))


def test_the_best_window_counts_a_part() -> None:
    found = with_windows(array(0.5, 0.5), array(1.0, np.nan))
    assert found.tolist() == pytest.approx([0.75, 0.5])


def test_equal_scores_keep_the_order_of_the_library() -> None:
    assert list(ordered([7, 3, 5], array(1.0, 1.0, 2.0), 2).items()) == [(5, 2.0), (3, 1.0)]


def test_a_passage_is_no_company_of_its_own() -> None:
    found = measure(array(1.0, 0.0), array(0.5, 0.4), array(0.5, 0.4), np.eye(2))
    assert found.closeness == pytest.approx(0.5)


def test_company_counts_no_more_in_a_longer_race(model: FusionModel) -> None:
    most = model.company_weight(TYPICAL, FEW)
    assert 0 < most == model.company_weight(TYPICAL, 10 * FEW)
