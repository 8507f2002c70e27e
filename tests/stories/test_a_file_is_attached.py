"""A lease and a photo are attached to a chat: read, asked about, cited and removed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ui.chat.chat_page import ChatPage
from desktop_rag.ui.chat.source_reading import ImageView
from desktop_rag.ui.reading.reading_pane import ReadingWindow
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

LEASE = "The tenant pays 840 pounds on the first of the month. Dogs are not allowed."
ANSWER = "The tenant pays 840 pounds on the first of the month. [1]"
QUESTION = "How many pounds does the tenant pay?"


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    path = tmp_path / "lease.txt"
    path.write_text(LEASE)
    return path


def page_of(person: Person) -> ChatPage:
    return person.window.findChildren(ChatPage)[0]


def files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def paste(person: Person, data: QMimeData) -> None:
    """Paste without the clipboard, which parallel tests share."""
    field = person.field("Question")
    field.insertFromMimeData(data)  # type: ignore[attr-defined]


def views(person: Person) -> list[QWidget]:
    return [view for view in person.window.findChildren(ReadingWindow) if view.isVisible()]


@pytest.mark.everyday
def test_a_dropped_file_is_asked_about_and_opened(
    open_window: Callable[[], Person], lease: Path
) -> None:
    person = open_window()
    person.drops_on(page_of(person), lease)
    person.sees("15 words")
    person.asks(QUESTION)
    person.sees(ANSWER)
    person.clicks("lease.txt · 15 words")
    person.waits_until(lambda: bool(views(person)))
    person.sees(LEASE)
    views(person)[0].close()
    person.closes_the_window()
    later = open_window()
    later.waits_until(lambda: bool(later.rows("Chats")))
    later.opens_row("Chats", 0)
    later.sees("lease.txt · 15 words")
    later.asks("Are dogs allowed?")
    later.sees("Dogs are not allowed. [1]")
    later.waits_until(lambda: not page_of(later).is_answering)
    later.clicks("Remove lease.txt")
    later.waits_until(lambda: "15 words" not in later.screen().replace("lease.txt · 15 words", ""))
    later.asks("How many pounds, then?")
    later.sees("Add a folder")


def test_an_unreadable_file_shows_the_reason_and_the_question_is_sent_without_it(
    person: Person, lease: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nnothing else")
    paste(person, files(broken, lease, tmp_path))
    person.sees("The file is damaged")
    person.sees("A folder can't be attached.")
    person.sees("15 words")
    person.asks(QUESTION)
    person.sees(ANSWER)
    person.sees_no_longer("The file is damaged")


def test_an_image_goes_to_a_model_that_sees_it_and_is_held_back_from_others(
    home: Home, open_window: Callable[[], Person], server: ChatServer
) -> None:
    home.create()
    save_settings(home.settings, replace(Settings(), endpoint=server.endpoint()))
    person = open_window()
    data = QMimeData()
    picture = QImage(3000, 200, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.red)
    data.setImageData(picture)
    paste(person, data)
    person.sees("Pasted image.png")
    person.asks("Which colour is it?")
    person.sees("Red.")
    person.waits_until(lambda: not page_of(person).is_answering)
    person.clicks("Pasted image.png · image")
    person.waits_until(lambda: any(v.isVisible() for v in person.window.findChildren(ImageView)))
    person.window.findChildren(ImageView)[0].close()
    server.dialect.sees_images = False
    person.asks("Really?")
    person.sees("test-model sees no images.")
    person.sees("Choose another model above the chat, or remove the image and ask again.")
    asked = len(server.chats)
    person.types("Question", "And now?")
    send = person.window.findChildren(QWidget, "sendButton")[0]
    person.waits_until(lambda: not send.isEnabled())
    person.clicks("Remove Pasted image.png")
    person.waits_until(send.isEnabled)
    assert len(server.chats) == asked
