"""The key field: it shows where the key is stored, and the key is nowhere else."""

import logging

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.ui.endpoints.key_field import KeyField
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from tests.keyrings import MemoryKeyring
from tests.unit.ui.rooms import button, make_chat, texts

URL = "http://localhost:11434/v1"
CANARY = "sk-canary-02af5d"


def row_of(field: KeyField, qtbot: QtBot) -> tuple[QWidget, QLineEdit]:
    """The field in a window, laid out as in a row of the settings."""
    window = QWidget()
    column = QVBoxLayout(window)
    for widget in (*field.fields, field):
        column.addWidget(widget)
    qtbot.addWidget(window)
    window.show()
    edit = field.fields[0]
    assert isinstance(edit, QLineEdit)
    return window, edit


def enter(qtbot: QtBot, edit: QLineEdit) -> None:
    qtbot.keyClicks(edit, CANARY)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def test_a_key_is_saved_in_the_keyring(
    store: Database, bridge: Bridge, theme: Theme, qtbot: QtBot
) -> None:
    keyring = MemoryKeyring()
    field = KeyField(bridge, make_chat(store, keyring))
    window, edit = row_of(field, qtbot)
    field.set_address(URL)
    qtbot.waitUntil(lambda: any("No key is saved" in text for text in texts(window)))
    assert edit.echoMode() is QLineEdit.EchoMode.Password
    enter(qtbot, edit)
    qtbot.waitUntil(lambda: texts(window) == ["Saved in this computer's keyring."])
    assert edit.text() == ""
    assert CANARY in keyring.entries.values()
    button(window, "Remove key").click()
    qtbot.waitUntil(lambda: texts(window) == ["The key was removed."])
    assert keyring.entries == {}
    assert not button(window, "Remove key").isEnabled()


def test_without_a_keyring_a_key_is_kept_for_the_session(
    store: Database, bridge: Bridge, theme: Theme, qtbot: QtBot
) -> None:
    chat = make_chat(store, None)
    field = KeyField(bridge, chat)
    window, edit = row_of(field, qtbot)
    field.set_address(URL)
    enter(qtbot, edit)
    qtbot.waitUntil(lambda: any("until you close the app" in text for text in texts(window)))
    assert chat.models.has_key(URL)


def test_each_address_has_its_own_key(
    store: Database, bridge: Bridge, theme: Theme, qtbot: QtBot
) -> None:
    chat = make_chat(store, MemoryKeyring())
    chat.models.save_key(URL, CANARY)
    field = KeyField(bridge, chat)
    window, edit = row_of(field, qtbot)
    field.set_address(URL)
    qtbot.waitUntil(lambda: texts(window) == ["A key is saved for this address."])
    field.set_address("http://localhost:1/v1")
    qtbot.waitUntil(lambda: any("No key is saved" in text for text in texts(window)))
    field.set_address("")
    assert not edit.isEnabled()
    assert any("Enter the address first" in text for text in texts(window))


@pytest.mark.slow
def test_the_key_is_in_no_log_and_no_repr(
    store: Database, bridge: Bridge, theme: Theme, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    field = KeyField(bridge, make_chat(store, MemoryKeyring()))
    window, edit = row_of(field, qtbot)
    field.set_address(URL)
    qtbot.keyClicks(edit, CANARY)
    assert field.typed == CANARY
    assert CANARY not in repr(field) + repr(edit)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: texts(window) == ["Saved in this computer's keyring."])
    assert CANARY not in caplog.text


def test_a_key_typed_early_survives_the_keyring_lookup(
    store: Database, bridge: Bridge, theme: Theme, qtbot: QtBot
) -> None:
    field = KeyField(bridge, make_chat(store, MemoryKeyring()))
    window, edit = row_of(field, qtbot)
    field.set_address(URL)
    qtbot.keyClicks(edit, CANARY)
    qtbot.waitUntil(lambda: any("No key is saved" in text for text in texts(window)))
    assert field.typed == CANARY
