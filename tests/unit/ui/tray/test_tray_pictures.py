"""The menu of the tray pauses pictures alone, while there are any."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.library_events import IndexProgress, ProgressChanged
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.pictures import PictureHold, WaitingPictures
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.tray.app_icon import AppIcon
from desktop_rag.ui.tray.tray import Tray
from tests.unit.ui.rooms import deliver, make_library, opened_store


@pytest.fixture
def tray(bridge: Bridge, tmp_path: Path) -> Iterator[Tray]:
    with opened_store(tmp_path / "home") as database:
        library = make_library(database, tmp_path / "home")
        tray = Tray(bridge, library, AppIcon(resources_dir()))
        yield tray
        bridge.close()
        library.close()


def shown(bridge: Bridge, tray: Tray, waiting: WaitingPictures) -> list[str]:
    """The actions about pictures after this progress."""
    deliver(bridge, ProgressChanged(IndexProgress(pictures=waiting)))
    actions = tray.menu.actions()
    return [a.text() for a in actions if a.text().endswith("pictures") and a.isVisible()]


def test_pictures_are_paused_and_read_from_the_menu(bridge: Bridge, tray: Tray) -> None:
    assert shown(bridge, tray, WaitingPictures()) == []
    assert shown(bridge, tray, WaitingPictures(9, 30.0)) == ["Pause pictures"]
    assert shown(bridge, tray, WaitingPictures(9, 30.0, PictureHold.PAUSED)) == ["Read pictures"]
    assert shown(bridge, tray, WaitingPictures(9000, 30000.0, PictureHold.ASKED)) == [
        "Read pictures"
    ]
    assert "9,000 pictures not read yet" in tray.tooltip
