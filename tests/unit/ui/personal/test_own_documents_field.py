"""The documents of an assistant's own in its form: added, removed and kept until it is saved."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QListWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import DocumentState, Source
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.personal.assistant_dialog import OwnDocumentsField
from desktop_rag.ui.personal.assistant_documents import OwnDocument
from tests.unit.ui.rooms import button

LETTERS = OwnDocument(
    Source("s", "c", Path("/docs/letters"), 0.0), DocumentCounts({DocumentState.SEARCHABLE: 3})
)


@pytest.fixture
def own(theme: Theme, qtbot: QtBot) -> OwnDocumentsField:
    made = OwnDocumentsField()
    qtbot.addWidget(made)
    return made


def lines(own: OwnDocumentsField) -> list[str]:
    [shown] = own.findChildren(QListWidget)
    return [shown.item(row).text() for row in range(shown.count())]


def choose(own: OwnDocumentsField, row: int) -> None:
    own.findChildren(QListWidget)[0].setCurrentRow(row)


def test_what_is_added_waits_for_the_form_to_be_saved(own: OwnDocumentsField) -> None:
    own.show_documents([LETTERS])
    own.add_paths(["/docs/plan.pdf", "/docs/plan.pdf", "/docs/letters"])
    own.findChildren(QLineEdit)[0].setText("https://example.org/a  https://example.org/b")
    button(own, "Add links").click()
    assert lines(own) == [
        "letters · 3 files: 3 searchable",
        "plan.pdf · added when saved",
        "https://example.org/a · added when saved",
        "https://example.org/b · added when saved",
    ]
    assert own.wished.paths == (Path("/docs/plan.pdf"),)
    assert own.wished.links == ("https://example.org/a", "https://example.org/b")


def test_a_removal_can_be_taken_back_until_then(own: OwnDocumentsField) -> None:
    own.show_documents([LETTERS])
    choose(own, 0)
    button(own, "Remove").click()
    assert lines(own) == ["letters · removed when saved"]
    own.show_documents([LETTERS])
    assert own.wished.removed == {"s"}, "new states change nothing of it"
    button(own, "Keep").click()
    assert own.wished.removed == frozenset()
    own.add_paths(["/docs/plan.pdf"])
    choose(own, 1)
    button(own, "Remove").click()
    assert lines(own) == ["letters · 3 files: 3 searchable"]


def test_states_are_asked_for_while_there_are_documents(
    own: OwnDocumentsField, qtbot: QtBot
) -> None:
    assert not button(own, "Refresh").isEnabled()
    own.show_documents([LETTERS])
    with qtbot.waitSignal(own.states_requested):
        pass
    with qtbot.waitSignal(own.refresh_requested):
        qtbot.mouseClick(button(own, "Refresh"), Qt.MouseButton.LeftButton)
    own.show_documents([])
