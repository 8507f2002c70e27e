"""In a small window and a language of long words, every text has room."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tests.looks.cut_off import cut_off

_LIMIT_S = 280


@pytest.mark.timeout(_LIMIT_S + 20)
def test_no_text_is_cut_off(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.looks.german_walk",
        str(tmp_path / "walk"),
        "900",
        "600",
    ]
    display = {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "1"}
    walked = subprocess.run(
        command,
        env={**os.environ, **display},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    assert walked.returncode == 0, walked.stderr
    assert walked.stdout == ""


def test_what_is_cut_off_is_found(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(300, 200)
    narrow = QPushButton("Fit the width of the page", window)
    narrow.setGeometry(0, 0, 60, 30)
    outside = QLabel("Outside", window)
    outside.setGeometry(280, 60, outside.sizeHint().width(), 30)
    QLabel("Whole", window).setGeometry(0, 100, 200, 30)
    window.show()
    found = "\n".join(cut_off(window))
    assert "'Fit the width of the page': 60 px wide" in found
    assert "'Outside': sticks out of QWidget" in found
    assert "Whole" not in found
