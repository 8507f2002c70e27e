"""The composer: sending, the height of the field, the chosen collection."""

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import Collection
from desktop_rag.core.question import Question
from desktop_rag.ui.composer.composer import (
    ALL,
    ASSISTANT_COLLECTIONS,
    SOME,
    WITHOUT,
    Composer,
    QuestionField,
)
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import IconButton


@pytest.fixture
def composer(theme: Theme, qtbot: QtBot) -> Composer:
    composer = Composer(theme)
    qtbot.addWidget(composer)
    composer.resize(600, 120)
    composer.show()
    return composer


def test_a_question_is_shown_whole_at_any_width(composer: Composer, qtbot: QtBot) -> None:
    text = field(composer)
    text.setPlainText("What is the premium a year, and from which day on is it paid for? " * 2)
    for width in (600, 380, 500, 420):
        composer.resize(width, 200)
        qtbot.waitUntil(lambda: text.verticalScrollBar().maximum() == 0)


def field(composer: Composer) -> QuestionField:
    return composer.findChildren(QuestionField)[0]


def button(composer: Composer, name: str) -> IconButton:
    return composer.findChildren(IconButton, name)[0]


def picker(composer: Composer) -> QComboBox:
    return composer.findChildren(QComboBox)[0]


def test_enter_sends_and_empties_the_field(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(composer), "How high is it?")
    with qtbot.waitSignal(composer.submitted) as sent:
        qtbot.keyClick(field(composer), Qt.Key.Key_Return)
    assert sent.args == [Question("How high is it?")]
    assert composer.text == ""


def test_shift_enter_starts_a_line(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(composer), "a")
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(field(composer), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(field(composer), "b")
    assert composer.text == "a\nb"


def test_enter_leaves_what_an_input_method_holds(composer: Composer, qtbot: QtBot) -> None:
    QCoreApplication.sendEvent(field(composer), QInputMethodEvent("とうだい", []))
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(field(composer), Qt.Key.Key_Return)
    taken = QInputMethodEvent()
    taken.setCommitString("灯台")
    QCoreApplication.sendEvent(field(composer), taken)
    with qtbot.waitSignal(composer.submitted):
        qtbot.keyClick(field(composer), Qt.Key.Key_Return)


def test_nothing_but_spaces_is_not_sent(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(composer), "   ")
    assert not button(composer, "sendButton").isEnabled()
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(field(composer), Qt.Key.Key_Return)


def test_stop_replaces_send_while_an_answer_is_written(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("Next question")
    composer.set_busy(True)
    assert button(composer, "stopButton").isVisible()
    assert not button(composer, "sendButton").isVisible()
    with qtbot.assertNotEmitted(composer.submitted):
        qtbot.keyClick(field(composer), Qt.Key.Key_Return)
    with qtbot.waitSignal(composer.stop_requested):
        qtbot.mouseClick(button(composer, "stopButton"), Qt.MouseButton.LeftButton)
    composer.set_busy(False)
    with qtbot.waitSignal(composer.submitted):
        qtbot.mouseClick(button(composer, "sendButton"), Qt.MouseButton.LeftButton)


def test_the_field_grows_to_six_lines(composer: Composer) -> None:
    heights = []
    for lines in (1, 2, 6, 7, 50):
        composer.set_text("\n".join(["line"] * lines))
        heights.append(field(composer).height())
    assert heights[0] < heights[1] < heights[2]
    assert heights[2] == heights[3] == heights[4]
    composer.set_text("")
    assert field(composer).height() == heights[0]


def test_a_long_line_is_wrapped_and_counted(composer: Composer) -> None:
    low = field(composer).height()
    composer.set_text("word " * 100)
    assert field(composer).height() > low


def test_the_chosen_collection_is_asked(composer: Composer, qtbot: QtBot) -> None:
    composer.documents.set_collections([Collection("k1", "Papers"), Collection("k2", "A & <b>")])
    assert [picker(composer).itemText(n) for n in range(3)] == [ALL, "Papers", "A & <b>"]
    composer.choose_documents("k2")
    composer.set_text("What?")
    with qtbot.waitSignal(composer.submitted) as sent:
        qtbot.keyClick(field(composer), Qt.Key.Key_Enter)
    assert sent.args == [Question("What?", "k2")]


def test_the_choice_survives_a_new_list_of_collections(composer: Composer) -> None:
    composer.documents.set_collections([Collection("k1", "Papers"), Collection("k2", "Notes")])
    composer.choose_documents("k2")
    composer.documents.set_collections([Collection("k2", "Notes"), Collection("k3", "More")])
    assert composer.collection_id == "k2"
    composer.documents.set_collections([])
    assert composer.collection_id == ""
    assert _offered(composer) == [ALL, "", WITHOUT, SOME]


def test_one_collection_alone_is_no_choice_beside_all(composer: Composer) -> None:
    composer.documents.set_collections([Collection("k1", "My documents")])
    assert _offered(composer) == [ALL, "", WITHOUT, SOME]
    composer.choose_documents("k1")
    assert composer.collection_id == ""
    composer.documents.set_collections(
        [Collection("k1", "My documents"), Collection("k2", "Notes")]
    )
    assert _offered(composer) == [ALL, "My documents", "Notes", "", WITHOUT, SOME]


def test_a_folder_or_file_is_chosen_from_a_list(composer: Composer, qtbot: QtBot) -> None:
    at = _offered(composer).index(SOME)
    composer.activateWindow()
    picker(composer).setFocus()
    qtbot.waitUntil(picker(composer).hasFocus)
    picker(composer).setCurrentIndex(at)
    with qtbot.waitSignal(composer.names.requested):
        picker(composer).activated.emit(at)
    assert composer.text == "@"
    assert picker(composer).currentText() == ALL


def _offered(composer: Composer) -> list[str]:
    """The rows of the choice; a line between them is empty."""
    return [picker(composer).itemText(n) for n in range(picker(composer).count())]


def test_an_assistant_restricts_the_collections(composer: Composer) -> None:
    papers, notes, more = (Collection(f"k{n}", name) for n, name in enumerate("abc"))
    composer.documents.set_collections([papers, notes, more])
    composer.choose_documents("k2")
    composer.documents.restrict(("k0", "k1"))
    assert _offered(composer) == [ASSISTANT_COLLECTIONS, "a", "b", "", WITHOUT, SOME]
    assert composer.collection_id == "", "what it does not ask is chosen no longer"
    composer.choose_documents("k1")
    composer.documents.restrict(())
    assert (composer.collection_id, len(_offered(composer))) == ("k1", 7)
