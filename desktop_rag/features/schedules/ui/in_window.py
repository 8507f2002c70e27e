"""Schedules and notes in the window: views, “Ask this regularly” and notifications. Qt thread.

The modules of the pages are imported when these are first shown.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from desktop_rag.core.conversation import Message, MessageState
from desktop_rag.core.language.translation import tr
from desktop_rag.features.schedules.services import ScheduleServices
from desktop_rag.features.schedules.values.scheduled_question import (
    AnswerHasChanged,
    ScheduledQuestion,
)
from desktop_rag.ui.window.window_pages import CHAT

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from desktop_rag.features.schedules.ui.schedule_actions import ScheduleActions
    from desktop_rag.window_app import WindowApp

_SCHEDULES = tr("Scheduled questions")
_ASK = tr("Ask this regularly…")
_CHANGED = tr("The answer to a scheduled question has changed.")


def join(app: "WindowApp") -> None:
    """Add the views, and listen for changed answers."""
    parts = _Parts(app)
    app.window.pages.add_below_chats(_SCHEDULES, parts.schedules_page)
    app.window.pages.add_library_view(tr("My notes"), parts.notes_page)


class _Parts(QObject):
    def __init__(self, app: "WindowApp") -> None:
        super().__init__(app.window)
        self._app = app
        app.window.pages.built.connect(self._on_built)
        app.presence.popup_built.connect(lambda popup: popup.answer.offer(_ASK))
        app.bridge.hear(AnswerHasChanged, self._on_answer_changed)

    @cached_property
    def _services(self) -> ScheduleServices:
        return self._app.services.wing(ScheduleServices)

    @cached_property
    def _actions(self) -> "ScheduleActions":
        from desktop_rag.features.schedules.ui.schedule_actions import ScheduleActions

        app, services = self._app, self._services
        actions = ScheduleActions(
            app.bridge, services.questions, services.runner, app.services.library,
            app.services.chat, app.window,
        )  # fmt: skip
        actions.offered.connect(app.window.notices.offer)
        actions.page_requested.connect(self._show)
        return actions

    def schedules_page(self) -> "QWidget":
        """The scheduled questions and their answers."""
        from desktop_rag.features.schedules.ui.schedule_reading import ScheduleReading

        app = self._app
        return ScheduleReading(app.bridge, self._actions, app.services.library, app.theme)

    def notes_page(self) -> "QWidget":
        """The notes from the library."""
        from desktop_rag.features.schedules.ui.notes_page import NotesPage

        app, services = self._app, self._app.services
        return NotesPage(
            app.bridge, self._services.notes, services.library, services.chat, app.theme
        )

    @Slot(str)
    def _show(self, question_id: str) -> None:
        from desktop_rag.features.schedules.ui.schedule_reading import ScheduleReading

        self._app.window.raise_window()
        self._app.window.show_page(CHAT)
        page = self._app.window.chat_page.show_below_chats(_SCHEDULES)
        if isinstance(page, ScheduleReading):
            page.choose(question_id)

    @Slot(int)
    def _on_built(self, position: int) -> None:
        if position == CHAT:
            messages = self._app.window.chat_page.messages
            messages.offer(_ASK)
            messages.offered_requested.connect(self._ask_regularly)

    @Slot(object, object)
    def _ask_regularly(self, question: Message, answer: Message) -> None:
        """Let the person schedule a question; a complete answer is its first one."""
        session = self._app.window.chat_page.sessions.current
        asked = ScheduledQuestion(
            "", "", question.text, scope=question.scope, assistant_id=session.assistant_id
        )
        chat = session.conversation
        known = answer if answer.state is MessageState.DONE else None
        self._actions.edit(asked, chat.collection_id if chat else "", known)

    def _on_answer_changed(self, event: AnswerHasChanged) -> None:
        question_id = event.question.question_id
        self._actions.tell_of_change(event.question)
        self._app.presence.notifications.tell(_CHANGED, lambda: self._show(question_id))
