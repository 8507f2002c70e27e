"""Passwords on the library page: asked for, tried, told wrong, forgotten."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QLineEdit, QMenu, QTableView
from pytestqt.qtbot import QtBot

from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import Home
from desktop_rag.ingest.library import Library
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.pipeline import LibraryStores
from desktop_rag.ingest.read.foundation.format_names import is_worth_reading
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.system_keyring import FilePasswords
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import engine_over
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_rows import Column
from desktop_rag.ui.library.library_page import LibraryPage
from desktop_rag.ui.passwords.password_actions import PasswordDialog
from tests.command_line import settled
from tests.conftest import FAST_TIMES
from tests.keyrings import MemoryKeyring
from tests.locked_files import PASSWORD, locked_pdf
from tests.unit.ui.rooms import MEGABYTE, button, field, texts


@pytest.fixture
def ring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def library(
    store: Database, bridge: Bridge, ring: MemoryKeyring, tmp_path: Path
) -> Iterator[Library]:
    engine, home = engine_over(store), Home(tmp_path / "home")
    passwords = FilePasswords(home.password_list, lambda: ring)
    library = Library(
        LibraryStores(
            engine.documents,
            engine.sources,
            engine.storage,
            engine.tags,
            engine.upkeep,
            home.pages,
            home.sent,
        ),
        None,
        AnswerPriority(),
        lambda: ParserProcess(passwords_for=passwords.candidates),
        rules=IgnoreRules(is_worth_reading, 200 * MEGABYTE, home.root),
        times=FAST_TIMES,
        passwords=passwords,
    )
    library.changes.hear(object, bridge.post)
    yield library
    library.close()


@pytest.fixture
def page(
    library: Library, bridge: Bridge, theme: Theme, tmp_path: Path, qtbot: QtBot
) -> LibraryPage:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lease.pdf").write_bytes(locked_pdf("The tenant pays in June."))
    (folder / "deed.pdf").write_bytes(locked_pdf("The notary sealed it."))
    library.start(watch=False)
    library.sources.add(settled(folder))
    page = LibraryPage(bridge, library, theme, ["PDF"])
    page.load()
    qtbot.addWidget(page)
    page.resize(1100, 800)
    page.show()
    qtbot.waitUntil(lambda: states(page) == ["Not read", "Not read"], timeout=20_000)
    return page


def table(page: LibraryPage) -> QTableView:
    return field(page, QTableView, "Files")


def states(page: LibraryPage) -> list[str]:
    model = table(page).model()
    return [model.index(row, Column.STATE).data() for row in range(model.rowCount())]


def asked(page: LibraryPage, qtbot: QtBot) -> PasswordDialog:
    """The dialog for the second file."""
    table(page).selectRow(1)
    button(page, "Enter password…").click()
    dialog = page.findChild(PasswordDialog)
    assert isinstance(dialog, PasswordDialog)
    offer = dialog.findChildren(QCheckBox)[1]
    qtbot.waitUntil(offer.isVisible)
    return dialog


def type_in(dialog: PasswordDialog, password: str) -> None:
    field(dialog, QLineEdit, "Password").setText(password)
    button(dialog, "Open").click()


def menu_of(page: LibraryPage, row: int) -> dict[str, QAction]:
    view = table(page)
    view.customContextMenuRequested.emit(view.visualRect(view.model().index(row, 0)).center())
    menu = view.findChildren(QMenu)[-1]
    return {action.text(): action for action in menu.actions()}


def test_a_wrong_password_is_told_and_the_right_one_opens_the_file(
    page: LibraryPage, ring: MemoryKeyring, qtbot: QtBot
) -> None:
    dialog = asked(page, qtbot)
    assert field(dialog, QLineEdit, "Password").echoMode() is QLineEdit.EchoMode.Password
    assert any("index, which is not encrypted" in text for text in texts(dialog))
    assert not button(dialog, "Open").isEnabled()
    type_in(dialog, "wrong")
    qtbot.waitUntil(
        lambda: any("does not open the file" in text for text in texts(dialog)), timeout=20_000
    )
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        type_in(dialog, PASSWORD)
    qtbot.waitUntil(lambda: states(page) == ["Not read", "Searchable by words"], timeout=20_000)
    assert not button(page, "Enter password…").isVisible()
    assert ring.entries == {}


@pytest.mark.everyday
def test_it_is_kept_for_the_folder_and_forgotten_by_the_menu(
    page: LibraryPage, ring: MemoryKeyring, qtbot: QtBot
) -> None:
    dialog = asked(page, qtbot)
    dialog.findChildren(QCheckBox)[1].setChecked(True)
    button(dialog, "Keep it in this computer's keyring").setChecked(True)
    type_in(dialog, PASSWORD)
    qtbot.waitUntil(lambda: states(page) == ["Searchable by words"] * 2, timeout=20_000)
    assert list(ring.entries.values()) == [PASSWORD]
    actions = menu_of(page, 0)
    assert "Enter password…" not in actions
    actions["Forget password"].trigger()
    qtbot.waitUntil(lambda: states(page) == ["Not read", "Not read"], timeout=20_000)
    assert ring.entries == {}
    assert "Forget password" not in menu_of(page, 0)


def test_without_a_keyring_the_window_says_how_long_it_is_remembered(
    page: LibraryPage,
    ring: MemoryKeyring,
    bridge: Bridge,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: str) -> None:
        raise RuntimeError("locked")

    monkeypatch.setattr(ring, "set_password", refuse)
    dialog = asked(page, qtbot)
    button(dialog, "Keep it in this computer's keyring").setChecked(True)

    heard: list[Notice] = []
    bridge.hear(Notice, heard.append)
    type_in(dialog, PASSWORD)
    qtbot.waitUntil(
        lambda: any("until you close the app" in each.title for each in heard), timeout=20_000
    )


def test_the_password_can_be_shown_while_it_is_typed(page: LibraryPage, qtbot: QtBot) -> None:
    dialog = asked(page, qtbot)
    button(dialog, "Show password").click()
    assert field(dialog, QLineEdit, "Password").echoMode() is QLineEdit.EchoMode.Normal
