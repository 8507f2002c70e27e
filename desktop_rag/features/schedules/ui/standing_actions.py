"""Makes, changes and deletes scheduled questions, and tells of changed answers. Qt thread."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.conversation import Message
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.features.schedules.ui.standing_dialog import StandingDialog, cost_in_words
from desktop_rag.features.schedules.values.standing_question import StandingQuestion
from desktop_rag.features.schedules.values.standing_run import (
    AnswerHasChanged,
    AskRegularlyRequested,
)
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.features.schedules.schedule_runner import ScheduleRunner
    from desktop_rag.features.schedules.standing_questions import StandingQuestions
    from desktop_rag.ingest.library import Library


class StandingActions(QObject):
    """`offered` carries a Notice, the words of its action and what that does.

    `page_requested` carries the id of the question to show. `library_requested` comes from a source
    whose document is gone.
    """

    offered = Signal(object, str, object)
    page_requested = Signal(str)
    library_requested = Signal()

    def __init__(
        self,
        bridge: Bridge,
        questions: "StandingQuestions",
        schedule: "ScheduleRunner",
        library: "Library",
        chat: "Chat",
        window: QWidget,
    ) -> None:
        """Dialogs open over the `window`."""
        super().__init__(window)
        self._bridge = bridge
        self.questions = questions
        self._schedule = schedule
        self._library = library
        self._chat = chat
        self._window = window
        bridge.hear(AskRegularlyRequested, self._on_requested)
        bridge.hear(AnswerHasChanged, self._on_answer_changed)

    @Slot()
    def create(self) -> None:
        """Let the person write and schedule a question."""
        self.edit(StandingQuestion("", "", ""))

    def edit(
        self, question: StandingQuestion, collection_id: str = "", known: Message | None = None
    ) -> None:
        """Let the person change a question, or make one that was asked in this collection."""

        def load() -> tuple[QuestionScope, list[QuestionScope], str]:
            collections = self._library.collections.searchable()
            asked = [c for c in collections if c.collection_id == collection_id]
            items = map(ScopeItem.of_collection, asked)
            chosen = question.scope if question.scope.is_limited else QuestionScope.of(*items)
            every = [
                *map(ScopeItem.of_collection, collections),
                *map(ScopeItem.of_source, self._library.sources.all()),
            ]
            cost = cost_in_words(*self._chat.background.model_name(question.assistant_id))
            return chosen, [QuestionScope.of(item) for item in every], cost

        def show(loaded: tuple[QuestionScope, list[QuestionScope], str]) -> None:
            chosen, scopes, cost = loaded
            dialog = StandingDialog(replace(question, scope=chosen), scopes, cost, self._window)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.submitted.connect(lambda written: self._save(dialog, written, known))
            dialog.open()

        self._bridge.run(self, load, show)

    def _save(
        self, dialog: StandingDialog, written: StandingQuestion, known: Message | None
    ) -> None:
        is_new = not written.question_id

        def save() -> StandingQuestion:
            if is_new:
                return self.questions.add(written, known)
            return self.questions.change(written)

        def finish(kept: StandingQuestion) -> None:
            dialog.accept()
            self._schedule.wake()
            if is_new:
                notice = Notice(tr("Scheduled: “{name}”.", name=one_line(kept.name)))
                self._offer_to_show(notice, kept.question_id)

        self._bridge.run(dialog, save, finish, dialog.show_error)

    def set_paused(self, question: StandingQuestion, *, is_paused: bool) -> None:
        """Pause the schedule of a question, or resume it."""
        self._change(lambda: self.questions.set_paused(question, is_paused=is_paused))

    def run_now(self, question: StandingQuestion) -> None:
        """Ask the question next."""
        self._schedule.run_soon(question.question_id)

    def delete(self, question: StandingQuestion) -> None:
        """Delete a question with its history, and offer to undo that."""
        question_id = question.question_id

        def restore() -> None:
            self._change(lambda: self.questions.restore(question_id))

        def offer(_nothing: object) -> None:
            notice = Notice(tr("Deleted “{name}”.", name=one_line(question.name)))
            self.offered.emit(notice, tr("Undo"), restore)

        self._bridge.run(self, lambda: self.questions.delete(question_id), offer)

    def _change(self, change: Callable[[], object]) -> None:
        self._bridge.run(self, change, lambda _nothing: self._schedule.wake())

    def _offer_to_show(self, notice: Notice, question_id: str) -> None:
        self.offered.emit(notice, tr("Show"), lambda: self.page_requested.emit(question_id))

    def _on_requested(self, event: AskRegularlyRequested) -> None:
        self.edit(event.question, event.collection_id, event.answer)

    def _on_answer_changed(self, event: AnswerHasChanged) -> None:
        name = one_line(event.question.name)
        notice = Notice(tr("The answer to “{name}” has changed.", name=name))
        self._offer_to_show(notice, event.question.question_id)
