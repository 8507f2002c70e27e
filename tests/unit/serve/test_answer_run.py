"""What a client gets of an answer that the window takes back in part."""

import pytest

from desktop_rag.core.conversation import (
    AnswerDone,
    AnswerRestated,
    Message,
    MessageState,
    Role,
    TextDelta,
)
from desktop_rag.core.errors import AppError, LibraryAwayError
from desktop_rag.features.server.answer_run import grown
from desktop_rag.features.server.program_answers import failure


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


@pytest.mark.parametrize(
    ("error", "status", "wait_s"),
    [(LibraryAwayError("libpq says more."), 503, 5), (AppError("No model answers."), 502, None)],
)
def test_an_answer_without_its_library_may_be_asked_again_soon(
    error: AppError, status: int, wait_s: float | None
) -> None:
    failed = Message(
        "m", "", Role.ASSISTANT, "", 0.0, state=MessageState.FAILED,
        error_title=error.title, error_hint=error.hint,
    )  # fmt: skip
    refusal = failure(AnswerDone(failed))
    assert refusal
    assert (refusal.status, refusal.retry_after_s) == (status, wait_s)
    assert "libpq" not in refusal.message
