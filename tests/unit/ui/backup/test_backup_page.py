"""The page "Backup": what it shows, writes and takes in, over a real library."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.features.backup.backups import Backups
from desktop_rag.features.backup.snapshots import Snapshots
from desktop_rag.features.backup.ui.backup_page import BackupPage, ImportDialog
from desktop_rag.store.opening import open_engine
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from tests.unit.backup.filled_library import Place, fill
from tests.unit.ui.rooms import button, texts

Widget = TypeVar("Widget", bound=QWidget)


def place_in(root: Path) -> Place:
    home = Home(root)
    home.create()
    engine = open_engine(home, Settings())
    return Place(home, engine, Backups(home, engine.precious, engine.sources.collections))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    opened = place_in(tmp_path / "home")
    fill(opened)
    yield opened
    opened.engine.close()


@pytest.fixture
def snapshots(place: Place) -> Snapshots:
    made = Snapshots(place.home, place.backups, place.engine.precious)
    made.make()
    return made


@pytest.fixture
def page(
    theme: Theme, bridge: Bridge, qtbot: QtBot, place: Place, snapshots: Snapshots
) -> Iterator[BackupPage]:
    page = BackupPage(bridge, place.backups, snapshots)
    qtbot.addWidget(page)
    page.resize(900, 900)
    page.show()
    qtbot.waitUntil(lambda: only(page, QComboBox).count() == 2)
    yield page
    bridge.close()


def only(page: BackupPage, kind: type[Widget], name: str = "") -> Widget:
    """The widget of this class and object name."""
    found = page.findChildren(kind, name) if name else page.findChildren(kind)
    assert found
    return found[0]


def is_said(page: BackupPage, words: str) -> bool:
    return any(words in text for text in texts(page))


@pytest.mark.slow
def test_it_lists_snapshots_and_collections(page: BackupPage, snapshots: Snapshots) -> None:
    [snapshot] = snapshots.all()
    year = snapshot.day[:4]
    assert any(text.endswith(year) for text in texts(page))
    assert only(page, QComboBox).itemText(0) == "Sea"


@pytest.mark.slow
def test_everything_is_backed_up(
    page: BackupPage, place: Place, qtbot: QtBot, tmp_path: Path
) -> None:
    button(page, "Back up everything…").click()
    dialog = only(page, QFileDialog, "backupDialog")
    dialog.fileSelected.emit(str(tmp_path / "all"))
    dialog.reject()
    qtbot.waitUntil(lambda: is_said(page, "Backed up to"))
    assert place.backups.examine(tmp_path / "all").counts["conversation"] == 3
    assert button(page, "Back up everything…").isEnabled()


@pytest.mark.slow
def test_a_collection_is_backed_up(
    page: BackupPage, place: Place, qtbot: QtBot, tmp_path: Path
) -> None:
    button(page, "Back up a collection…").click()
    dialog = only(page, QFileDialog, "backupDialog")
    dialog.fileSelected.emit(str(tmp_path / "one"))
    dialog.reject()
    qtbot.waitUntil(lambda: is_said(page, "Backed up to"))
    assert place.backups.examine(tmp_path / "one").collection == "Sea"


@pytest.mark.slow
def test_a_snapshot_is_shown_before_it_comes_back(
    page: BackupPage, place: Place, qtbot: QtBot
) -> None:
    chats = {chat.title for chat in place.engine.conversations.all()}
    for chat in place.engine.conversations.all():
        place.engine.conversations.set_deleted(chat.conversation_id, True)
    place.engine.conversations.purge_deleted()
    [restore] = [b for b in page.findChildren(type(button(page, "Import a backup…")))
                 if b.text().startswith("Restore")]  # fmt: skip
    restore.click()
    qtbot.waitUntil(lambda: page.findChild(ImportDialog) is not None)
    dialog = only(page, ImportDialog)
    said = " ".join(texts(dialog))
    assert "3 chats" in said
    assert "http://localhost:11434/v1" in said
    assert place.engine.conversations.all() == []
    button(dialog, "Import").click()
    qtbot.waitUntil(lambda: is_said(page, "Added or changed: 3 chats"))
    assert {chat.title for chat in place.engine.conversations.all()} == chats


@pytest.mark.slow
def test_a_wrong_file_is_a_notice(
    page: BackupPage, bridge: Bridge, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "x").write_text("no backup", encoding="utf-8")
    button(page, "Import a backup…").click()
    dialog = only(page, QFileDialog, "importBackupDialog")
    errors: list[AppError] = []
    bridge.hear(AppError, errors.append)
    dialog.fileSelected.emit(str(tmp_path / "x"))
    dialog.reject()
    qtbot.waitUntil(lambda: bool(errors))
    assert button(page, "Import a backup…").isEnabled()


@pytest.mark.everyday
def test_cancelling_changes_nothing(page: BackupPage, qtbot: QtBot, tmp_path: Path) -> None:
    page.back_up(tmp_path / "all")
    button(page, "Cancel").click()
    qtbot.waitUntil(lambda: is_said(page, "Cancelled") or is_said(page, "Backed up"))
    if is_said(page, "Cancelled"):
        assert list(tmp_path.glob("all*")) == []
