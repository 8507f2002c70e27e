"""The button that shows and changes the assistant."""

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.core.assistant import Assistant
from desktop_rag.ui.composer.model_choice import NO_ASSISTANT, AssistantChoice
from desktop_rag.ui.foundation.theme import Theme

KEEPER = Assistant("k", "Keeper")
ODD = Assistant("o", "<b>a&b</b>")


@pytest.fixture
def choice(theme: Theme, qtbot: QtBot) -> AssistantChoice:
    choice = AssistantChoice(theme)
    qtbot.addWidget(choice)
    return choice


def entries(choice: AssistantChoice) -> list[str]:
    return [action.text() for action in choice.menu().actions() if not action.isSeparator()]


def checked(choice: AssistantChoice) -> list[str]:
    return [action.text() for action in choice.menu().actions() if action.isChecked()]


def pick(choice: AssistantChoice, text: str) -> None:
    next(action for action in choice.menu().actions() if action.text() == text).trigger()


def test_without_assistants_one_can_be_created(choice: AssistantChoice, qtbot: QtBot) -> None:
    assert choice.text() == NO_ASSISTANT
    assert entries(choice) == [NO_ASSISTANT, "New assistant…"]
    assert checked(choice) == [NO_ASSISTANT]
    with qtbot.waitSignal(choice.new_requested):
        pick(choice, "New assistant…")


def test_each_is_one_click_away(choice: AssistantChoice, qtbot: QtBot) -> None:
    choice.show_assistants([KEEPER, ODD])
    wanted = [NO_ASSISTANT, "Keeper", "<b>a&&b</b>", "New assistant…", "Manage assistants…"]
    assert entries(choice) == wanted
    for text, chosen in (("Keeper", KEEPER), ("<b>a&&b</b>", ODD), (NO_ASSISTANT, None)):
        with qtbot.waitSignal(choice.chosen) as told:
            pick(choice, text)
        assert told.args == [chosen]
        assert (choice.text(), checked(choice)) == (text, [text])
    with qtbot.waitSignal(choice.list_requested):
        pick(choice, "Manage assistants…")


def test_a_deleted_assistant_is_none_until_it_is_restored(choice: AssistantChoice) -> None:
    choice.choose("k")
    assert (choice.assistant_id, choice.text()) == ("", NO_ASSISTANT)
    choice.show_assistants([KEEPER])
    assert (choice.assistant_id, choice.text()) == ("k", "Keeper")
    choice.show_assistants([ODD])
    assert (choice.assistant, choice.text()) == (None, NO_ASSISTANT)
    choice.show_assistants([KEEPER, ODD])
    assert choice.assistant == KEEPER


def test_a_long_name_is_shortened(choice: AssistantChoice) -> None:
    choice.show_assistants([Assistant("l", "n" * 80)])
    choice.choose("l")
    assert len(choice.text()) == 30
    assert len(entries(choice)[1]) == 60
    assert "n" * 80 in choice.accessibleName()


def test_names_do_not_widen_a_narrow_window(choice: AssistantChoice) -> None:
    choice.show_assistants([Assistant("s", "x" * 12), Assistant("l", "w" * 80)])
    widths: set[int] = set()
    for assistant_id in ("s", "l"):
        choice.choose(assistant_id)
        widths.add(choice.minimumSizeHint().width())
        choice.resize(choice.minimumSizeHint())
        assert choice.grab().width() == choice.minimumSizeHint().width()
    assert len(widths) == 1
