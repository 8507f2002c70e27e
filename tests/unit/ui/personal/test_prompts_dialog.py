"""Prompts are written, renamed, deleted and restored, each as a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit, QListWidget, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import SavedPrompt
from desktop_rag.ui.composer.field_completion import SlashPrompts
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.personal.prompt_actions import PromptActions, PromptsDialog
from tests.unit.ui.rooms import Desktop, button, field, listening_desktop, make_chat, opened_store
from tests.unit.ui.rooms import texts as texts_of


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with opened_store(tmp_path / "home") as database:
        yield make_chat(database, None)


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    with listening_desktop() as desktop:
        yield desktop


@pytest.fixture
def dialog(
    chat: Chat, bridge: Bridge, theme: Theme, desktop: Desktop, qtbot: QtBot
) -> Iterator[PromptsDialog]:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    actions = PromptActions(bridge, chat, SlashPrompts(QPlainTextEdit(window)), window)
    actions.manage()
    dialog = window.findChildren(PromptsDialog)[0]
    qtbot.waitUntil(lambda: len(names(dialog)) == 5)
    yield dialog
    assert dialog.parent() is window


def names(dialog: PromptsDialog) -> list[str]:
    rows = field(dialog, QListWidget, "Prompts")
    return [rows.item(row).text() for row in range(rows.count())]


def write(dialog: PromptsDialog, name: str, text: str) -> None:
    field(dialog, QLineEdit, "Name").setText(name)
    field(dialog, QPlainTextEdit, "Prompt").setPlainText(text)


def kept(chat: Chat) -> dict[str, str]:
    return {prompt.name: prompt.text for prompt in chat.prompts.all()}


@pytest.mark.everyday
def test_a_new_prompt_is_written(dialog: PromptsDialog, chat: Chat, qtbot: QtBot) -> None:
    assert not button(dialog, "Save").isEnabled()
    button(dialog, "New prompt").click()
    assert button(dialog, "Delete").isHidden()
    write(dialog, "Who is Who", "Who is {{name}}?")
    button(dialog, "Save").click()
    qtbot.waitUntil(lambda: "/who-is-who" in names(dialog))
    assert kept(chat)["who-is-who"] == "Who is {{name}}?"
    assert field(dialog, QLineEdit, "Name").text() == "who-is-who"
    assert not button(dialog, "Save").isEnabled()


@pytest.mark.slow
def test_a_prompt_is_renamed_and_edited(dialog: PromptsDialog, chat: Chat, qtbot: QtBot) -> None:
    assert field(dialog, QLineEdit, "Name").text() == names(dialog)[0].removeprefix("/")
    write(dialog, "other", "Other text.")
    button(dialog, "Save").click()
    qtbot.waitUntil(lambda: "/other" in names(dialog))
    assert len(kept(chat)) == 5
    assert kept(chat)["other"] == "Other text."


@pytest.mark.everyday
def test_errors_are_shown_and_nothing_is_lost(
    dialog: PromptsDialog, chat: Chat, qtbot: QtBot
) -> None:
    button(dialog, "New prompt").click()
    write(dialog, "explain", "Mine.")
    button(dialog, "Save").click()
    qtbot.waitUntil(
        lambda: any("There is a prompt /explain already." in t for t in texts_of(dialog))
    )
    assert field(dialog, QPlainTextEdit, "Prompt").toPlainText() == "Mine."
    assert kept(chat)["explain"] != "Mine."


@pytest.mark.slow
def test_a_prompt_is_deleted_and_restored(dialog: PromptsDialog, chat: Chat, qtbot: QtBot) -> None:
    before, first = kept(chat), names(dialog)[0]
    button(dialog, "Delete").click()
    qtbot.waitUntil(lambda: first not in names(dialog))
    assert f"Deleted {first}." in texts_of(dialog)
    assert len(kept(chat)) == 4
    button(dialog, "Undo").click()
    qtbot.waitUntil(lambda: first in names(dialog))
    assert kept(chat) == before
    assert button(dialog, "Undo").isHidden()


@pytest.mark.slow
def test_built_in_prompts_are_restored(dialog: PromptsDialog, chat: Chat, qtbot: QtBot) -> None:
    before = kept(chat)
    for left in (4, 3):
        button(dialog, "Delete").click()
        qtbot.waitUntil(lambda left=left: len(names(dialog)) == left)
    button(dialog, "Restore built-in prompts").click()
    qtbot.waitUntil(lambda: len(names(dialog)) == 5)
    assert kept(chat) == before


@pytest.mark.slow
def test_the_folder_is_opened(
    dialog: PromptsDialog, chat: Chat, desktop: Desktop, qtbot: QtBot
) -> None:
    button(dialog, "Open folder").click()
    qtbot.waitUntil(lambda: desktop.opened == [str(chat.prompts.folder)])


@pytest.mark.slow
def test_hostile_names_are_shown_literally(theme: Theme, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = PromptsDialog(window)
    dialog.show_prompts([SavedPrompt("<b>\u202ex", "<img src='x'>")], "")
    assert names(dialog) == ["/<b>\N{WHITE SQUARE}x"]
    assert field(dialog, QPlainTextEdit, "Prompt").toPlainText() == "<img src='x'>"
