"""How answers are measured against what is expected."""

import pytest

from desktop_rag.features.evaluation.values.scoring import contains, token_f1


@pytest.mark.parametrize(
    ("answer", "expected", "f1"),
    [
        ("At dusk [1].", "at dusk", 1.0),
        ("It is lit at dusk [1][2].", "at dusk", 4 / 7),
        ("Never.", "at dusk", 0.0),
        ("", "at dusk", 0.0),
        ("dusk dusk", "dusk", 2 / 3),
        ("In der Dämmerung", "DÄMMERUNG", 0.5),
    ],
)
def test_words_in_common(answer: str, expected: str, f1: float) -> None:
    assert token_f1(answer, expected) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "expected", "is_in"),
    [
        ("It is lit at dusk [1], he says.", "At dusk", True),
        ("It is lit at [1] dusk.", "at dusk", True),
        ("Dusk is not at sea.", "at dusk", False),
        ("at duskfall", "at dusk", False),
        ("", "at dusk", False),
        ("anything", "…", False),
    ],
)
def test_word_for_word(answer: str, expected: str, is_in: bool) -> None:
    assert contains(answer, expected) is is_in
