"""The passage of a source card."""

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.ui.documents.sources_panel import PassageText
from desktop_rag.ui.foundation.theme import Theme
from tests.unit.ui.rooms import marked_in


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
