"""The progress strip: live numbers, repainted at a limited rate."""

import pytest
from PySide6.QtWidgets import QProgressBar
from pytestqt.qtbot import QtBot

from desktop_rag.core.library_events import IndexProgress, Stage, StepProgress
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.library_page import ProgressStrip
from tests.unit.ui.rooms import field, texts

EMBEDDING = IndexProgress(
    Stage.EMBEDDING, 1998, 812, "/docs/<b>lamp</b>\n.md", 0.4371, 131,
    steps=(
        StepProgress(Stage.READING, True, 1998, 1998, 0),
        StepProgress(Stage.EMBEDDING, False, 1998, 812, 101),
        StepProgress(Stage.REFINING, False, 0, 0, 30),
    ),
)  # fmt: skip


def reading(done: int, total: int, name: str = "") -> IndexProgress:
    step = StepProgress(Stage.READING, files_total=total, files_done=done)
    return IndexProgress(Stage.READING, total, done, name, done / total / 2, steps=(step,))


@pytest.fixture
def strip(qtbot: QtBot, theme: Theme) -> ProgressStrip:
    strip = ProgressStrip()
    qtbot.addWidget(strip)
    strip.resize(900, 100)
    strip.show()
    return strip


def test_live_progress_in_words_and_decimals(strip: ProgressStrip) -> None:
    strip.set_progress(EMBEDDING)
    assert texts(strip) == [
        "Searchable by words. Preparing search by meaning",
        "about 2 min left",
        "43.7% overall",
        (
            "✓ Reading: 1,998 of 1,998 files · 2. Search by meaning: 812 of 1,998 files"
            " · 3. Long passages: less than a minute"
        ),
        "Reading /docs/<b>lamp</b>□.md",
    ]
    assert field(strip, QProgressBar, "Indexing progress").value() == 437


def test_gone_at_rest(strip: ProgressStrip) -> None:
    strip.set_progress(EMBEDDING)
    assert strip.isVisible()
    strip.set_progress(IndexProgress(files_total=3, files_done=3))
    assert not strip.isVisible()


def test_a_burst_is_painted_once_with_its_last_state(strip: ProgressStrip, qtbot: QtBot) -> None:
    strip.set_progress(reading(0, 500))
    for n in range(1, 501):
        strip.set_progress(reading(n, 500))
    assert "1. Reading: 0 of 500 files" in texts(strip)
    qtbot.waitUntil(lambda: "1. Reading: 500 of 500 files" in texts(strip))
    assert "50.0% overall" in texts(strip)


def test_the_current_file_does_not_flicker(strip: ProgressStrip, qtbot: QtBot) -> None:
    strip.set_progress(reading(0, 3, "/docs/a.md"))
    strip.set_progress(reading(1, 3))
    qtbot.waitUntil(lambda: "1. Reading: 1 of 3 files" in texts(strip))
    assert "Reading /docs/a.md" in texts(strip)
