"""What the dialog that asks a set says of the set-ups."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.answer_costs import RunEstimate
from desktop_rag.features.evaluation.ui.set_up_dialog import SetUpChoices, SetUpDialog
from desktop_rag.features.evaluation.values.found_places import CHUNKINGS
from desktop_rag.features.evaluation.values.run import SetUp
from desktop_rag.ui.foundation.bridge import Bridge
from tests.unit.ui.rooms import button, field, texts

IDLE = "Excerpts ask no model, so instructions change nothing."
Open = Callable[..., SetUpDialog]


@pytest.fixture
def open_dialog(bridge: Bridge, qtbot: QtBot) -> Open:
    parent = QWidget()
    qtbot.addWidget(parent)

    def opened(begun: SetUp, *, has_model: bool = False) -> SetUpDialog:
        models = [("amber", ("http://127.0.0.1:1/v1", "amber"))]
        assistants = [("Keeper", "k"), ("Reader", "r")]
        choices = SetUpChoices(
            models, assistants, [], "Excerpts", has_model=has_model, own_models=frozenset({"k"})
        )
        dialog = SetUpDialog(bridge, choices, lambda _: RunEstimate(3, 0, 0, 0.0, 0.0), parent,
                             [begun])  # fmt: skip
        dialog.show()
        return dialog

    opened.parent = parent  # pyright: ignore[reportFunctionMemberAccess]
    return opened


def test_instructions_for_excerpts_are_said_to_change_nothing(open_dialog: Open) -> None:
    dialog = open_dialog(SetUp("Excerpts"))
    assert IDLE not in texts(dialog)
    [instructions] = dialog.findChildren(QPlainTextEdit)
    instructions.setPlainText("Answer in one sentence.")
    assert IDLE in texts(dialog)
    model = field(dialog, QComboBox, "Model")
    model.setCurrentIndex(1)
    model.activated.emit(1)
    assert IDLE not in texts(dialog)


@pytest.mark.parametrize(
    ("begun", "has_model", "is_idle"),
    [
        (SetUp("a", instructions="Short."), False, True),
        (SetUp("a", instructions="Short."), True, False),
        (SetUp("a", instructions="Short.", assistant_id="k"), False, False),
        (SetUp("a", instructions="Short.", assistant_id="r"), False, True),
    ],
)
def test_it_depends_on_who_answers(
    open_dialog: Open, begun: SetUp, has_model: bool, is_idle: bool
) -> None:
    assert (IDLE in texts(open_dialog(begun, has_model=has_model))) == is_idle


def test_the_form_scrolls_in_a_dialog_no_higher_than_a_small_window(
    bridge: Bridge, qtbot: QtBot
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(900, 600)
    choices = SetUpChoices([], [], [], "amber", has_model=True, own_models=frozenset())
    dialog = SetUpDialog(bridge, choices, lambda _: RunEstimate(3, 0, 0, 0.0, 0.0), window)
    dialog.show()
    assert dialog.height() <= 600
    ask = button(dialog, "Ask")
    assert dialog.rect().contains(QRect(ask.mapTo(dialog, QPoint()), ask.size()))
    [scroll] = dialog.findChildren(QScrollArea)
    assert scroll.verticalScrollBar().maximum() > 0
    window.resize(900, 1200)
    tall = SetUpDialog(bridge, choices, lambda _: RunEstimate(3, 0, 0, 0.0, 0.0), window)
    tall.show()
    assert 600 < tall.height() < 900


def test_chunks_are_compared_by_search_alone(open_dialog: Open) -> None:
    dialog = open_dialog(SetUp("As it is", instructions="Short."), has_model=True)
    submitted: list[list[SetUp]] = []
    dialog.submitted.connect(submitted.append)
    button(dialog, "Compare chunks").click()
    assert IDLE in texts(dialog), "nobody reads instructions"
    button(dialog, "Ask").setEnabled(True)
    button(dialog, "Ask").click()
    [set_ups] = submitted
    assert [each.chunking for each in set_ups] == [None, *CHUNKINGS]
    assert {each.only_searches for each in set_ups} == {True}
    assert [each.name for each in set_ups][:3] == [
        "As it is", "By structure", "By structure, up to 200 tokens",
    ]  # fmt: skip


def test_all_set_ups_have_the_same_measured(open_dialog: Open) -> None:
    dialog = open_dialog(SetUp("A"))
    button(dialog, "Another set-up").click()
    compared = field(dialog, QComboBox, "What is compared")
    compared.setCurrentIndex(1)
    compared.activated.emit(1)
    submitted: list[list[SetUp]] = []
    dialog.submitted.connect(submitted.append)
    button(dialog, "Ask").setEnabled(True)
    button(dialog, "Ask").click()
    assert [each.only_searches for each in submitted[0]] == [True, True]
