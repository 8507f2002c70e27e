"""Remembered answers in the window: under an answer, in the dialog, in the settings."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import (
    Feedback,
    Interaction,
    InteractionOutcome,
    Message,
    PastAnswer,
    Role,
)
from desktop_rag.core.settings import AnswerSettings
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.answer_item import AnswerItem
from desktop_rag.ui.messages.message_model import MessageActions, Turn
from desktop_rag.ui.personal.memory_actions import MemoryActions, PastAnswersDialog
from desktop_rag.ui.settings.settings_page import MemoryField, RememberingForm
from desktop_rag.ui.widgets.controls import TextButton
from tests.unit.ui.rooms import button, make_chat, opened_store, texts

HOSTILE = "<b>Bold</b> <img src='x'>\u202egnp\n\nand more"


def interaction(name: str, **fields: object) -> Interaction:
    kept = Interaction(
        name, "c", f"Question {name}?", f"Question {name}?", f"Answer {name}.",
        InteractionOutcome.DONE,
        1.0,
        "test-model",
    )  # fmt: skip
    return replace(kept, **fields)  # type: ignore[arg-type]


def past(name: str) -> PastAnswer:
    return PastAnswer(name, f"Question {name}?")


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with opened_store(tmp_path / "home") as database:
        yield make_chat(database, None)


@pytest.fixture
def dialog(chat: Chat, bridge: Bridge, theme: Theme, qtbot: QtBot) -> PastAnswersDialog:
    """A dialog with three earlier answers, of which the last was deleted before."""
    for name in ("a", "b"):
        chat.memory.put_back(interaction(name))
    field = MemoryField(bridge, chat)
    qtbot.addWidget(field)
    field.show()
    actions = MemoryActions(bridge, chat, field)
    shown = (past("a"), past("b"), past("gone"))
    actions.show_past_answers(Message("m", "c", Role.ASSISTANT, "", 1.0, remembered=shown))
    qtbot.waitUntil(lambda: bool(field.findChildren(PastAnswersDialog)))
    return field.findChildren(PastAnswersDialog)[0]


def test_the_button_is_visible_only_for_answers_with_examples(theme: Theme, qtbot: QtBot) -> None:
    message = Message("m", "c", Role.ASSISTANT, "At dusk.", 1.0)
    actions = MessageActions(theme)
    item = AnswerItem(theme, Turn(message), actions)
    qtbot.addWidget(item)
    item.show()
    buttons = item.findChildren(TextButton)
    assert not any(b.isVisible() for b in buttons if b.text().startswith("Guided by"))
    item.show_turn(Turn(replace(message, remembered=(past("a"),))))
    assert button(item, "Guided by 1 earlier answer").isVisible()
    with qtbot.waitSignal(actions.past_answers_requested):
        button(item, "Guided by 1 earlier answer").click()


@pytest.mark.slow
def test_the_dialog_shows_each_earlier_answer(dialog: PastAnswersDialog) -> None:
    seen = texts(dialog)
    assert "Question a?" in seen
    assert "Answer a." in seen
    assert "1 Jan 1970 · test-model" in seen
    assert seen.count("Deleted") == 1
    assert "Question gone?" in seen


@pytest.mark.slow
def test_an_answer_is_deleted_and_restored(
    dialog: PastAnswersDialog, chat: Chat, qtbot: QtBot
) -> None:
    delete_buttons = [
        b for b in dialog.findChildren(type(button(dialog, "Close"))) if b.text() == "Delete"
    ]
    assert [b.isVisible() for b in delete_buttons] == [True, True, False]
    delete_buttons[0].click()
    assert texts(dialog).count("Deleted") == 2
    qtbot.waitUntil(lambda: chat.memory.recall(["a", "b"]) == [interaction("b")])
    undo = [
        b
        for b in dialog.findChildren(type(delete_buttons[0]))
        if b.text() == "Undo" and b.isVisible()
    ]
    assert len(undo) == 1
    undo[0].click()
    qtbot.waitUntil(lambda: chat.memory.count() == 2)
    assert "Answer a." in texts(dialog)


def test_untrusted_texts_are_shown_literally(theme: Theme, qtbot: QtBot) -> None:
    known = interaction("a", answer=HOSTILE * 50, model=HOSTILE, feedback=Feedback.LIKED)
    dialog = PastAnswersDialog([PastAnswer("a", HOSTILE * 50)], [known], None)  # type: ignore[arg-type]
    qtbot.addWidget(dialog)
    dialog.show()
    seen = texts(dialog)
    assert any(text.startswith("<b>Bold</b> <img src='x'>") for text in seen)
    assert any(text.endswith("rated good") for text in seen)
    assert not any("\u202e" in text for text in seen)
    assert max(map(len, seen)) < 400
    assert dialog.width() <= 700


@pytest.fixture
def field(chat: Chat, bridge: Bridge, theme: Theme, qtbot: QtBot) -> MemoryField:
    field = MemoryField(bridge, chat)
    qtbot.addWidget(field)
    return field


@pytest.mark.slow
def test_everything_is_deleted_after_confirmation(
    field: MemoryField, chat: Chat, qtbot: QtBot
) -> None:
    field.show()
    assert not button(field, "Delete all…").isEnabled()
    field.hide()
    for name in ("a", "b"):
        chat.memory.put_back(interaction(name))
    field.show()
    qtbot.waitUntil(lambda: "2 answers remembered" in texts(field))
    for words, left in (("Cancel", 2), ("Delete all", 0)):
        button(field, "Delete all…").click()
        box = [b for b in field.findChildren(QMessageBox) if b.isVisible()][-1]
        assert box.textFormat() is Qt.TextFormat.PlainText
        assert box.text().startswith("Delete 2 remembered answers?")
        assert box.defaultButton().text().replace("&", "") == "Cancel"
        next(b for b in box.buttons() if b.text().replace("&", "") == words).click()
        qtbot.waitUntil(lambda left=left: f"{left} answers remembered" in texts(field))
        assert chat.memory.count() == left


def test_a_switch_turns_memory_off(theme: Theme, bridge: Bridge, chat: Chat, qtbot: QtBot) -> None:
    form = RememberingForm(bridge, chat)
    qtbot.addWidget(form)
    form.show_value(AnswerSettings())
    with qtbot.waitSignal(form.changed) as told:
        button(form, "Learn from earlier answers").click()
    assert told.args == [AnswerSettings(uses_memory=False)]
