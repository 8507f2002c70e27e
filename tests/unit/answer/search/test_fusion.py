import numpy as np
import pytest

from desktop_rag.answer.search.fusion import (
    FEW,
    FusionModel,
    Logistic,
    Scores,
    agreement,
    company,
    fuse,
    guarded,
    ordered,
    with_windows,
)
from desktop_rag.core.paths import resources_dir

USUAL = 0.2
UNKNOWN = np.full((2, 2), np.nan)


def array(*values: float) -> Scores:
    return np.array(values)


@pytest.fixture
def model() -> FusionModel:
    return FusionModel.load(resources_dir() / "retrieval" / "fusion.toml")


def test_what_both_lists_like_comes_first() -> None:
    scores = fuse(array(0.9, 0.8, 0.1), array(0.1, 0.9, 0.8), 0.5)
    assert int(scores.argmax()) == 1


@pytest.mark.parametrize(("weight", "first"), [(1.0, 0), (0.0, 1)])
def test_the_weight_decides_between_the_lists(weight: float, first: int) -> None:
    assert int(fuse(array(0.9, 0.1), array(0.1, 0.9), weight).argmax()) == first


def test_words_that_hardly_match_hardly_count() -> None:
    near = array(0.5, 0.4, 0.1)
    assert int(fuse(array(0.0, 0.9, 0.1), near, 0.5).argmax()) == 1
    assert int(fuse(array(0.0, 0.009, 0.001), near, 0.5).argmax()) == 0


def test_rankings_agree_from_chance_to_wholly() -> None:
    scores = np.linspace(1.0, 0.01, 200)
    assert agreement(scores, scores) == pytest.approx(1.0)
    assert agreement(scores, -scores) < 0.0
    mixed = np.random.default_rng(3).permutation(20_000).astype(np.float64)
    assert agreement(np.linspace(1.0, 0.01, 20_000), mixed) == pytest.approx(0.0, abs=0.06)


def test_passages_without_a_word_of_the_question_agree_with_nothing() -> None:
    assert agreement(np.zeros(200), np.linspace(1.0, 0.0, 200)) < 0.0
    assert agreement(array(1.0, 0.5), array(1.0, 0.5)) == 0.0


def test_words_speak_louder_where_both_rankings_agree(model: FusionModel) -> None:
    weights = [model.lexical_weight(a, FEW, is_open=False) for a in (0.0, 0.2, 0.6)]
    assert weights == sorted(set(weights))


def test_an_open_question_is_ranked_by_meaning_and_company(model: FusionModel) -> None:
    assert model.lexical_weight(USUAL, FEW, is_open=True) < 0.2
    assert model.lexical_weight(USUAL, FEW, is_open=False) > 0.5
    assert model.company_weight(FEW, is_open=False) == 0.0
    assert (
        0.0
        < model.company_weight(FEW, is_open=True)
        == model.company_weight(10 * FEW, is_open=True)
    )
    assert model.company_weight(5, is_open=True) == 0.0


def test_among_few_passages_agreement_says_nothing(model: FusionModel) -> None:
    few = [model.lexical_weight(a, 20, is_open=False) for a in (0.0, 1.0)]
    assert few[0] == few[1] == model.lexical_weight(USUAL, FEW, is_open=False)


def test_a_signal_far_from_all_that_was_seen_says_no_more(model: FusionModel) -> None:
    far, further = (model.lexical_weight(a, FEW, is_open=False) for a in (30.0, 3000.0))
    assert far == further


def test_passages_of_no_vector_give_no_company() -> None:
    assert company(array(1.0, 0.0), UNKNOWN).tolist() == [0.0, 0.0]


def test_company_is_likeness_to_what_stands_first() -> None:
    alike = np.full((7, 7), 0.1)
    alike[5, :5] = alike[:5, 5] = 0.9
    found = company(array(7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0), alike)
    assert int(found.argmax()) == 5


def test_a_passage_without_a_vector_has_the_company_of_the_middle() -> None:
    alike = np.array([[1.0, 0.2, np.nan], [0.2, 1.0, np.nan], [np.nan, np.nan, np.nan]])
    found = company(array(2.0, 1.0, 0.0), alike)
    assert found[2] == pytest.approx(found.mean())


def test_the_wish_of_the_person_moves_the_balance(model: FusionModel) -> None:
    weights = [
        model.lexical_weight(USUAL, FEW, wish, is_open=False) for wish in (0.0, 0.2, 0.5, 0.8, 1.0)
    ]
    assert weights == sorted(set(weights))
    assert (weights[0], weights[-1]) == (0.0, 1.0)


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


def test_the_best_of_a_single_ranking_is_not_buried() -> None:
    ranked = {n: 20.0 - n for n in range(20)}
    assert list(guarded(ranked, [12, 3, 15]))[:9] == [0, 1, 2, 3, 4, 5, 12, 15, 6]
    scores = list(guarded(ranked, [12, 3, 15]).values())
    assert scores == sorted(scores, reverse=True)
    assert guarded({1: 2.0, 2: 1.0}, [2]) == {1: 2.0, 2: 1.0}
