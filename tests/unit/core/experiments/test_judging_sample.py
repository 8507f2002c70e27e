"""Samples to judge: drawn by chance, or evenly from groups."""

import random
from collections import Counter

import pytest

from desktop_rag.features.evaluation.values.answer_matrix import drawn

IDS = [str(n) for n in range(30)]
# Twenty of a, eight of b, two of c.
GROUPS = {each: "a" if n < 20 else "b" if n < 28 else "c" for n, each in enumerate(IDS)}


@pytest.mark.parametrize(
    ("most", "counts"),
    [(3, {"a": 1, "b": 1, "c": 1}), (12, {"a": 5, "b": 5, "c": 2}), (0, {"a": 20, "b": 8, "c": 2})],
)
def test_groups_give_evenly_as_far_as_they_can(most: int, counts: dict[str, int]) -> None:
    found = drawn(IDS, GROUPS, most, random.Random(1))
    assert len(set(found)) == len(found)
    assert Counter(GROUPS[each] for each in found) == counts


def test_another_chance_draws_others() -> None:
    assert drawn(IDS, {}, 5, random.Random(1)) != drawn(IDS, {}, 5, random.Random(2))
    assert drawn([], {}, 5, random.Random(1)) == []
