"""S-04: before a link from an answer opens, the person sees its actual host."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.documents.document_opener import actual_host, confirm_and_open


class Browser(QObject):
    """Replaces the browser and records the addresses to open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open_address(self, url: QUrl) -> None:
        self.opened.append(url.toString())


@pytest.fixture
def browser() -> Iterator[Browser]:
    browser = Browser()
    QDesktopServices.setUrlHandler("https", browser, "open_address")  # pyright: ignore[reportArgumentType]
    yield browser
    QDesktopServices.unsetUrlHandler("https")


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    return window


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("https://example.org/a", "example.org"),
        ("https://example.org@evil.example/a", "evil.example"),
        ("https://\u0435xample.org/", "xn--xample-2of.org"),
        ("mailto:ada@example.org", "ada@example.org"),
    ],
)
def test_the_actual_host(address: str, place: str) -> None:
    assert actual_host(address) == place


def test_it_opens_only_after_confirmation(browser: Browser, window: QWidget, qtbot: QtBot) -> None:
    box = confirm_and_open("https://example.org/a<b>", window)
    assert box is None
    box = confirm_and_open("https://example.org/a", window)
    assert box is not None
    assert box.textFormat() is Qt.TextFormat.PlainText
    assert box.text().startswith("Open example.org?")
    assert browser.opened == []
    with qtbot.waitSignal(box.finished):
        box.button(QMessageBox.StandardButton.Open).click()
    assert browser.opened == ["https://example.org/a"]


def test_cancel_opens_nothing(browser: Browser, window: QWidget, qtbot: QtBot) -> None:
    box = confirm_and_open("https://example.org/" + "a" * 500, window)
    assert box is not None
    assert "a" * 300 not in box.text()
    with qtbot.waitSignal(box.finished):
        box.button(QMessageBox.StandardButton.Cancel).click()
    assert browser.opened == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "javascript:x", "https://", "cite:1"])
def test_disallowed_addresses_are_ignored(window: QWidget, address: str) -> None:
    assert confirm_and_open(address, window) is None
