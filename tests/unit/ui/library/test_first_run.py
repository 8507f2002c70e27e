"""The three ways to begin."""

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.first_run import FirstRun
from tests.unit.ui.rooms import button, texts

KINDS = ("PDF", "e-mail", "source code")


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("Add folder…", "folder_asked"),
        ("Add demo documents", "demo_asked"),
        ("Open settings", "endpoint_asked"),
    ],
)
def test_each_choice_tells(qtbot: QtBot, theme: Theme, name: str, signal: str) -> None:
    panel = FirstRun(theme, KINDS)
    qtbot.addWidget(panel)
    with qtbot.waitSignal(getattr(panel, signal)):
        button(panel, name).click()


def test_without_a_demo_there_are_two_choices(qtbot: QtBot, theme: Theme) -> None:
    panel = FirstRun(theme, KINDS, has_demo=False)
    qtbot.addWidget(panel)
    panel.show()
    assert not button(panel, "Add demo documents").isVisible()
    assert "Try the demo" not in texts(panel)


def test_it_says_what_is_read(qtbot: QtBot, theme: Theme) -> None:
    panel = FirstRun(theme, KINDS)
    qtbot.addWidget(panel)
    assert any(text.startswith("Reads PDF, e-mail and source code.") for text in texts(panel))
