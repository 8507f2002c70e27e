"""Follow-up questions below the last answer; a click asks one."""

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.messages.answer_item import FollowUpList
from desktop_rag.ui.messages.message_model import MessageActions
from desktop_rag.ui.messages.question_item import QuestionButton
from tests.servers.chat_server import ChatServer
from tests.unit.ui.chat_room import ANSWER, Room, ask, click, use

NEXT = "Does the lamp burn oil & gas?"


def offered(page: QWidget) -> list[str]:
    buttons = page.findChildren(QuestionButton)
    return [b.question for b in buttons if b.isVisible() and b.property("kind") == "followUp"]


@pytest.mark.slow
def test_a_click_asks_a_follow_up_question(room: Room, server: ChatServer, qtbot: QtBot) -> None:
    use(room, server)
    server.first_answers = [ANSWER, NEXT, "It burns oil [1].", "Is the lamp lit?"]
    ask(room, qtbot)
    qtbot.waitUntil(lambda: offered(room.page) == [NEXT])
    click(room, qtbot, NEXT, 0)
    qtbot.waitUntil(lambda: "It burns oil 1." in " ".join(room.answers()).replace("[1]", "1"))
    qtbot.waitUntil(lambda: NEXT not in offered(room.page))
    asked = [chat["messages"][-1]["content"] for chat in server.chats]
    assert asked[2].endswith(f"Question: {NEXT}")


def test_a_question_is_shown_literally_and_elided(qtbot: QtBot, theme: object) -> None:
    asked = MessageActions()
    questions = FollowUpList(asked)
    qtbot.addWidget(questions)
    long = "Why & when <b>is</b> " + "the lamp of the tall lighthouse " * 12 + "lit?"
    questions.show_questions([long, "Who?"])
    questions.resize(300, 200)
    questions.show()
    first, second = questions.findChildren(QuestionButton)
    assert second.text() == "Who?"
    assert first.text().startswith("Why && when <b>is</b> the")
    assert first.text().endswith("…")
    assert "&lt;b&gt;is&lt;/b&gt;" in first.toolTip()
    with qtbot.waitSignal(asked.follow_up_chosen) as chosen:
        first.click()
    assert chosen.args == [" ".join(long.split())]


def test_a_question_that_is_too_long_for_a_line_goes_on_in_a_second(
    qtbot: QtBot, theme: object
) -> None:
    questions = FollowUpList(MessageActions())
    qtbot.addWidget(questions)
    questions.show_questions(["What does “volunteer-handbook.pdf” say about “Your first duties”?"])
    questions.resize(330, 200)
    questions.show()
    [button] = questions.findChildren(QuestionButton)
    qtbot.waitUntil(lambda: "\n" in button.text())
    assert button.text().replace("\n", " ") == button.question
    assert button.toolTip() == ""
    assert button.height() > 2 * button.fontMetrics().height()


def test_without_questions_the_list_is_hidden(qtbot: QtBot) -> None:
    questions = FollowUpList(MessageActions())
    qtbot.addWidget(questions)
    questions.show_questions(["Who?"])
    questions.show_questions([])
    assert questions.isHidden()
