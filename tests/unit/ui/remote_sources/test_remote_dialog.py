"""The dialog for places on servers asks for what their kind declares."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListWidget, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.library_events import FolderPreview
from desktop_rag.features.remote_sources.remote import RemoteKind
from desktop_rag.features.remote_sources.ui.remote_dialog import RemoteDialog
from desktop_rag.features.remote_sources.webdav import WEBDAV
from tests.unit.ui.rooms import button, field

FOUND = FolderPreview(3, 100, {"txt": 3}, (), folders=("Birds", "Boats"))
SHELF = RemoteKind(
    "shelf", "Shelf", lambda links: links, WEBDAV.open, address="http://localhost:7/",
    folders="Shelves",
)  # fmt: skip


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def names(dialog: RemoteDialog) -> list[str]:
    return [each.accessibleName() for each in dialog.findChildren(QLineEdit) if each.isVisible()]


def test_what_needs_nothing_to_be_entered_is_looked_at_at_once(
    parent: QWidget, qtbot: QtBot
) -> None:
    dialog = RemoteDialog(SHELF, 100, [], parent)
    dialog.open()
    assert "User" not in names(dialog)
    with qtbot.waitSignal(dialog.look_requested) as asked:
        dialog.begin()
    assert asked.args == [WebLinks(("http://localhost:7/",), 100, 24.0, remote="shelf"), ""]
    dialog.show_preview(FOUND, dialog.links)
    with qtbot.waitSignal(dialog.submitted) as told:
        button(dialog, "Add").click()
    assert told.args == ["", dialog.links, ""]


def test_a_place_is_looked_at_once_all_is_entered(parent: QWidget, qtbot: QtBot) -> None:
    dialog = RemoteDialog(WEBDAV, 100, [], parent)
    dialog.open()
    field(dialog, QLineEdit, "Address").setText("https://cloud.example/")
    field(dialog, QLineEdit, "User").setText("ann")
    secret = field(dialog, QLineEdit, "App password")
    secret.setText("secret")
    with qtbot.waitSignal(dialog.look_requested) as asked:
        QTest.keyClick(secret, Qt.Key.Key_Return)
    assert asked.args is not None
    assert asked.args[1] == "secret"


def test_ticked_folders_are_asked_for_and_an_earlier_result_is_not_shown(
    parent: QWidget, qtbot: QtBot
) -> None:
    dialog = RemoteDialog(SHELF, 100, [], parent)
    dialog.open()
    dialog.show_preview(FOUND, dialog.links)
    choice = field(dialog, QListWidget, "Shelves")
    before = dialog.links
    with qtbot.waitSignal(dialog.look_requested):
        choice.item(1).setCheckState(Qt.CheckState.Checked)
    assert dialog.links == replace(before, chosen=("Boats",))
    dialog.show_preview(FOUND, before)
    assert not button(dialog, "Add").isEnabled()
    dialog.show_preview(replace(FOUND, files=1), dialog.links)
    assert button(dialog, "Add").isEnabled()
    assert choice.count() == 2, "the others may still be ticked"


def test_a_day_is_asked_for_where_the_kind_has_one(parent: QWidget) -> None:
    dialog = RemoteDialog(replace(SHELF, takes_since=True), 100, [], parent)
    dialog.open()
    assert dialog.links.since == ""
    button(dialog, "Only since").click()
    assert len(dialog.links.since) == len("2024-05-31")
