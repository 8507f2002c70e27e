"""Attachments of a chat: chips, delayed questions, and the chat they belong to."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import Attachment, Conversation
from desktop_rag.core.question import Question
from desktop_rag.core.question_scope import ALL_DOCUMENTS
from desktop_rag.ui.composer.attached_files import MAX_FILES
from desktop_rag.ui.composer.attachment_strip import AttachmentChip
from desktop_rag.ui.composer.composer import Composer, QuestionField
from desktop_rag.ui.widgets.controls import ElidedLabel
from tests.unit.ui.chat_room import Room, ask, click, is_answered, named

# Text recognition loads its models with the first image.
_READING_MS = 30_000


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    path = tmp_path / "lease.txt"
    path.write_text("The tenant pays 840 pounds.")
    return path


def composer(room: Room) -> Composer:
    return room.page.findChildren(Composer)[0]


def chips(room: Room) -> list[str]:
    """The texts of the visible chips."""
    found = room.page.findChildren(AttachmentChip)
    return [chip.accessibleName() for chip in found if chip.isVisible()]


def attach(room: Room, qtbot: QtBot, *paths: Path) -> None:
    composer(room).files_added.emit(list(paths))
    qtbot.waitUntil(lambda: not any("Reading" in chip for chip in chips(room)), timeout=_READING_MS)


def stored(room: Room) -> list[tuple[Attachment, ...]]:
    return [room.chat.attachments.of(c.conversation_id) for c in room.chat.history.all()]


def conversation(room: Room) -> Conversation:
    return room.chat.history.all()[0]


@pytest.mark.slow
def test_files_are_chosen_in_a_dialog(room: Room, qtbot: QtBot, lease: Path) -> None:
    click(room, qtbot, "Attach files or images", 0)
    [dialog] = room.page.findChildren(QFileDialog)
    dialog.filesSelected.emit([str(lease)])
    dialog.close()
    qtbot.waitUntil(lambda: chips(room) == ["Attached: lease.txt, 5 words"])


@pytest.mark.slow
def test_pasted_files_and_images_are_attached_and_text_is_inserted(
    room: Room, qtbot: QtBot, lease: Path
) -> None:
    field = composer(room).findChildren(QuestionField)[0]
    text, files, picture = QMimeData(), QMimeData(), QMimeData()
    text.setText("What is paid?")
    files.setUrls([QUrl.fromLocalFile(str(lease))])
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.blue)
    picture.setImageData(image)
    for data in (text, files, picture, picture):
        field.insertFromMimeData(data)
    assert composer(room).text == "What is paid?"
    qtbot.waitUntil(lambda: not any("Reading" in chip for chip in chips(room)), timeout=_READING_MS)
    names = [chip.partition(",")[0] for chip in chips(room)]
    assert sorted(names) == [
        "Attached: Pasted image 2.png", "Attached: Pasted image.png", "Attached: lease.txt",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_question_sent_while_files_are_read_is_sent_afterwards(
    room: Room, qtbot: QtBot, lease: Path
) -> None:
    composer(room).files_added.emit([lease])
    composer(room).set_text("How many pounds does the tenant pay?")
    with qtbot.waitSignal(composer(room).submitted) as sent:
        qtbot.keyClick(composer(room).findChildren(QuestionField)[0], Qt.Key.Key_Return)
    [question] = sent.args or [None]
    assert isinstance(question, Question)
    assert [a.name for a in question.attachments] == ["lease.txt"]
    assert composer(room).text == ""


@pytest.mark.slow
def test_a_suggested_question_waits_for_files_too(room: Room, qtbot: QtBot, lease: Path) -> None:
    composer(room).files_added.emit([lease])
    ask(room, qtbot, "How many pounds does the tenant pay?")
    assert [[a.name for a in each] for each in stored(room)] == [["lease.txt"]]
    asked = room.chat.history.messages(conversation(room).conversation_id)[0]
    assert [a.name for a in asked.attachments] == ["lease.txt"]


@pytest.mark.slow
def test_typing_cancels_a_delayed_question(room: Room, qtbot: QtBot, lease: Path) -> None:
    field = composer(room).findChildren(QuestionField)[0]
    composer(room).set_attachments_pending(is_pending=True)
    qtbot.keyClicks(field, "What")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert "Will be sent when the files are ready" in room.words()
    qtbot.keyClicks(field, " else?")
    with qtbot.assertNotEmitted(composer(room).submitted):
        composer(room).set_attachments_pending(is_pending=False)


@pytest.mark.slow
def test_reading_ends_when_the_chip_is_closed(room: Room, qtbot: QtBot, lease: Path) -> None:
    composer(room).files_added.emit([lease])
    click(room, qtbot, "Remove lease.txt", 0)
    assert chips(room) == []
    ask(room, qtbot, "When is the lamp lit?")
    assert stored(room) == [()]


@pytest.mark.everyday
def test_attachments_belong_to_their_chat(room: Room, qtbot: QtBot, lease: Path) -> None:
    attach(room, qtbot, lease, lease)
    ask(room, qtbot)
    assert [[a.name for a in each] for each in stored(room)] == [["lease.txt"]]
    first = conversation(room)
    room.page.new_chat()
    assert chips(room) == []
    room.page.open_conversation(first)
    qtbot.waitUntil(lambda: chips(room) == ["Attached: lease.txt, 5 words"])
    qtbot.waitUntil(lambda: bool(named(room, "lease.txt · 5 words")))
    click(room, qtbot, "Remove lease.txt", 0)
    qtbot.waitUntil(lambda: stored(room) == [()])


@pytest.mark.slow
def test_files_being_read_stay_with_their_chat(room: Room, qtbot: QtBot, lease: Path) -> None:
    ask(room, qtbot)
    first = conversation(room)
    qtbot.waitUntil(lambda: not room.page.sessions.current.is_checking)
    composer(room).files_added.emit([lease])
    room.page.new_chat()
    qtbot.waitUntil(lambda: [len(each) for each in stored(room)] == [1], timeout=_READING_MS)
    assert chips(room) == []
    room.page.open_conversation(first)
    qtbot.waitUntil(lambda: chips(room) == ["Attached: lease.txt, 5 words"])


@pytest.mark.slow
def test_attachments_of_an_unsent_chat_are_kept(
    room: Room, qtbot: QtBot, lease: Path, tmp_path: Path
) -> None:
    ask(room, qtbot)
    first = conversation(room)
    room.page.new_chat()
    attach(room, qtbot, lease)
    room.page.open_conversation(first)
    qtbot.waitUntil(lambda: chips(room) == [])
    room.page.new_chat()
    assert chips(room) == ["Attached: lease.txt, 5 words"]
    room.page.summarise(ALL_DOCUMENTS)
    qtbot.waitUntil(lambda: is_answered(room))
    room.page.new_chat()
    assert chips(room) == ["Attached: lease.txt, 5 words"], "a summary is no question about it"
    ask(room, qtbot, "What is paid?")
    room.page.new_chat()
    assert chips(room) == []


@pytest.mark.slow
def test_a_delayed_question_is_not_sent_to_another_chat(
    room: Room, qtbot: QtBot, lease: Path
) -> None:
    ask(room, qtbot)
    first = conversation(room)
    room.page.new_chat()
    composer(room).files_added.emit([lease])
    composer(room).set_text("How many pounds does the tenant pay?")
    qtbot.keyClick(composer(room).findChildren(QuestionField)[0], Qt.Key.Key_Return)
    with qtbot.assertNotEmitted(composer(room).submitted):
        room.page.open_conversation(first)
        click(room, qtbot, "Regenerate answer", 0)
        qtbot.waitUntil(lambda: is_answered(room))
    assert composer(room).text == "How many pounds does the tenant pay?"


@pytest.mark.slow
def test_a_failed_file_is_shown_last_and_removed_when_a_question_is_sent(
    room: Room, qtbot: QtBot, lease: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    attach(room, qtbot, empty, lease, tmp_path)

    def first() -> str:
        tops = {c.accessibleName(): c.y() for c in room.page.findChildren(AttachmentChip)}
        return min(tops, key=tops.__getitem__).partition(",")[0]

    qtbot.waitUntil(lambda: first() == "Attached: lease.txt")
    assert any("Add it to the library instead." in name for name in chips(room))
    composer(room).set_text("When is the lamp lit?")
    send = room.page.findChildren(QWidget, "sendButton")[0]
    assert send.isEnabled()
    qtbot.mouseClick(send, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: chips(room) == ["Attached: lease.txt, 5 words"])


@pytest.mark.slow
def test_the_number_of_files_is_limited(room: Room, qtbot: QtBot, tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.none" for n in range(MAX_FILES + 3)]
    attach(room, qtbot, *paths)
    assert len(chips(room)) == MAX_FILES + 1
    assert any("3 more" in chip and "library" in chip for chip in chips(room))


@pytest.mark.slow
def test_files_dragged_over_the_field_are_left_to_the_page(room: Room, lease: Path) -> None:
    field = composer(room).findChildren(QuestionField)[0]
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(lease))])
    event = QDragEnterEvent(
        QPoint(5, 5), Qt.DropAction.MoveAction | Qt.DropAction.CopyAction, data,
        Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(field.viewport(), event)
    assert (event.isAccepted(), event.dropAction()) == (True, Qt.DropAction.CopyAction)
    assert composer(room).property("dropping") is True
    QApplication.sendEvent(room.page, QDragLeaveEvent())
    assert composer(room).property("dropping") is False


@pytest.mark.slow
def test_an_image_cannot_be_asked_about_without_a_model(room: Room, qtbot: QtBot) -> None:
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.blue)
    composer(room).image_pasted.emit(image)
    composer(room).set_text("Which colour is it?")
    send = room.page.findChildren(QWidget, "sendButton")[0]
    qtbot.waitUntil(lambda: "no model" in " ".join(room.words()), timeout=_READING_MS)
    assert not send.isEnabled()
    click(room, qtbot, "Remove Pasted image.png", 0)
    qtbot.waitUntil(send.isEnabled)


@pytest.mark.slow
def test_a_single_attachment_takes_the_row(room: Room, qtbot: QtBot, lease: Path) -> None:
    attach(room, qtbot, lease)
    qtbot.waitUntil(lambda: len(room.page.findChildren(AttachmentChip)) == 1)
    [chip] = room.page.findChildren(AttachmentChip)
    qtbot.waitUntil(lambda: chip.width() > composer(room).width() * 0.8)
    state = chip.findChildren(ElidedLabel, "attachmentState")[0]
    assert state.text() == state.full_text
