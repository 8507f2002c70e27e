"""The page of an empty library with its two ways to start."""

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.ingest.read.foundation.format_table import kinds_read
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.library_header import KINDS_IN_WORDS, FirstRun
from tests.unit.ui.rooms import button, texts

KINDS = ("PDF", "e-mail", "source code")


@pytest.mark.parametrize(
    ("name", "signal"),
    [("Add folder…", "folder_requested"), ("Add demo documents", "demo_requested")],
)
def test_each_choice_emits_its_signal(qtbot: QtBot, theme: Theme, name: str, signal: str) -> None:
    panel = FirstRun(theme, KINDS)
    qtbot.addWidget(panel)
    with qtbot.waitSignal(getattr(panel, signal)):
        button(panel, name).click()


def test_supported_kinds_of_files_are_listed(qtbot: QtBot, theme: Theme) -> None:
    panel = FirstRun(theme, KINDS)
    qtbot.addWidget(panel)
    assert any(text.startswith("Supported: PDF, e-mail and source code.") for text in texts(panel))


def test_every_kind_without_a_name_of_its_own_is_in_words() -> None:
    assert {kind for kind in kinds_read() if kind.islower()} == KINDS_IN_WORDS.keys()
