"""The part for a shared library, with a real server: test, connect, disconnect, in plain words."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot

from desktop_rag.core.settings import Settings
from desktop_rag.core.store_settings import SharedLibrarySettings
from desktop_rag.features.shared_library.services import (
    SERVICE,
    SharedLibraryAccess,
    check_shared_library,
)
from desktop_rag.features.shared_library.ui.shared_library_page import SharedLibrarySection
from desktop_rag.models.system_keyring import KeptSecrets
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.settings.edited_settings import EditedSettings
from tests.engines import UNTESTED
from tests.keyrings import MemoryKeyring
from tests.unit.store.postgres.team_library import PASSWORD, shared_library
from tests.unit.ui.rooms import button, field, texts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", "")),
]


@pytest.fixture
def keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def section(
    theme: Theme, bridge: Bridge, qtbot: QtBot, keyring: MemoryKeyring
) -> Iterator[SharedLibrarySection]:
    access = SharedLibraryAccess(check_shared_library, KeptSecrets(SERVICE, lambda: keyring))
    section = SharedLibrarySection(bridge, EditedSettings(Settings()), access)
    qtbot.addWidget(section)
    section.resize(800, 700)
    section.show()
    yield section
    bridge.close()


def enter(section: SharedLibrarySection, shared: SharedLibrarySettings, password: str) -> None:
    values = {
        "Address": shared.host,
        "Database": shared.database,
        "Library": shared.library,
        "Role": shared.role,
        "Password": password,
    }
    for name, value in values.items():
        field(section, QLineEdit, name).setText(value)
    field(section, QComboBox, "Encryption").setCurrentText("No encryption")


def waits_for(qtbot: QtBot, section: SharedLibrarySection, words: str) -> None:
    qtbot.waitUntil(lambda: words in "\n".join(texts(section)), timeout=20_000)


def test_connecting_keeps_the_password_in_the_keyring_and_nowhere_else(
    section: SharedLibrarySection, qtbot: QtBot, keyring: MemoryKeyring, tmp_path: Path
) -> None:
    shared = shared_library(tmp_path).settings
    assert not button(section, "Connect").isEnabled(), "nothing to connect with yet"
    enter(section, shared, "wrong")
    button(section, "Connect").click()
    waits_for(qtbot, section, "The role or the password is wrong.")
    assert not section.stored.is_set
    assert not keyring.entries

    enter(section, shared, PASSWORD)
    button(section, "Connect").click()
    waits_for(qtbot, section, "All is well.")
    waits_for(qtbot, section, "A password is saved for this address and role.")
    waits_for(qtbot, section, "Collections: Team")
    assert section.stored == shared
    assert PASSWORD not in repr(section.stored)
    assert list(keyring.entries.values()) == [PASSWORD]
    assert not field(section, QLineEdit, "Password").text()

    # The kept password serves from now on.
    button(section, "Test").click()
    waits_for(qtbot, section, "All is well.")

    button(section, "Disconnect").click()
    waits_for(qtbot, section, "Disconnected. The password was deleted.")
    qtbot.waitUntil(lambda: not keyring.entries)
    assert section.stored == SharedLibrarySettings()


def test_an_address_where_nothing_runs(section: SharedLibrarySection, qtbot: QtBot) -> None:
    enter(section, SharedLibrarySettings("127.0.0.1", 1, "any", "me"), "any")
    field_of_library = field(section, QLineEdit, "Library")
    field_of_library.setText("any")
    field(section, QSpinBox, "Port").setValue(1)
    button(section, "Test").click()
    waits_for(qtbot, section, "The server can't be reached.")
    assert button(section, "Test").isEnabled(), "it can be tried again"
