"""The progress strip: live numbers, repainted at a limited rate."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QProgressBar
from pytestqt.qtbot import QtBot

from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.progress_strip import ProgressStrip
from tests.unit.ui.rooms import field, texts

EMBEDDING = IndexProgress(
    stage=Stage.EMBEDDING,
    files_total=1998,
    files_read=1998,
    chunks_total=25_102,
    chunks_embedded=10_411,
    current_file="/docs/<b>lamp</b>\n.md",
    fraction=0.4371,
    seconds_left=131,
)


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
        "Preparing search by meaning",
        "about 2 min left",
        "43.7%",
        "1,998 of 1,998 files read · 10,411 of 25,102 passages embedded",
        "Searchable by words: 0",
        "Reading /docs/<b>lamp</b>□.md",
    ]
    assert field(strip, QProgressBar, "Indexing progress").value() == 437


def test_refining_has_its_own_text(strip: ProgressStrip) -> None:
    strip.set_progress(replace(EMBEDDING, stage=Stage.REFINING, current_file=""))
    assert texts(strip) == [
        "Searchable. Refining long passages",
        "about 2 min left",
        "43.7%",
        "1,998 of 1,998 files read · 10,411 of 25,102 passages refined",
        "Searchable by words: 0",
    ]


def test_one_line_when_idle(strip: ProgressStrip) -> None:
    strip.set_progress(EMBEDDING)
    strip.set_progress(IndexProgress())
    assert texts(strip) == ["Up to date", "Searchable by words: 0"]
    assert not field(strip, QProgressBar, "Indexing progress").isVisible()


def test_a_burst_is_painted_once_with_its_last_state(strip: ProgressStrip, qtbot: QtBot) -> None:
    strip.set_progress(IndexProgress(stage=Stage.READING, files_total=500, fraction=0.0))
    for n in range(1, 501):
        strip.set_progress(IndexProgress(Stage.READING, 500, n, fraction=n / 1000))
        strip.set_searchable_count(n)
    assert "0 of 500 files read" in texts(strip)
    qtbot.waitUntil(lambda: "500 of 500 files read" in texts(strip))
    assert "50.0%" in texts(strip)
    assert "Searchable by words: 500" in texts(strip)


def test_the_current_file_does_not_flicker(strip: ProgressStrip, qtbot: QtBot) -> None:
    strip.set_progress(IndexProgress(Stage.READING, 3, 0, current_file="/docs/a.md"))
    strip.set_progress(IndexProgress(Stage.READING, 3, 1))
    qtbot.waitUntil(lambda: "1 of 3 files read" in texts(strip))
    assert "Reading /docs/a.md" in texts(strip)
