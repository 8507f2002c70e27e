"""The model of a conversation: the effect of each event of an answer on the rows."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import (
    AnswerDone,
    AnswerWaits,
    Conversation,
    Message,
    MessageState,
    QuestionStored,
    Role,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.messages.message_model import MessageModel, Phase, is_of_empty_library

QUESTION = Message("m1", "c1", Role.USER, "Why?", 1.0)
ANSWER = Message("m2", "c1", Role.ASSISTANT, "Because [1].", 2.0, model="tiny", seconds=0.4)
SOURCE = SourceRef(1, "d1", "a.md", "A", Anchor(line=3), "Because it is.", 0.9)


@pytest.fixture
def model(qapp: QApplication) -> MessageModel:
    return MessageModel()


def texts(model: MessageModel) -> list[str]:
    return [model.turn(row).message.text for row in range(model.rows)]


def test_a_stored_conversation_is_shown(model: MessageModel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(model.loaded):
        model.load([QUESTION, ANSWER])
    assert texts(model) == ["Why?", "Because [1]."]
    assert not model.turn(-1).is_live


def test_an_answer_is_written_event_by_event(model: MessageModel) -> None:
    model.begin_question("Why?")
    assert texts(model) == ["Why?", ""]
    assert model.turn(-1).phase is Phase.SEARCHING
    model.apply(QuestionStored(Conversation("c1", "Why?", "", 1.0), QUESTION))
    assert model.turn(0).message is QUESTION
    model.apply(SourcesFound((SOURCE,)))
    assert model.turn(-1).phase is Phase.READING
    model.apply(ThinkingDelta("Let me "))
    model.apply(ThinkingDelta("see."))
    assert model.turn(-1).phase is Phase.THINKING
    model.apply(TextDelta("Because"))
    model.apply(TextDelta(" [1]."))
    live = model.turn(-1)
    assert live.is_live
    assert live.phase is Phase.WRITING
    assert (live.message.text, live.message.thinking) == ("Because [1].", "Let me see.")
    assert live.message.sources == (SOURCE,)
    model.apply(AnswerDone(ANSWER))
    assert model.turn(-1).message is ANSWER
    assert not model.turn(-1).is_live


def test_each_delta_changes_the_last_row_only(model: MessageModel, qtbot: QtBot) -> None:
    model.begin_question("Why?")
    with qtbot.waitSignal(model.changed) as blocker:
        model.apply(TextDelta("x"))
    assert blocker.args == [1, 1]


def test_a_failure_keeps_what_had_arrived(model: MessageModel) -> None:
    model.begin_question("Why?")
    model.apply(TextDelta("Because"))
    model.fail(AppError("The disk is full.", "Free some space."))
    message = model.turn(-1).message
    assert message.state is MessageState.FAILED
    assert (message.text, message.error_title) == ("Because", "The disk is full.")
    assert message.error_hint == "Free some space."
    assert not model.turn(-1).is_live


def test_a_retry_takes_the_place_of_the_failed_answer(model: MessageModel) -> None:
    model.load([QUESTION, ANSWER])
    model.begin_retry()
    assert texts(model) == ["Why?", ""]
    assert model.turn(-1).is_live


def test_a_retry_without_an_answer_adds_one(model: MessageModel) -> None:
    model.load([QUESTION])
    model.begin_retry()
    assert texts(model) == ["Why?", ""]


def test_the_reason_for_waiting_is_shown_until_text_arrives(model: MessageModel) -> None:
    model.begin_question("Why?")
    model.apply(AnswerWaits("It goes on in 5 s."))
    assert model.turn(-1).is_live
    assert model.turn(-1).progress == "It goes on in 5 s."
    model.apply(TextDelta("Because"))
    assert model.turn(-1).progress == ""


def test_answers_that_waited_for_room_on_the_disk_are_shown_as_stored(model: MessageModel) -> None:
    waiting = [replace(m, is_unstored=True) for m in (QUESTION, ANSWER)]
    model.load(waiting)
    model.show_stored(frozenset({ANSWER.message_id}))
    assert [model.turn(n).message.is_unstored for n in range(2)] == [True, False]
    model.change(waiting[1])
    assert not model.turn(1).message.is_unstored


def test_an_answer_about_a_file_without_text_is_not_of_an_empty_library() -> None:
    bare = replace(ANSWER, model="", sources=(), nearest=(), notes=SearchNotes())
    assert is_of_empty_library(bare)
    assert not is_of_empty_library(replace(bare, notes=SearchNotes(scope=("scan.pdf",))))
