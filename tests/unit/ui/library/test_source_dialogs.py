"""The dialogs for folders, links and collections."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QRadioButton,
    QTreeWidgetItem,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import WHOLE_FOLDER, SourceRules
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.library.dialogs.collections_dialog import CollectionsDialog
from desktop_rag.ui.library.dialogs.folder_dialog import FolderDialog, RulesForm, SubfolderTree
from desktop_rag.ui.library.source_actions import SourceActions
from tests.unit.ui.rooms import button, field, texts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "lamp.md").write_text("The lamp.")
    (made / "build.log").write_text("noise")
    (made / "film.mp4").write_bytes(b"\x00")
    (made / ".secret.md").write_text("hidden")
    return made


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def says(dialog: QWidget, text: str) -> bool:
    return any(text in shown for shown in texts(dialog))


@pytest.fixture
def folder_dialog(
    bridge: Bridge, library: Library, folder: Path, parent: QWidget, qtbot: QtBot
) -> FolderDialog:
    dialog = FolderDialog(bridge, library, folder, library.collections.all(), None, parent)
    dialog.open()
    qtbot.waitUntil(lambda: says(dialog, "2 files to index"))
    return dialog


def test_the_preview_shows_included_and_excluded_files(folder_dialog: FolderDialog) -> None:
    assert says(folder_dialog, "1 .log, 1 .md")
    assert says(folder_dialog, "1 × not supported: .mp4\n    film.mp4")
    assert says(folder_dialog, ".secret.md")


def test_a_pattern_changes_the_preview_and_the_rules(
    bridge: Bridge, library: Library, folder: Path, parent: QWidget, qtbot: QtBot
) -> None:
    source = library.sources.add(folder)
    dialog = FolderDialog(bridge, library, folder, library.collections.all(), source, parent)
    dialog.open()
    field(dialog, QPlainTextEdit, "Patterns to exclude").setPlainText("*.log\n\n")
    qtbot.waitUntil(lambda: says(dialog, "1 file to index"))
    with qtbot.waitSignal(dialog.submitted) as told:
        button(dialog, "Save").click()
    assert told.args is not None
    assert told.args[1:] == [SourceRules(excluded=("*.log",)), ""]


def row(dialog: FolderDialog, name: str) -> QTreeWidgetItem:
    [tree] = dialog.findChildren(SubfolderTree)
    return tree.findItems(name, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)[0]


def test_any_subfolder_is_left_out_by_its_tick(
    bridge: Bridge, library: Library, folder: Path, parent: QWidget, qtbot: QtBot
) -> None:
    for name in ("old [1]/drafts", "old [1]/final", "new"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.md").write_text("A lamp.")
    dialog = FolderDialog(bridge, library, folder, library.collections.all(), None, parent)
    dialog.open()
    qtbot.waitUntil(lambda: says(dialog, "5 files to index"))
    [tree] = dialog.findChildren(SubfolderTree)
    tree.expandItem(row(dialog, "old [1]"))
    qtbot.waitUntil(lambda: row(dialog, "old [1]").childCount() == 2)
    row(dialog, "drafts").setCheckState(0, Qt.CheckState.Unchecked)
    qtbot.waitUntil(lambda: says(dialog, "4 files to index"))
    row(dialog, "old [1]").setCheckState(0, Qt.CheckState.Unchecked)
    qtbot.waitUntil(lambda: says(dialog, "3 files to index"))
    assert row(dialog, "final").isDisabled()
    row(dialog, "old [1]").setCheckState(0, Qt.CheckState.Checked)
    qtbot.waitUntil(lambda: says(dialog, "4 files to index"))
    assert row(dialog, "drafts").checkState(0) is Qt.CheckState.Unchecked
    with qtbot.waitSignal(dialog.submitted) as told:
        button(dialog, "Add folder").click()
    assert told.args is not None
    assert told.args[1] == SourceRules(excluded=("/old \\[1\\]/drafts/",))


def test_a_new_folder_is_asked_for_little(folder_dialog: FolderDialog, qtbot: QtBot) -> None:
    asked = [line.accessibleName() for line in folder_dialog.findChildren(QLineEdit)]
    assert "Address of the site" not in asked
    assert not says(folder_dialog, "One pattern per line, as in a .gitignore file.")
    [gitignore] = [b for b in folder_dialog.findChildren(QCheckBox) if "gitignore" in b.text()]
    gitignore.setChecked(True)
    field(folder_dialog, QComboBox, "Collection").setCurrentText("Work")
    with qtbot.waitSignal(folder_dialog.submitted) as told:
        button(folder_dialog, "Add folder").click()
    assert told.args == ["Work", SourceRules(uses_gitignore=True), ""]
    assert not folder_dialog.isVisible()


def test_cancelling_submits_nothing(folder_dialog: FolderDialog, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(folder_dialog.submitted):
        button(folder_dialog, "Cancel").click()


def test_a_missing_folder_is_an_error(
    bridge: Bridge, library: Library, parent: QWidget, tmp_path: Path, qtbot: QtBot
) -> None:
    dialog = FolderDialog(bridge, library, tmp_path / "gone", [], None, parent)
    dialog.open()
    qtbot.waitUntil(lambda: says(dialog, "gone cannot be reached."))


@pytest.mark.needs_wings("web_pages")
def test_the_site_that_a_folder_mirrors_is_set_and_a_wrong_address_is_told(
    bridge: Bridge, library: Library, parent: QWidget, folder: Path, qtbot: QtBot
) -> None:
    source = library.sources.add(folder)
    actions = SourceActions(bridge, library, parent)
    for typed, expected in (("docs.example/en", "https://docs.example/en"), ("", "")):
        actions.edit(library.sources.all()[0])
        dialog = parent.findChildren(FolderDialog)[-1]
        field(dialog, QLineEdit, "Address of the site").setText(typed)
        with qtbot.waitSignal(actions.changed):
            button(dialog, "Save").click()
        assert library.sources.all()[0].base_address == expected
        qtbot.waitUntil(lambda: not parent.findChildren(FolderDialog))
    with pytest.raises(AppError):
        library.sources.set_base_address(source.source_id, "file:///etc")


def test_the_encoding_of_a_folder_is_chosen_and_found_by_itself_again(
    bridge: Bridge, library: Library, parent: QWidget, folder: Path, qtbot: QtBot
) -> None:
    library.sources.add(folder)
    actions = SourceActions(bridge, library, parent)
    for shown, expected in (
        ("Central European: DOS 852", {WHOLE_FOLDER: "cp852"}),
        ("Found by itself", {}),
    ):
        actions.edit(library.sources.all()[0])
        dialog = parent.findChildren(FolderDialog)[-1]
        field(dialog, QComboBox, "Text encoding").setCurrentText(shown)
        with qtbot.waitSignal(actions.changed):
            button(dialog, "Save").click()
        assert library.sources.all()[0].rules.encodings == expected
        qtbot.waitUntil(lambda: not parent.findChildren(FolderDialog))


@pytest.fixture
def arrange(library: Library, parent: QWidget) -> Callable[[], CollectionsDialog]:
    library.collections.add("Work")
    library.collections.add("Home")

    def make() -> CollectionsDialog:
        dialog = CollectionsDialog(library.collections.all(), library.sources.all(), parent)
        dialog.open()
        return dialog

    return make


def test_a_collection_gets_a_name_and_a_chunk_method(
    arrange: Callable[[], CollectionsDialog], qtbot: QtBot
) -> None:
    dialog = arrange()
    field(dialog, QComboBox, "Collection").setCurrentIndex(1)
    name = field(dialog, QLineEdit, "Name of the collection")
    assert name.text() == "Home"
    name.setText("House")
    [words] = [b for b in dialog.findChildren(QRadioButton) if "1,000" in b.text()]
    words.setChecked(True)
    with qtbot.waitSignal(dialog.saved) as told:
        button(dialog, "Save").click()
    assert told.args
    collection, members = told.args
    assert (collection.name, collection.chunking) == ("House", ChunkSettings("words"))
    assert members == frozenset()


def test_members_are_chosen_and_a_collection_is_made(
    library: Library, parent: QWidget, tmp_path: Path, qtbot: QtBot
) -> None:
    source = library.sources.add(tmp_path, library.collections.add("Work").collection_id)
    dialog = CollectionsDialog(library.collections.all(), library.sources.all(), parent)
    dialog.open()
    members = field(dialog, QListWidget, "Members")
    assert members.item(0).checkState() is Qt.CheckState.Checked
    assert not members.item(0).flags() & Qt.ItemFlag.ItemIsEnabled, "the only one keeps it"
    button(dialog, "New collection").click()
    field(dialog, QLineEdit, "Name of the collection").setText("Home")
    assert members.item(0).text() == f"{tmp_path.name} — in Work"
    assert not button(dialog, "Remove…").isVisible()
    members.item(0).setCheckState(Qt.CheckState.Checked)
    with qtbot.waitSignal(dialog.saved) as told:
        button(dialog, "Save").click()
    assert told.args
    collection, chosen = told.args
    assert (collection.collection_id, collection.name) == ("", "Home")
    assert chosen == {source.source_id}


def test_a_collection_gets_a_model_of_its_own(
    bridge: Bridge, library: Library, parent: QWidget, qtbot: QtBot
) -> None:
    library.collections.add("Work")
    choice = SourceActions(bridge, library, parent)
    choice.set_places([], library.collections.all())
    choice.edit_collections()
    dialog = parent.findChild(CollectionsDialog)
    assert isinstance(dialog, CollectionsDialog)
    field(dialog, QLineEdit, "Embedding model").setText(" http://127.0.0.1:9/v1#tiny ")
    assert says(dialog, "embedded again in the background")
    with qtbot.waitSignal(choice.changed):
        button(dialog, "Save").click()
    [collection] = library.collections.all()
    assert collection.embedder == "http://127.0.0.1:9/v1#tiny"


def test_a_folder_is_chosen_for_the_model(
    arrange: Callable[[], CollectionsDialog], tmp_path: Path, qtbot: QtBot
) -> None:
    dialog = arrange()
    button(dialog, "Browse…").click()
    [chooser] = dialog.findChildren(QFileDialog)
    chooser.fileSelected.emit(str(tmp_path))
    chooser.reject()
    assert field(dialog, QLineEdit, "Embedding model").text() == str(tmp_path)


def test_a_collection_is_removed_after_confirmation(
    arrange: Callable[[], CollectionsDialog], library: Library, qtbot: QtBot
) -> None:
    dialog = arrange()
    button(dialog, "Remove…").click()
    with qtbot.assertNotEmitted(dialog.removed):
        button(dialog, "Keep").click()
    button(dialog, "Remove…").click()
    with qtbot.waitSignal(dialog.removed) as told:
        button(dialog, "Remove").click()
    assert told.args == [library.collections.all()[0].collection_id]


def test_the_options_keep_what_they_do_not_show(parent: QWidget, qtbot: QtBot) -> None:
    rules = SourceRules(excluded=("*.log",), excluded_files=("a.md", "b/c.md"), max_file_mb=5)
    form = RulesForm(rules, parent)
    assert form.rules == rules
    with qtbot.waitSignal(form.changed):
        button(form, "Include hidden files and folders").click()
    assert form.rules == replace(rules, includes_hidden=True)
