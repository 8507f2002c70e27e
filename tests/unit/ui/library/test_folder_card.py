"""The card of one source."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import DocumentState, Source, SourceState
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.source_list import FolderActions, FolderCard
from tests.unit.ui.rooms import button, texts

SOURCE = Source("papers", "c", Path("/docs/a<img src=&#47;dev&#47;zero>"), 0.0)
NAME = SOURCE.path.name
COUNTS = DocumentCounts({DocumentState.SEARCHABLE: 4, DocumentState.FAILED: 2})


@pytest.fixture
def asked(theme: Theme) -> FolderActions:
    return FolderActions(theme)


@pytest.fixture
def card(qtbot: QtBot, theme: Theme, asked: FolderActions) -> FolderCard:
    card = FolderCard(theme, SOURCE, asked)
    qtbot.addWidget(card)
    card.resize(900, 60)
    card.show_source(SOURCE, "Work", COUNTS)
    card.show()
    qtbot.waitActive(card)
    return card


def test_shows_path_state_and_counts(card: FolderCard) -> None:
    assert texts(card) == [
        "/docs/a<img src=&#47;dev&#47;zero>",
        "● Watched",
        "Work · 6 files: 4 searchable, 2 not read",
    ]


def test_an_offline_source_can_only_be_listed_and_removed(card: FolderCard) -> None:
    card.show_source(replace(SOURCE, state=SourceState.OFFLINE), "", COUNTS)
    assert "● Offline" in texts(card)
    assert not button(card, f"Open {NAME}").isEnabled()
    assert not button(card, f"Check {NAME} for changes").isEnabled()
    assert button(card, f"Show files in {NAME}").isEnabled()
    assert button(card, f"Remove {NAME} from the library").isEnabled()


@pytest.mark.parametrize(
    ("name", "signal", "args"),
    [
        (f"Open {NAME}", "open_requested", [SOURCE]),
        (f"Check {NAME} for changes", "rescan_requested", [SOURCE]),
        (f"Show files in {NAME}", "files_requested", [SOURCE, False]),
        ("Show 2 not read", "files_requested", [SOURCE, True]),
    ],
)
def test_buttons_emit_their_signals(
    card: FolderCard, asked: FolderActions, qtbot: QtBot, name: str, signal: str, args: list[object]
) -> None:
    with qtbot.waitSignal(getattr(asked, signal)) as told:
        qtbot.mouseClick(button(card, name), Qt.MouseButton.LeftButton)
    assert told.args == args


def test_without_failures_there_is_nothing_to_show(card: FolderCard) -> None:
    card.show_source(SOURCE, "", DocumentCounts({DocumentState.SEARCHABLE: 1}))
    assert not button(card, "Show 0 not read").isVisible()


def test_removing_asks_for_confirmation_with_keep_focused(
    card: FolderCard, asked: FolderActions, qtbot: QtBot
) -> None:
    button(card, f"Remove {NAME} from the library").click()
    assert button(card, "Keep").hasFocus()
    assert any(f"Remove “{NAME}” from the library?" in text for text in texts(card))
    with qtbot.waitSignal(asked.remove_confirmed) as told:
        button(card, "Remove").click()
    assert told.args == [SOURCE]
    assert not button(card, "Remove").isEnabled()


@pytest.mark.parametrize("is_key", [True, False])
def test_removing_is_cancelled(
    card: FolderCard, asked: FolderActions, qtbot: QtBot, is_key: bool
) -> None:
    told: list[object] = []
    asked.remove_confirmed.connect(told.append)
    button(card, f"Remove {NAME} from the library").click()
    if is_key:
        qtbot.keyClick(button(card, "Keep"), Qt.Key.Key_Escape)
    else:
        button(card, "Keep").click()
    assert not button(card, "Keep").isVisible()
    assert QApplication.focusWidget() is button(card, f"Remove {NAME} from the library")
    assert told == []


def test_every_button_has_a_name(card: FolderCard) -> None:
    assert all(b.text() or b.accessibleName() for b in card.findChildren(QAbstractButton))


def test_what_a_program_sends_is_shown_as_that(card: FolderCard) -> None:
    sent = replace(SOURCE, program="Team wiki")
    card.show_source(sent, "Work", COUNTS)
    assert texts(card) == [
        "Team wiki (documents that this program sends)",
        "Work · 6 files: 4 searchable, 2 not read",
    ]
    buttons = card.findChildren(QAbstractButton)
    shown = {each.text() for each in buttons if each.isVisible()}
    assert not shown & {"Open folder", "Options…", "Locate…"}
