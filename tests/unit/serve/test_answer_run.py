"""What a client gets of an answer that the window takes back in part."""

import pytest

from desktop_rag.core.conversation import AnswerRestated, TextDelta
from desktop_rag.features.server.answer_run import grown


@pytest.mark.parametrize(
    ("shown", "event", "after", "news"),
    [
        ("The lamp", TextDelta(" is lit"), "The lamp is lit", " is lit"),
        ("The lamp ^", AnswerRestated("The lamp [1] is", ""), "The lamp [1] is", "[1] is"),
        ("Let me see", AnswerRestated("", "Let me see"), "", ""),
        ("The lamp is", AnswerRestated("The lamp", ""), "The lamp", ""),
        ("I found a lamp.", AnswerRestated("I can't say.", ""), "I can't say.", "\n\nI can't say."),
    ],
)
def test_nothing_new_is_lost(
    shown: str, event: TextDelta | AnswerRestated, after: str, news: str
) -> None:
    assert grown(shown, event) == (after, news)
