import random
import warnings

import numpy as np
import pytest

from desktop_rag.features.evaluation.values.paired_comparison import agreement, cohens_kappa

KINDS = ["first", "second", "same"]


def judged(pick: random.Random, count: int, noise: float) -> tuple[list[str], list[str]]:
    one = [pick.choice(KINDS) for _ in range(count)]
    return one, [pick.choice(KINDS) if pick.random() < noise else said for said in one]


@pytest.mark.parametrize("tables", [100, pytest.param(1000, marks=pytest.mark.deep)])
def test_kappa_equals_scikit_learns_on_random_tables(tables: int) -> None:
    from sklearn.metrics import cohen_kappa_score

    pick = random.Random(3)
    for _ in range(tables):
        one, other = judged(pick, pick.randrange(2, 40), pick.random())
        if len({*one, *other}) > 1:
            assert cohens_kappa(one, other) == pytest.approx(cohen_kappa_score(one, other))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_the_interval_equals_scipys_bootstrap_of_scikit_learns_kappa(seed: int) -> None:
    from scipy import stats
    from sklearn.metrics import cohen_kappa_score

    one, other = judged(random.Random(seed), 30, 0.5)
    codes = [np.array([KINDS.index(said) for said in judge]) for judge in (one, other)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = stats.bootstrap(
            codes, cohen_kappa_score, n_resamples=50, method="percentile", paired=True,
            vectorized=False, rng=np.random.default_rng(70),
        ).confidence_interval  # fmt: skip
    found = agreement(one, other, resamples=50)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.low <= found.kappa <= found.high


def test_words_say_whether_the_model_may_judge() -> None:
    alike = ["first", "second", "same"] * 20
    assert "can judge the rest" in agreement(alike, alike).in_words()
    pick = random.Random(5)
    other = [pick.choice(KINDS) for _ in alike]
    assert "don't rely on" in agreement(alike, other).in_words()
    few = ["first", "second", "first", "second"], ["first", "second", "first", "first"]
    assert "look at the answers" in agreement(*few).in_words()
    assert agreement([], []).answers == 0
    assert "not known" in agreement([], []).in_words()


def test_two_judges_who_always_say_the_same_one_thing_agree() -> None:
    told = agreement(["same"] * 5, ["same"] * 5)
    assert (told.kappa, told.low, told.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("yyyynnnn", "yyyynnnn", 1.0),
        ("yyyynnnn", "nnnnyyyy", -1.0),
        ("yynn", "ynyn", 0.0),
        # Cohen's own form: 35 of 50 agree, 26 by chance.
        ("y" * 25 + "n" * 25, "y" * 20 + "n" * 5 + "y" * 10 + "n" * 15, 0.4),
        ("yyy", "yyy", 1.0),
    ],
)
def test_cohens_kappa(one: str, other: str, expected: float) -> None:
    assert cohens_kappa(list(one), list(other)) == pytest.approx(expected)
