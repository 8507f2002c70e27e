"""Texts in parts: nothing lost, none too long, cut between words where there are any."""

import numpy as np
import pytest

from desktop_rag.models.endpoints.client.endpoint_requests import parts_of, unit


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("lamp", ["lamp"]),
        ("", [""]),
        ("the lamp", ["the ", "lamp"]),
        ("the\nlamp", ["the\n", "lamp"]),
        ("harbour", ["harbou", "r"]),
        ("a harbour", ["a harb", "our"]),
        ("lamp  " + " " * 12 + "harbor", ["lamp  ", "harbor"]),
        (" " * 9, [" " * 6]),
    ],
)
def test_a_text_goes_in_parts_of_at_most_three_characters_a_token(
    text: str, parts: list[str]
) -> None:
    assert parts_of(text, 2) == parts


@pytest.mark.parametrize("sign", ["a", "a ", "漢", "é\n", "wörter "])
def test_all_parts_together_are_the_text(sign: str) -> None:
    text = sign * 1000
    for max_tokens in (64, 127, 512):
        parts = parts_of(text, max_tokens)
        assert "".join(parts) == text
        assert max(map(len, parts)) <= 3 * max_tokens


def test_a_mean_of_opposite_vectors_is_no_division_by_nothing() -> None:
    found = unit(np.asarray([[3.0, 4.0], [0.0, 0.0]], np.float32))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]], atol=1e-6)
