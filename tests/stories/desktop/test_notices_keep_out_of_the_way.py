"""A notice lies over the status line: nothing of the chat is covered or moved, and Esc ends it."""

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.chat.chat_page import ChatHeader
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.messages.message_view import MessageView
from tests.stories.conftest import Person

LONG = Notice("The chat was exported.", "/papers/Documents/a folder/with/parts/of/it.md")


def test_a_notice_covers_nothing_of_the_chat_and_goes_with_esc(person: Person) -> None:
    person.presses("Ctrl+1")
    chat = person.window.chat_page
    parts = [p for k in (ChatHeader, MessageView, Composer) for p in chat.findChildren(k)]
    before = [_place(part, person) for part in parts]
    notices = person.window.notices
    for size in ((1366, 768), (900, 600)):
        person.window.resize(*size)
        person.window.notices.show_done(LONG)
        person.sees("The chat was exported. /papers")
        person.waits_until(lambda: notices.height() <= person.window.status.height() + 14)
        for part in parts:
            assert not _place(part, person).intersects(_place(notices, person)), part
        person.presses("Esc")
        person.sees_no_longer("The chat was exported.")
    person.window.resize(1200, 800)
    person.waits_until(lambda: [_place(part, person) for part in parts] == before)


def test_esc_ends_one_notice_after_the_other_on_each_page(person: Person) -> None:
    for page in ("Ctrl+1", "Ctrl+2", "Ctrl+3"):
        person.presses(page)
        person.window.notices.show_error(AppError("The disk is full.", "Free some space."))
        person.window.notices.show_notice(Notice("Offline."))
        person.presses("Esc")
        person.sees_no_longer("Offline.")
        person.sees("The disk is full. Free some space.")
        person.presses("Esc")
        person.sees_no_longer("The disk is full.")


def _place(part: QWidget, person: Person) -> QRect:
    """Where a part lies in the window."""
    return QRect(part.mapTo(person.window, part.rect().topLeft()), part.size())
