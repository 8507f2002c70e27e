"""The dialog for web links."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPlainTextEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import WebLinks
from desktop_rag.features.web_pages.ui.link_actions import links_in_window
from desktop_rag.features.web_pages.ui.links_dialog import LinksDialog
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.library_page import LibraryPage
from desktop_rag.ui.library.source_list import FolderCard
from desktop_rag.ui.widgets.controls import TextButton
from tests.unit.ui.rooms import button, field, texts


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def says(dialog: QWidget, text: str) -> bool:
    return any(text in shown for shown in texts(dialog))


def no_change() -> None:
    """What is told after a change, where no test asks for it."""


def test_links_are_submitted_with_limit_and_schedule(parent: QWidget, qtbot: QtBot) -> None:
    dialog = LinksDialog([], parent)
    dialog.open()
    agree = button(dialog, "Add links")
    assert not agree.isEnabled()
    field(dialog, QPlainTextEdit, "Addresses").setPlainText("https://a.example/ b.example\n")
    field(dialog, QSpinBox, "Maximum number of pages").setValue(7)
    field(dialog, QComboBox, "Update").setCurrentText("Manually")
    with qtbot.waitSignal(dialog.submitted) as told:
        agree.click()
    assert told.args == ["", WebLinks(("https://a.example/", "b.example"), 7, 0.0), False]


def test_following_links_is_submitted_with_its_limits(parent: QWidget, qtbot: QtBot) -> None:
    dialog = LinksDialog([], parent)
    dialog.open()
    field(dialog, QPlainTextEdit, "Addresses").setPlainText("a.example/guide/")
    path = field(dialog, QLineEdit, "Only below this path")
    assert not path.isVisible()
    [follows] = [b for b in dialog.findChildren(QCheckBox) if b.text() == "Follow links"]
    follows.setChecked(True)
    assert path.isVisible()
    path.setText(" /guide/ ")
    field(dialog, QSpinBox, "Steps from the address").setValue(2)
    with qtbot.waitSignal(dialog.submitted) as told:
        button(dialog, "Add links").click()
    assert told.args
    assert told.args[1] == WebLinks(
        ("a.example/guide/",), refresh_hours=24.0, follow_depth=2, path_limit="/guide/"
    )


@pytest.mark.slow
def test_the_options_of_links_are_changed_and_show_what_was_refused(
    bridge: Bridge, library: Library, parent: QWidget, qtbot: QtBot
) -> None:
    links = WebLinks(("http://127.0.0.1/wiki",), 7, 12.0, 4, "/wiki/")
    source = library.sources.add_links(links)
    links_in_window(bridge, library).edit(parent, source, no_change)
    dialog = parent.findChild(LinksDialog)
    assert isinstance(dialog, LinksDialog)
    assert field(dialog, QSpinBox, "Steps from the address").value() == 4
    assert field(dialog, QComboBox, "Update").currentText() == "Every 12 hours"
    refused = field(dialog, QPlainTextEdit, "Addresses that were not read")
    library.start(watch=False)
    qtbot.waitUntil(lambda: "not on the public internet" in refused.toPlainText())
    qtbot.waitUntil(lambda: says(dialog, "0 pages read"))
    assert not button(dialog, "Stop").isVisible()
    field(dialog, QSpinBox, "Maximum number of pages").setValue(9)
    button(dialog, "Save").click()
    qtbot.waitUntil(lambda: library.sources.all()[0].links == replace(links, page_limit=9))
    qtbot.waitUntil(lambda: not parent.findChildren(LinksDialog))
    library.close()


def test_an_invalid_address_is_shown_in_the_dialog_and_nothing_typed_is_lost(
    bridge: Bridge, library: Library, parent: QWidget, qtbot: QtBot
) -> None:
    links_in_window(bridge, library).add(parent, [], no_change)
    dialog = parent.findChild(LinksDialog)
    assert isinstance(dialog, LinksDialog)
    addresses = field(dialog, QPlainTextEdit, "Addresses")
    addresses.setPlainText("ftp://a.example/")
    button(dialog, "Add links").click()
    qtbot.waitUntil(lambda: says(dialog, "can't be fetched"))
    assert addresses.toPlainText() == "ftp://a.example/"
    assert button(dialog, "Add links").isEnabled()
    assert library.sources.all() == []


@pytest.mark.slow
def test_an_address_that_cannot_be_fetched_is_told_before_it_is_added(
    bridge: Bridge, library: Library, parent: QWidget, qtbot: QtBot
) -> None:
    links_in_window(bridge, library).add(parent, [], no_change)
    dialog = parent.findChild(LinksDialog)
    assert isinstance(dialog, LinksDialog)
    addresses = field(dialog, QPlainTextEdit, "Addresses")
    addresses.setPlainText("http://127.0.0.1/wiki")
    button(dialog, "Add links").click()
    qtbot.waitUntil(lambda: says(dialog, "This address can't be fetched now."), timeout=20_000)
    assert library.sources.all() == []
    addresses.setPlainText("http://127.0.0.1/wiki ")
    assert button(dialog, "Add links").isEnabled()
    button(dialog, "Add links").click()
    qtbot.waitUntil(lambda: says(dialog, "This address can't be fetched now."), timeout=20_000)
    button(dialog, "Add anyway").click()
    qtbot.waitUntil(lambda: bool(library.sources.all()), timeout=20_000)
    assert [s.links.urls for s in library.sources.all() if s.links] == [("http://127.0.0.1/wiki",)]


def test_the_library_offers_to_add_links_and_opens_the_options_of_known_ones(
    bridge: Bridge, library: Library, theme: Theme, qtbot: QtBot
) -> None:
    source = library.sources.add_links(WebLinks(("https://a.example/",)))
    kind = partial(links_in_window, bridge, library)
    page = LibraryPage(bridge, library, theme, ["PDF"], more_kinds=[kind])
    qtbot.addWidget(page)
    page.load()
    qtbot.waitUntil(lambda: len(page.findChildren(FolderCard)) == 1)
    button(page.header, "Add web links…").click()
    assert page.findChild(LinksDialog)
    [card] = page.findChildren(FolderCard)
    [options] = [b for b in card.findChildren(TextButton) if b.text() == "Options…"]
    options.click()
    titles = [dialog.windowTitle() for dialog in page.findChildren(LinksDialog)]
    assert titles == ["Add web links", f"Options for {source.name}"]
