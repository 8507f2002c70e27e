"""The list of conversations: order, search, rename, delete, literal titles."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLineEdit, QListView, QMenu, QPushButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import TERMINAL, Conversation
from desktop_rag.ui.chat.conversation_list import ConversationList
from desktop_rag.ui.chat.conversation_model import ConversationModel
from desktop_rag.ui.foundation.theme import Theme

CHATS = [
    Conversation("c1", "Lamp & lens", "", 30.0),
    Conversation("c2", "<b>Fog</b>\nhorn", "", 20.0),
    Conversation("c3", "", "", 10.0),
]


@pytest.fixture
def chats(theme: Theme, qtbot: QtBot) -> ConversationList:
    chats = ConversationList(theme)
    qtbot.addWidget(chats)
    chats.show_conversations(CHATS)
    chats.resize(220, 400)
    chats.show()
    return chats


def view(chats: ConversationList) -> QListView:
    return chats.findChildren(QListView)[0]


def titles(chats: ConversationList) -> list[str]:
    model = view(chats).model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_the_model_passes_the_model_tester(theme: Theme, qtmodeltester: ModelTester) -> None:
    model = ConversationModel(theme)
    model.show(CHATS)
    qtmodeltester.check(model)


def test_titles_are_one_literal_line_each(chats: ConversationList) -> None:
    assert titles(chats) == ["Lamp & lens", "<b>Fog</b> horn", "New chat"]
    tip = view(chats).model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.startswith("<qt>&lt;b&gt;Fog&lt;/b&gt; horn<br>")


def test_the_filter_finds_by_any_part(chats: ConversationList, qtbot: QtBot) -> None:
    qtbot.keyClicks(chats.findChildren(QLineEdit)[0], "LENS")
    assert titles(chats) == ["Lamp & lens"]


def test_the_search_finds_text_in_messages(chats: ConversationList, qtbot: QtBot) -> None:
    with qtbot.waitSignal(chats.search_requested) as asked:
        qtbot.keyClicks(chats.findChildren(QLineEdit)[0], "l")
    assert asked.args == ["l"]
    chats.show_matches("another", frozenset({"c3"}))
    assert titles(chats) == ["Lamp & lens"]
    chats.show_matches("l", frozenset({"c3"}))
    assert titles(chats) == ["Lamp & lens", "New chat"]
    chats.findChildren(QLineEdit)[0].clear()
    assert len(titles(chats)) == 3


def test_chats_of_the_terminal_have_a_heading_of_their_own(chats: ConversationList) -> None:
    chats.show_conversations([*CHATS[:2], replace(CHATS[2], kept_by=TERMINAL)])
    spoken = view(chats).model().index(2, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "New chat, From the terminal"


def test_a_pinned_chat_shows_it_and_is_unpinned(chats: ConversationList, qtbot: QtBot) -> None:
    pinned = replace(CHATS[2], is_pinned=True)
    chats.show_conversations([pinned, *CHATS[:2]])
    index = view(chats).model().index(0, 0)
    assert not index.data(Qt.ItemDataRole.DecorationRole).isNull()
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "New chat, Pinned"
    assert view(chats).model().index(1, 0).data(Qt.ItemDataRole.DecorationRole) is None
    view(chats).customContextMenuRequested.emit(view(chats).visualRect(index).center())
    menu = chats.findChildren(QMenu)[0]
    assert menu.actions()[0].text() == "Unpin"
    with qtbot.waitSignal(chats.pinned) as told:
        menu.actions()[0].trigger()
    assert told.args == ["c3", False]
    menu.close()


def test_a_click_opens_and_another_on_the_same_does_not(
    chats: ConversationList, qtbot: QtBot
) -> None:
    index = view(chats).model().index(1, 0)
    point = view(chats).visualRect(index).center()
    with qtbot.waitSignal(chats.opened) as opened:
        qtbot.mouseClick(view(chats).viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert opened.args == [CHATS[1]]
    chats.choose("c2")
    with qtbot.assertNotEmitted(chats.opened):
        qtbot.mouseClick(view(chats).viewport(), Qt.MouseButton.LeftButton, pos=point)


def test_no_row_moves_under_the_pointer(chats: ConversationList) -> None:
    went_on = [replace(CHATS[1], updated_at=99.0), CHATS[0], CHATS[2]]
    before = titles(chats)
    chats.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    chats.show_conversations(went_on)
    assert titles(chats) == before
    chats.show_conversations([*went_on, Conversation("c4", "Fourth", "", 1.0)])
    assert titles(chats)[0] == "<b>Fog</b> horn", "another chat is shown at once"
    chats.show_conversations(CHATS)
    chats.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    QApplication.sendEvent(chats, QEvent(QEvent.Type.Leave))
    assert titles(chats) == before


def test_new_chat_is_requested(chats: ConversationList, qtbot: QtBot) -> None:
    with qtbot.waitSignal(chats.new_requested):
        chats.findChildren(QPushButton)[0].click()


def test_a_title_is_edited_in_its_row(chats: ConversationList, qtbot: QtBot) -> None:
    chats.choose("c1")
    chats.rename_current()
    editor = view(chats).viewport().findChildren(QLineEdit)[0]
    assert editor.text() == "Lamp & lens"
    editor.setText("Lamps")
    with qtbot.waitSignal(chats.renamed) as renamed:
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert renamed.args == ["c1", "Lamps"]


@pytest.mark.parametrize("title", ["Lamp & lens", "   "])
def test_the_same_or_an_empty_title_changes_nothing(theme: Theme, qtbot: QtBot, title: str) -> None:
    model = ConversationModel(theme)
    model.show(CHATS)
    with qtbot.assertNotEmitted(model.title_edited):
        model.setData(model.index(0, 0), title)


def test_delete_requests_the_selected_chat(chats: ConversationList, qtbot: QtBot) -> None:
    chats.choose("c2")
    delete = next(a for a in view(chats).findChildren(QAction) if a.text() == "Delete")
    with qtbot.waitSignal(chats.delete_requested) as asked:
        delete.trigger()
    assert asked.args == [CHATS[1]]
    chats.choose("")
    with qtbot.assertNotEmitted(chats.delete_requested):
        delete.trigger()


def test_the_menu_of_a_row_is_for_that_row(chats: ConversationList, qtbot: QtBot) -> None:
    chats.choose("c1")
    view(chats).customContextMenuRequested.emit(QPoint(5, 390))
    assert chats.findChildren(QMenu) == []
    index = view(chats).model().index(1, 0)
    view(chats).customContextMenuRequested.emit(view(chats).visualRect(index).center())
    menu = chats.findChildren(QMenu)[0]
    assert [action.text() for action in menu.actions()] == ["Pin", "Rename", "Delete"]
    with qtbot.waitSignal(chats.delete_requested) as asked:
        menu.actions()[2].trigger()
    assert asked.args == [CHATS[1]]
    menu.close()


def test_the_selection_survives_a_new_list(chats: ConversationList) -> None:
    chats.choose("c2")
    chats.show_conversations([CHATS[1], CHATS[0]])
    assert view(chats).currentIndex().row() == 0
    chats.show_conversations([CHATS[0]])
    assert not view(chats).currentIndex().isValid()
