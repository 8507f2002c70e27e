"""Creates, changes and deletes scheduled questions, and reports changed answers. Qt thread."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.conversation import Message
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.features.schedules.ui.schedule_dialog import ScheduleDialog, cost_in_words
from desktop_rag.features.schedules.values.scheduled_question import ScheduledQuestion
from desktop_rag.ui.foundation.ask_request import UndoOffer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.features.schedules.schedule_runner import ScheduleRunner
    from desktop_rag.features.schedules.scheduled_questions import ScheduledQuestions
    from desktop_rag.ingest.library import Library


class ScheduleActions(QObject):
    """`offered` carries a Notice, the words of its action and the action itself.

    `page_requested` carries the id of the question to show.
    """

    offered = Signal(object, str, object)
    page_requested = Signal(str)

    def __init__(
        self,
        bridge: Bridge,
        questions: "ScheduledQuestions",
        runner: "ScheduleRunner",
        library: "Library",
        chat: "Chat",
        window: QWidget,
    ) -> None:
        """Dialogs open over the `window`."""
        super().__init__(window)
        self._bridge = bridge
        self.questions = questions
        self._runner = runner
        self._library = library
        self._chat = chat
        self._window = window

    @Slot()
    def create(self) -> None:
        """Let the person write and schedule a question."""
        self.edit(ScheduledQuestion("", "", ""))

    def edit(
        self, question: ScheduledQuestion, collection_id: str = "", known: Message | None = None
    ) -> None:
        """Let the person change a question, or schedule one that was asked in this collection."""

        def load() -> tuple[QuestionScope, list[QuestionScope], str]:
            collections = self._library.collections.searchable()
            asked = [c for c in collections if c.collection_id == collection_id]
            items = map(ScopeItem.of_collection, asked)
            chosen = question.scope if question.scope.is_limited else QuestionScope.of(*items)
            every = [
                *map(ScopeItem.of_collection, collections),
                *map(ScopeItem.of_source, self._library.sources.all()),
            ]
            cost = cost_in_words(self._chat.set_up(question.assistant_id).settings.endpoint)
            return chosen, [QuestionScope.of(item) for item in every], cost

        def show(loaded: tuple[QuestionScope, list[QuestionScope], str]) -> None:
            chosen, scopes, cost = loaded
            dialog = ScheduleDialog(replace(question, scope=chosen), scopes, cost, self._window)
            dialog.submitted.connect(lambda written: self._save(dialog, written, known))
            dialog.open()

        self._bridge.run(self, load, show)

    def _save(
        self, dialog: ScheduleDialog, written: ScheduledQuestion, known: Message | None
    ) -> None:
        is_new = not written.question_id

        def save() -> ScheduledQuestion:
            if is_new:
                return self.questions.add(written, known)
            return self.questions.change(written)

        def finish(kept: ScheduledQuestion) -> None:
            dialog.accept()
            self._runner.wake()
            if is_new:
                notice = Notice(tr("Scheduled: “{name}”.", name=one_line(kept.name)))
                self._offer_to_show(notice, kept.question_id)

        self._bridge.run(dialog, save, finish, dialog.show_error)

    def set_paused(self, question: ScheduledQuestion, *, is_paused: bool) -> None:
        """Pause the schedule of a question, or resume it."""
        self._change(lambda: self.questions.set_paused(question, is_paused=is_paused))

    def run_now(self, question: ScheduledQuestion) -> None:
        """Ask the question next."""
        self._runner.run_soon(question.question_id)

    def delete(self, question: ScheduledQuestion) -> None:
        """Delete a question with its history, and offer to undo that."""
        question_id = question.question_id

        def restore() -> None:
            self._change(lambda: self.questions.restore(question_id))

        def offer(_nothing: object) -> None:
            notice = Notice(tr("Deleted “{name}”.", name=one_line(question.name)))
            self._bridge.post(UndoOffer(notice, restore))

        self._bridge.run(self, lambda: self.questions.delete(question_id), offer)

    def _change(self, change: Callable[[], object]) -> None:
        self._bridge.run(self, change, lambda _nothing: self._runner.wake())

    def _offer_to_show(self, notice: Notice, question_id: str) -> None:
        self.offered.emit(notice, tr("Show"), lambda: self.page_requested.emit(question_id))

    def tell_of_change(self, question: ScheduledQuestion) -> None:
        """Show a notice that an answer has changed, and offer to show it."""
        name = one_line(question.name)
        notice = Notice(tr("The answer to “{name}” has changed.", name=name))
        self._offer_to_show(notice, question.question_id)
