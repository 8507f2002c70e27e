"""The probability of an intent: what is close to another one is never sure."""

import numpy as np

from desktop_rag.features.rails.intent.intent_recognition import (
    ACCEPTED_FROM,
    Evidence,
    IntentCalibration,
)


def _probability(margin: float, examples: int = 1) -> float:
    """Of a sentence that everything else speaks for: score, similarity, lead, votes."""
    sizes = np.log([examples, 80])
    features = np.array([[0.9, margin, 0.97, 0.3, 1.0, *sizes]], np.float32)
    evidence = Evidence(np.zeros(1, np.intp), features)
    return float(IntentCalibration(80).probabilities(evidence)[0])


def test_only_a_clear_distance_to_the_next_intent_is_accepted() -> None:
    assert _probability(0.8) >= ACCEPTED_FROM
    assert _probability(0.41) >= ACCEPTED_FROM
    assert 0.9 < _probability(0.39) < ACCEPTED_FROM
    assert _probability(0.01) < ACCEPTED_FROM


def test_with_more_examples_less_distance_is_clear() -> None:
    assert _probability(0.39, examples=4) < ACCEPTED_FROM <= _probability(0.41, examples=4)
    assert _probability(0.31, examples=5) < ACCEPTED_FROM <= _probability(0.33, examples=5)
    assert _probability(0.31, examples=4) < ACCEPTED_FROM
