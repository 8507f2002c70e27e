"""A slash in the question field offers prompts; their placeholders are filled in one by one."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.assistant import SavedPrompt
from desktop_rag.core.question import Question
from desktop_rag.ui.composer.composer import Composer, QuestionField
from desktop_rag.ui.foundation.theme import Theme

SUMMARISE = SavedPrompt("summarise", "Summarise {{topic}} for {{whom}}.")
PROMPTS = [SavedPrompt("compare", "Compare them."), SavedPrompt("explain", "Sum up."), SUMMARISE]


@pytest.fixture
def composer(theme: Theme, qtbot: QtBot) -> Iterator[Composer]:
    """A composer at the bottom of an active window, with the focus in its field."""
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.addStretch(1)
    composer = Composer(theme)
    column.addWidget(composer)
    window.resize(600, 500)
    window.show()
    qtbot.waitActive(window)
    composer.setFocus()
    qtbot.waitUntil(lambda: field(composer).hasFocus())
    composer.prompts.show_prompts(PROMPTS)
    yield composer
    # Referenced until here, because the composer is deleted with it.
    assert composer.window() is window


def field(composer: Composer) -> QuestionField:
    return composer.findChildren(QuestionField)[0]


def popup(composer: Composer) -> QListWidget:
    return composer.window().findChildren(QListWidget, "promptList")[0]


def offered(composer: Composer) -> list[str]:
    rows = popup(composer)
    if not rows.isVisible():
        return []
    return [rows.item(row).text().split("   ")[0] for row in range(rows.count())]


def types(composer: Composer, text: str) -> None:
    QTest.keyClicks(field(composer), text)


def presses(composer: Composer, key: Qt.Key) -> None:
    QTest.keyClick(field(composer), key)


def selected(composer: Composer) -> str:
    return field(composer).textCursor().selectedText()


def test_a_slash_offers_all_prompts_and_letters_filter_them(
    composer: Composer, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(composer.prompts.prompts_requested):
        types(composer, "/")
    assert offered(composer) == ["/compare", "/explain", "/summarise", "Manage prompts…"]
    types(composer, "sum")
    assert offered(composer) == ["/summarise", "/explain"]
    types(composer, "x")
    assert offered(composer) == []
    field(composer).clear()
    types(composer, "and / or")
    assert offered(composer) == []


def test_the_list_opens_above_the_composer_in_the_same_window(composer: Composer) -> None:
    types(composer, "/")
    rows = popup(composer)
    assert rows.parentWidget() is composer.window()
    assert rows.geometry().bottom() < composer.geometry().top()
    assert rows.geometry().top() >= 0
    assert field(composer).hasFocus()


def test_the_first_placeholder_is_selected_and_tab_selects_the_next(
    composer: Composer, qtbot: QtBot
) -> None:
    types(composer, "/su")
    presses(composer, Qt.Key.Key_Return)
    assert offered(composer) == []
    assert composer.text == SUMMARISE.text
    assert selected(composer) == "{{topic}}"
    field(composer).insertPlainText("the \U0001f600 lease")
    presses(composer, Qt.Key.Key_Tab)
    assert selected(composer) == "{{whom}}"
    types(composer, "Ada")
    with qtbot.waitSignal(composer.submitted) as sent:
        presses(composer, Qt.Key.Key_Return)
    assert sent.args == [Question("Summarise the \U0001f600 lease for Ada.")]


def test_enter_selects_a_remaining_placeholder(composer: Composer, qtbot: QtBot) -> None:
    types(composer, "/su")
    presses(composer, Qt.Key.Key_Tab)
    presses(composer, Qt.Key.Key_Tab)
    types(composer, "Ada")
    with qtbot.assertNotEmitted(composer.submitted):
        presses(composer, Qt.Key.Key_Return)
    assert selected(composer) == "{{topic}}"
    presses(composer, Qt.Key.Key_Escape)
    with qtbot.waitSignal(composer.submitted) as sent:
        presses(composer, Qt.Key.Key_Return)
    assert sent.args == [Question("Summarise {{topic}} for Ada.")]


def test_typed_braces_are_sent(composer: Composer, qtbot: QtBot) -> None:
    types(composer, "What is {{name}}?")
    with qtbot.waitSignal(composer.submitted):
        presses(composer, Qt.Key.Key_Return)


def test_arrows_wrap_around_and_a_click_inserts(composer: Composer) -> None:
    types(composer, "/")
    presses(composer, Qt.Key.Key_Up)
    presses(composer, Qt.Key.Key_Up)
    assert popup(composer).currentItem().text().startswith("/summarise")
    rows = popup(composer)
    place = rows.visualItemRect(rows.item(0)).center()
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert composer.text == "Compare them."
    field(composer).undo()
    assert composer.text == "/"


def test_escape_closes_the_list_until_a_new_slash(composer: Composer, qtbot: QtBot) -> None:
    types(composer, "/")
    presses(composer, Qt.Key.Key_Escape)
    assert offered(composer) == []
    types(composer, "com")
    assert offered(composer) == []
    with qtbot.waitSignal(composer.submitted) as sent:
        presses(composer, Qt.Key.Key_Return)
    assert sent.args == [Question("/com")]
    types(composer, "/com")
    assert offered(composer) == ["/compare"]


def test_the_last_row_opens_the_prompts_dialog(composer: Composer, qtbot: QtBot) -> None:
    composer.prompts.show_prompts([])
    types(composer, "/")
    assert offered(composer) == ["Manage prompts…"]
    with qtbot.waitSignal(composer.prompts.manage_requested):
        presses(composer, Qt.Key.Key_Return)
    assert composer.text == ""


def test_the_list_closes_with_the_focus(composer: Composer, qtbot: QtBot) -> None:
    types(composer, "/")
    field(composer).clearFocus()
    assert offered(composer) == []


def test_many_long_and_hostile_prompts_stay_inside(composer: Composer) -> None:
    evil = "<b>x</b>\u202e\n" * 500
    composer.prompts.show_prompts([SavedPrompt(f"p{n:03}", evil) for n in range(300)])
    types(composer, "/p")
    rows = popup(composer)
    assert rows.count() == 300
    assert rows.height() < 400
    assert rows.item(0).text().startswith("/p000   <b>x</b>")
    assert "\u202e" not in rows.item(0).text()
