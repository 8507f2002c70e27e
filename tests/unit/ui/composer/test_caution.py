"""The caution names only what answers have."""

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.core.settings import AnswerSettings, EndpointSettings, Settings
from desktop_rag.ui.composer.model_choice import Caution

UNCHECKED = "Answers can be wrong. Press a number to read the source."
CHECKED = "Answers can be wrong. Press a number to read the source, or a mark to see the check."
MODEL = EndpointSettings("http://127.0.0.1:1/v1", "amber")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(), UNCHECKED),
        (Settings(endpoint=MODEL), CHECKED),
        (Settings(endpoint=MODEL, answers=AnswerSettings(checks_claims=False)), UNCHECKED),
    ],
)
def test_marks_are_named_where_sentences_are_checked(
    settings: Settings, words: str, qtbot: QtBot
) -> None:
    caution = Caution()
    qtbot.addWidget(caution)
    caution.apply(settings)
    assert caution.text() == words
