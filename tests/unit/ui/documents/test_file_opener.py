"""Opening files with the desktop's programs, recorded through Qt's URL handler hook."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.core.errors import AppError
from desktop_rag.ui.documents.external_viewer import FileOpener
from desktop_rag.ui.foundation.bridge import Bridge
from tests.unit.ui.rooms import Desktop, listening_desktop

NAMES = ["a b#c?.md", "100%25.md", "Überblick.md", "a<img>.md"]
if sys.platform == "linux":
    # File names are bytes there, and need not be valid text.
    NAMES.append(os.fsdecode(b"caf\xe9.md"))


@pytest.fixture
def desktop(qapp: object) -> Iterator[Desktop]:
    with listening_desktop() as desktop:
        yield desktop


@pytest.mark.parametrize("name", NAMES)
def test_opens_the_very_file(
    bridge: Bridge, desktop: Desktop, qtbot: QtBot, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.touch()
    FileOpener(bridge, desktop).open(path)
    qtbot.waitUntil(lambda: desktop.urls == [path.as_uri()])


def test_shows_the_folder(bridge: Bridge, desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    FileOpener(bridge, desktop).show_in_folder(tmp_path / "gone.md")
    qtbot.waitUntil(lambda: desktop.opened == [str(tmp_path)])


def test_a_missing_file_is_an_error(
    bridge: Bridge, desktop: Desktop, qtbot: QtBot, tmp_path: Path
) -> None:
    errors: list[AppError] = []
    bridge.hear(AppError, errors.append)
    FileOpener(bridge, desktop).open(tmp_path / "gone.md")
    qtbot.waitUntil(lambda: bool(errors))
    assert "gone.md" in errors[0].title
    assert desktop.opened == []
