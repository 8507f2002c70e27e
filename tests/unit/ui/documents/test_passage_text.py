"""The passage of a source card."""

import pytest
from PySide6.QtGui import QTextCursor, QTextFormat
from pytestqt.qtbot import QtBot

from desktop_rag.ui.documents.passage_text import PassageText
from desktop_rag.ui.foundation.theme import Theme


@pytest.mark.parametrize("is_markdown", [True, False])
def test_markdown_is_shown_as_text_with_its_quote(
    theme: Theme, qtbot: QtBot, *, is_markdown: bool
) -> None:
    text = "## Lamps\nSee the *keeper* of the [lamp](lamp.md), who **rests**."
    shown = PassageText(theme, text, "*keeper* of the [lamp](lamp.md)", is_markdown=is_markdown)
    qtbot.addWidget(shown)
    plain = "Lamps\nSee the keeper of the lamp, who rests."
    assert shown.toPlainText() == (plain if is_markdown else text)
    marked = "keeper of the lamp" if is_markdown else "*keeper* of the [lamp](lamp.md)"
    assert marked_in(shown) == marked


def marked_in(shown: PassageText) -> str:
    """What has a background."""
    found = ""
    for place in range(len(shown.toPlainText())):
        cursor = shown.textCursor()
        cursor.setPosition(place)
        cursor.setPosition(place + 1, QTextCursor.MoveMode.KeepAnchor)
        if cursor.charFormat().hasProperty(QTextFormat.Property.BackgroundBrush.value):
            found += cursor.selectedText()
    return found
