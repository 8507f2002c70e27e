import random

import numpy as np
import pytest

from desktop_rag.features.evaluation.values.paired_comparison import (
    Outcome,
    bootstrap_interval,
    compare,
    sign_test,
)

QUESTIONS = 40
COMPARISONS = 100


@pytest.mark.slow
def test_the_sign_test_equals_scipys_on_1000_random_tables() -> None:
    from scipy import stats

    pick = random.Random(1)
    for _ in range(1_000):
        better, worse = pick.randrange(200), pick.randrange(200)
        expected = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
        assert sign_test(better, worse) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.slow
def test_the_bootstrap_equals_scipys_on_1000_random_tables() -> None:
    from scipy import stats

    chance = np.random.default_rng(2)
    for _ in range(1_000):
        values = chance.choice([-1.0, -0.5, 0.0, 0.25, 1.0], size=int(chance.integers(2, 40)))
        expected = stats.bootstrap(
            (values,), np.mean, n_resamples=199, method="percentile", rng=np.random.default_rng(70)
        ).confidence_interval
        found = bootstrap_interval(values.tolist(), resamples=199)
        assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


def simulated(difference: float, seed: int) -> Outcome:
    """Two runs that share how hard a question is; each answer varies by .15 around what it is."""
    chance = np.random.default_rng(seed)
    hardness = chance.uniform(0.2, 0.7, QUESTIONS)
    first = hardness + chance.normal(0, 0.15, QUESTIONS)
    second = hardness + difference + chance.normal(0, 0.15, QUESTIONS)
    return compare(first.tolist(), second.tolist()).outcome


@pytest.mark.slow
def test_a_planted_better_run_is_found_in_95_of_100_and_an_equal_one_called_so_in_5() -> None:
    planted = [simulated(0.2, seed) for seed in range(COMPARISONS)]
    assert planted.count(Outcome.BETTER) >= 95
    equal = [simulated(0.0, 1_000 + seed) for seed in range(COMPARISONS)]
    assert equal.count(Outcome.BETTER) + equal.count(Outcome.WORSE) <= 5


def test_words_count_questions_and_say_what_to_think_of_them() -> None:
    first = [0.0] * 15 + [1.0] * 3 + [0.5] * 22
    second = [1.0] * 15 + [0.0] * 3 + [0.5] * 22
    said = compare(first, second).in_words("small", "large")
    assert said == "large is better: 15 to 3, 22 equal. This is likely not chance."
    turned = compare(second, first).in_words("large", "small")
    assert turned == said
    assert compare(second, first).outcome is Outcome.WORSE


def test_a_split_that_only_one_test_calls_rare_may_be_chance() -> None:
    # Three questions of three: the bootstrap is sure, the sign test can't be.
    told = compare([0, 0, 0], [1, 1, 1])
    assert told.outcome is Outcome.PERHAPS
    said = "B is ahead: 3 to 0, 0 equal. This may be chance; more questions would tell."
    assert told.in_words() == said
    assert compare([0, 1], [1, 0]).in_words().startswith("Neither is ahead: 1 each, 0 equal.")
    # Five small losses and one large gain have a mean that says the opposite of the count.
    opposite = compare([0.1] * 9 + [0.0], [0.0] * 9 + [1.0])
    assert opposite.outcome is not Outcome.BETTER


@pytest.mark.parametrize("scores", [[], [0.5], [0.5, 0.0, 1.0]])
def test_equal_runs_show_no_difference(scores: list[float]) -> None:
    told = compare(scores, scores)
    assert (told.better, told.worse, told.same) == (0, 0, len(scores))
    assert told.outcome is Outcome.NO_DIFFERENCE
    assert told.in_words()
