"""Scores of intents over vectors: one sentence at a time says the same as many at once."""

import numpy as np
import pytest

from desktop_rag.features.rails.intent.intent_recognition import (
    Evidence,
    IntentExample,
    IntentRecogniser,
    IntentScores,
)

_CLASSES, _EXAMPLES, _DIMENSIONS = 7, 120, 48


def _vectors(count: int, seed: int) -> np.ndarray:
    """Unit vectors around one of each class, class after class."""
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((_CLASSES, _DIMENSIONS))
    drawn = np.repeat(centres, count, axis=0)
    drawn += 2.0 * chance.standard_normal(drawn.shape)
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def _scores() -> IntentScores:
    classes = np.repeat(np.arange(_CLASSES), _EXAMPLES)
    return IntentScores(
        _vectors(_EXAMPLES, 1), classes, _vectors(1, 2), np.arange(_CLASSES), _CLASSES
    )


@pytest.mark.slow
def test_one_vector_at_a_time_is_told_the_same_as_all_at_once() -> None:
    scores, asked = _scores(), _vectors(3, 3)
    cosines, at_once = scores.compared(asked)
    assert np.allclose(cosines, asked @ _vectors(_EXAMPLES, 1).T, atol=1e-5)
    for place in range(len(asked)):
        alone_cosines, alone = scores.compared(asked[place : place + 1])
        assert np.allclose(alone_cosines[0], cosines[place], atol=1e-5)
        assert alone.best[0] == at_once.best[place]
        assert np.allclose(alone.features[0], at_once.features[place], atol=1e-4)


@pytest.mark.slow
def test_an_example_left_out_is_told_less_than_the_same_sentence_said() -> None:
    scores = _scores()
    left_out = scores.left_out()
    _, said = scores.compared(_vectors(_EXAMPLES, 1)[scores.looked_at])
    similarity = 2  # the third feature
    assert (left_out.features[:, similarity] < said.features[:, similarity] - 0.01).all()
    assert _share_right(left_out, scores) < _share_right(said, scores)


def _share_right(evidence: Evidence, scores: IntentScores) -> float:
    return float(np.mean(evidence.best == scores.looked_at // _EXAMPLES))


def test_of_equally_near_examples_the_first_are_shown() -> None:
    examples = [IntentExample(f"text {number}", f"form {number}") for number in range(9)]
    vectors = {example.text: np.eye(2, dtype=np.float32)[0] for example in examples}
    told = IntentRecogniser(
        examples, lambda texts: np.stack([vectors.get(t, np.ones(2, np.float32)) for t in texts])
    ).recognise("text 4")
    assert [near.text for near in told.nearest] == [f"text {number}" for number in range(5)]
