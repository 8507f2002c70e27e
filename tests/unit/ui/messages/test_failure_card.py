"""A failure in a narrow chat: all of its ways out are within the column."""

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import Message, MessageState, Role
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.answer_item import FailureCard
from desktop_rag.ui.messages.message_model import MessageActions
from desktop_rag.ui.widgets.controls import TextButton

FAILED = Message(
    "m", "c", Role.ASSISTANT, "", 0.0, state=MessageState.FAILED, model="small",
    error_title="The endpoint refused the connection.", error_hint="Start it, or check Settings.",
)  # fmt: skip


@pytest.mark.parametrize("width", [240, 320, 700])
def test_every_way_out_is_within_the_card(theme: Theme, qtbot: QtBot, width: int) -> None:
    card = FailureCard(theme, MessageActions(theme))
    qtbot.addWidget(card)
    card.show_failure(FAILED)
    card.offer_retry(is_offered=True)
    assert card.minimumSizeHint().width() <= 240
    card.resize(width, card.heightForWidth(width))
    buttons = card.findChildren(TextButton)
    assert [b.text() for b in buttons] == ["Retry", "Show excerpts instead", "Open settings"]
    qtbot.waitUntil(lambda: all(card.rect().contains(b.geometry()) for b in buttons))
