"""Sentences as models write them: few of their badges say much, but those that do are right.

`benchmarks/answers/badges.py` prints the shares, also of those held out.
"""

from functools import cache

import pytest

from benchmarks.answers.badges import NATURAL, Badge, natural
from desktop_rag.core.claims import Verdict

pytestmark = pytest.mark.slow


@cache
def badges() -> list[Badge]:
    """The badges of the sentences that the checker may be read against."""
    return list(natural(NATURAL / "natural.toml"))


def test_hardly_a_false_sentence_is_supported_and_no_true_one_contradicted() -> None:
    false = [badge for badge in badges() if not badge.is_true]
    wrong = [b.text for b in badges() if b.is_true and b.verdict is Verdict.CONTRADICTED]
    supported = [badge.text for badge in false if badge.verdict is Verdict.SUPPORTED]
    assert len(supported) <= 0.03 * len(false)
    assert wrong == []


def test_more_false_sentences_than_true_ones_carry_a_warning() -> None:
    chips = {label: [b.is_chip for b in badges() if b.is_true is label] for label in (True, False)}
    true, false = (sum(chips[label]) / len(chips[label]) for label in (True, False))
    assert true <= 0.35
    assert false >= 0.5
