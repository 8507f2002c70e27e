"""The three ways to begin."""

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.ingest.read.formats import supported_suffixes
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.first_run import SUPPORTED, FirstRun
from tests.unit.ui.rooms import button, texts

WORDS = {
    ".md": "Markdown",
    ".txt": "text",
    ".pdf": "PDF",
    ".docx": "Word",
    ".xlsx": "Excel",
    ".pptx": "PowerPoint",
    ".odt": "OpenDocument",
    ".eml": "e-mail",
    ".epub": "EPUB",
    ".ipynb": "notebooks",
    ".py": "source code",
    ".csv": "CSV",
    ".html": "HTML",
}


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("Add folder…", "folder_asked"),
        ("Add demo documents", "demo_asked"),
        ("Open settings", "endpoint_asked"),
    ],
)
def test_each_choice_tells(qtbot: QtBot, theme: Theme, name: str, signal: str) -> None:
    panel = FirstRun(theme)
    qtbot.addWidget(panel)
    with qtbot.waitSignal(getattr(panel, signal)):
        button(panel, name).click()


def test_without_a_demo_there_are_two_choices(qtbot: QtBot, theme: Theme) -> None:
    panel = FirstRun(theme, has_demo=False)
    qtbot.addWidget(panel)
    panel.show()
    assert not button(panel, "Add demo documents").isVisible()
    assert "Try the demo" not in texts(panel)


def test_what_it_says_is_read_is_read() -> None:
    assert WORDS.keys() <= set(supported_suffixes())
    assert all(word in SUPPORTED for word in WORDS.values())
