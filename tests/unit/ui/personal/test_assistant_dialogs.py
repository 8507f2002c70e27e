"""The dialogs for creating, editing, copying, deleting and restoring assistants."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QRadioButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import (
    EndpointSettings,
    LaterSources,
    RetrievalSettings,
    Room,
    Settings,
)
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.personal.assistant_actions import AssistantActions, AssistantsDialog
from desktop_rag.ui.personal.assistant_dialog import AssistantDialog
from desktop_rag.ui.widgets.controls import TextButton
from tests.unit.ui.rooms import button, field, make_chat, make_library, opened_store, texts

SEA, LAND = Collection("s", "Sea"), Collection("l", "Land & <b>air</b>")
HERE = EndpointSettings("http://localhost:1/v1", "big")
THERE = EndpointSettings("http://localhost:2/v1", "")
SETTINGS = Settings(endpoint=HERE, other_endpoints=(THERE,))
OFFERS = {HERE.base_url: ("big", "small"), THERE.base_url: ("tiny",)}
FULL = Assistant(
    "f", "Keeper", "Be brief.", THERE.base_url, "tiny", ("l",), "type:pdf",
    RetrievalSettings(Room.FAST, 0.25, LaterSources.BOTH), is_open=True, uses_memory=False,
    rails="grounding",
)  # fmt: skip


@pytest.fixture
def services(tmp_path: Path) -> Iterator[tuple[Library, Chat]]:
    with opened_store(tmp_path / "home") as database:
        library, chat = make_library(database, tmp_path / "home"), make_chat(database, None)
        library.start(watch=False)
        yield library, chat
        library.close()
        chat.close()


@pytest.fixture
def library(services: tuple[Library, Chat]) -> Library:
    return services[0]


@pytest.fixture
def chat(services: tuple[Library, Chat]) -> Chat:
    return services[1]


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def actions(
    theme: Theme, bridge: Bridge, library: Library, chat: Chat, window: QWidget
) -> AssistantActions:
    made = AssistantActions(bridge, library, chat, theme, window)
    made.choice.setParent(window)
    made.set_collections([SEA, LAND])
    made.apply(SETTINGS)
    return made


@pytest.fixture
def listing(
    actions: AssistantActions, chat: Chat, window: QWidget, qtbot: QtBot
) -> AssistantsDialog:
    """The dialog with two assistants."""
    for name in ("Cook", "Keeper"):
        chat.assistants.add(Assistant("", name, filters="type:pdf"))
    actions.refresh()
    actions.show_all()
    [dialog] = window.findChildren(AssistantsDialog)
    qtbot.waitUntil(lambda: names(dialog) == ["Cook", "Keeper"])
    return dialog


def form(assistant: Assistant, window: QWidget) -> AssistantDialog:
    return AssistantDialog(assistant, SETTINGS, OFFERS, [SEA, LAND], window)


def says(dialog: AssistantsDialog, words: str) -> bool:
    return any(text.startswith(words) for text in texts(dialog))


def names(dialog: AssistantsDialog) -> list[str]:
    shown = [b for b in dialog.findChildren(TextButton) if b.isVisibleTo(dialog)]
    return [b.accessibleName().removeprefix("Edit ") for b in shown if b.text() == "Edit…"]


def open_form(window: QWidget, qtbot: QtBot) -> AssistantDialog:
    """The form, once it opens."""
    qtbot.waitUntil(lambda: any(d.isVisible() for d in window.findChildren(AssistantDialog)))
    return next(d for d in window.findChildren(AssistantDialog) if d.isVisible())


# --- the form ------------------------------------------------------------------------------------


@pytest.mark.parametrize("assistant", [FULL, Assistant("p", "Plain")])
def test_untouched_fields_keep_their_values(assistant: Assistant, window: QWidget) -> None:
    assert form(assistant, window).assistant == assistant


def test_every_field_can_be_edited(window: QWidget, qtbot: QtBot) -> None:
    dialog = form(Assistant("", ""), window)
    field(dialog, QLineEdit, "Name").setText("Keeper")
    field(dialog, QPlainTextEdit, "Instructions").setPlainText("Be brief.")
    models = field(dialog, QComboBox, "Model")
    wanted = ["Same as in the chat", "big · localhost:1", "small · localhost:1",
              "tiny · localhost:2"]  # fmt: skip
    assert [models.itemText(row) for row in range(models.count())] == wanted
    models.setCurrentIndex(3)
    boxes = field(dialog, QListWidget, "Collections")
    assert [boxes.item(row).text() for row in range(boxes.count())] == ["Sea", "Land & <b>air</b>"]
    boxes.item(1).setCheckState(Qt.CheckState.Checked)
    field(dialog, QLineEdit, "Filters").setText("type:pdf")
    field(dialog, QRadioButton, "Answers: Also the model's own knowledge").click()
    button(dialog, "Learn from earlier answers").click()
    with qtbot.waitSignal(dialog.submitted) as told:
        button(dialog, "Save").click()
    assert told.args == [replace(FULL, assistant_id="", retrieval=None, rails="")]


def test_it_needs_a_name_and_valid_filters(window: QWidget) -> None:
    dialog = form(Assistant("", ""), window)
    save, filters = button(dialog, "Save"), field(dialog, QLineEdit, "Filters")
    assert not save.isEnabled()
    field(dialog, QLineEdit, "Name").setText("Keeper")
    assert save.isEnabled()
    filters.setText("type:pdf after:2024-05")
    assert "Only PDF files dated 1 May 2024 or later" in texts(dialog)
    filters.setText("invoices")
    assert not save.isEnabled()
    assert filters.property("state") == "wrong"
    assert any("“invoices” is not a filter." in text for text in texts(dialog))
    filters.setText("")
    assert save.isEnabled()
    assert filters.property("state") == ""


def test_missing_models_and_collections_are_kept_until_changed(window: QWidget) -> None:
    gone = replace(FULL, base_url="http://gone:1/v1", collection_ids=("l", "x"))
    dialog = form(gone, window)
    assert field(dialog, QComboBox, "Model").currentText() == "tiny · not available"
    boxes = field(dialog, QListWidget, "Collections")
    assert boxes.item(2).text() == "Removed collection"
    assert dialog.assistant == gone
    boxes.item(2).setCheckState(Qt.CheckState.Unchecked)
    assert dialog.assistant.collection_ids == ("l",)


@pytest.mark.slow
def test_nothing_typed_is_lost_when_saving_fails(
    actions: AssistantActions, chat: Chat, window: QWidget, qtbot: QtBot
) -> None:
    chat.assistants.add(Assistant("", "Keeper"))
    actions.create()
    dialog = open_form(window, qtbot)
    name = field(dialog, QLineEdit, "Name")
    name.setText("keeper")
    button(dialog, "Save").click()
    qtbot.waitUntil(lambda: any("another assistant called" in text for text in texts(dialog)))
    assert dialog.isVisible()
    name.setText("Cook")
    assert not any("another assistant" in text for text in texts(dialog))
    button(dialog, "Save").click()
    qtbot.waitUntil(lambda: actions.choice.text() == "Cook")
    assert not any(d.isVisible() for d in window.findChildren(AssistantDialog))


# --- the list ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_without_assistants_an_introduction_is_shown(
    actions: AssistantActions, window: QWidget, qtbot: QtBot
) -> None:
    actions.show_all()
    [dialog] = window.findChildren(AssistantsDialog)
    assert any(text.startswith("An assistant combines") for text in texts(dialog))
    button(dialog, "New assistant…").click()
    open_form(window, qtbot).reject()


@pytest.mark.slow
def test_an_assistant_is_edited(
    listing: AssistantsDialog, actions: AssistantActions, window: QWidget, qtbot: QtBot
) -> None:
    assert "Same model as the chat · all documents · only PDF files" in texts(listing)
    button(listing, "Edit Keeper").click()
    dialog = open_form(window, qtbot)
    field(dialog, QLineEdit, "Name").setText("Attendant")
    button(dialog, "Save").click()
    qtbot.waitUntil(lambda: names(listing) == ["Attendant", "Cook"])


@pytest.mark.slow
def test_an_assistant_is_duplicated(listing: AssistantsDialog, qtbot: QtBot) -> None:
    button(listing, "Duplicate Cook").click()
    qtbot.waitUntil(lambda: names(listing) == ["Cook", "Cook (copy)", "Keeper"])


@pytest.mark.slow
def test_an_assistant_is_deleted_and_restored(
    listing: AssistantsDialog, actions: AssistantActions, chat: Chat, qtbot: QtBot
) -> None:
    cook = next(each for each in chat.assistants.all() if each.name == "Cook")
    actions.choice.choose(cook.assistant_id)
    assert actions.choice.text() == "Cook"
    button(listing, "Delete Cook").click()
    qtbot.waitUntil(lambda: says(listing, "Deleted “Cook”."))
    qtbot.waitUntil(lambda: names(listing) == ["Keeper"])
    assert actions.choice.text() == "No assistant"
    button(listing, "Undo").click()
    qtbot.waitUntil(lambda: names(listing) == ["Cook", "Keeper"])
    assert actions.choice.text() == "Cook"


@pytest.mark.slow
def test_errors_are_shown_in_the_dialog(listing: AssistantsDialog) -> None:
    listing.show_error(AppError("The disk is full.", "Make room."))
    assert says(listing, "The disk is full.")


@pytest.mark.slow
def test_a_refusal_by_the_chat_is_shown(
    listing: AssistantsDialog, chat: Chat, qtbot: QtBot
) -> None:
    [cook, _] = chat.assistants.all()
    listing.copy_requested.emit(replace(cook, filters="no filter"))
    qtbot.waitUntil(lambda: says(listing, "“no filter” is not a filter."))
