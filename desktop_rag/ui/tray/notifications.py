"""Notifications of the desktop: few, and only while the person looks elsewhere. Qt thread.

They hold no text of documents or chats: a desktop may show them on a locked screen.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from desktop_rag.core.conversation import Conversation
from desktop_rag.core.domain import Source, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import ProgressChanged, SourcesChanged, Stage
from desktop_rag.core.standing.standing_events import AnswerHasChanged

_TITLE = "desktop-rag"
_ANSWER = tr("Your answer is ready.")
_FAILED = tr("Something needs your attention.")
_CHANGED = tr("The answer to a scheduled question has changed.")
_INDEXED = tr("Your documents are indexed. You can ask about all of them.")


class Notifications(QObject):
    """`shown` carries a title and a text; `conversation_requested` the chat of a pressed one.

    `schedule_requested` carries the id of the scheduled question that a pressed one is about.
    """

    shown = Signal(str, str)
    conversation_requested = Signal(object)
    schedule_requested = Signal(str)
    window_requested = Signal()

    def __init__(self, is_wanted: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_wanted = is_wanted
        self._offline: frozenset[str] = frozenset()
        self._is_first_indexing = False
        self._answered: Conversation | None = None
        self._schedule_id = ""

    def begin(self, sources: Sequence[Source]) -> None:
        """Know the folders of the start: what was offline before is no news."""
        self._offline = _offline(sources)
        self._is_first_indexing = not sources

    @Slot(object)
    def on_posted(self, event: object) -> None:
        """Tell of the events that people want to know."""
        match event:
            case SourcesChanged(sources=sources):
                offline = _offline(sources)
                if offline - self._offline:
                    self._show(tr("A folder is offline. Its documents can't be updated."))
                self._offline = offline
            case ProgressChanged(progress=progress):
                is_done = progress.stage is Stage.IDLE and progress.files_total > 0
                if is_done and self._is_first_indexing:
                    self._is_first_indexing = False
                    self._show(_INDEXED)
            case AnswerHasChanged(question=question):
                self._show(_CHANGED, schedule_id=question.question_id)
            case AppError():
                self._show(_FAILED)
            case _:
                pass

    def on_answered(self, conversation: Conversation | None) -> None:
        """An answer is complete."""
        self._show(_ANSWER, conversation)

    @Slot()
    def on_pressed(self) -> None:
        """The person pressed the notification shown last."""
        if self._schedule_id:
            self.schedule_requested.emit(self._schedule_id)
        elif self._answered:
            self.conversation_requested.emit(self._answered)
        else:
            self.window_requested.emit()

    def _show(
        self, text: str, conversation: Conversation | None = None, schedule_id: str = ""
    ) -> None:
        if self._is_wanted() and QGuiApplication.focusWindow() is None:
            self._answered, self._schedule_id = conversation, schedule_id
            self.shown.emit(_TITLE, text)


def _offline(sources: Sequence[Source]) -> frozenset[str]:
    return frozenset(s.source_id for s in sources if s.state is SourceState.OFFLINE)
