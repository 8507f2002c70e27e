"""The bar of pictures: says what waits, and offers what can be done."""

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from desktop_rag.core.library_events import IndexProgress
from desktop_rag.core.pictures import PictureHold, WaitingPictures
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.library_page import PicturesBar
from tests.unit.ui.rooms import texts


@pytest.fixture
def bar(qtbot: QtBot, theme: Theme) -> PicturesBar:
    bar = PicturesBar()
    qtbot.addWidget(bar)
    return bar


def shown(bar: PicturesBar, hold: PictureHold, count: int = 2400) -> list[str]:
    """The words of its buttons in this state."""
    waiting = WaitingPictures(count, count * 3.0, hold)
    bar.show_progress(IndexProgress(pictures=waiting))
    bar.setVisible(True)
    return [b.text() for b in bar.findChildren(QPushButton) if not b.isHidden()]


def test_it_is_gone_while_no_picture_waits(bar: PicturesBar) -> None:
    bar.show_progress(IndexProgress())
    assert bar.isHidden()


@pytest.mark.parametrize(
    ("hold", "buttons", "words"),
    [
        (
            PictureHold.ASKED,
            ["Read", "Not now"],
            "Read 2,400 pictures and scanned pages? That takes about 2 h.",
        ),
        (PictureHold.LATER, ["Read"], "2,400 pictures not read yet, about 2 h"),
        (PictureHold.PAUSED, ["Resume pictures"], "2,400 pictures not read yet, about 2 h: paused"),
        (
            PictureHold.NONE,
            ["Pause pictures"],
            "Pictures and scanned pages are read last: 2,400 pictures, about 2 h",
        ),
    ],
)
def test_it_offers_what_fits(
    bar: PicturesBar, hold: PictureHold, buttons: list[str], words: str
) -> None:
    assert shown(bar, hold) == buttons
    assert texts(bar)[0] == words


def test_each_button_tells(bar: PicturesBar, qtbot: QtBot) -> None:
    for hold, name, signal in (
        (PictureHold.ASKED, "Read", bar.read_requested),
        (PictureHold.ASKED, "Not now", bar.later_requested),
        (PictureHold.PAUSED, "Resume pictures", bar.resume_requested),
        (PictureHold.NONE, "Pause pictures", bar.pause_requested),
    ):
        shown(bar, hold)
        button = next(b for b in bar.findChildren(QPushButton) if b.text() == name)
        with qtbot.waitSignal(signal):
            button.click()
