"""Finds passages while a question is typed: by words at once, then by meaning. Qt thread.

One search runs at a time; what was typed meanwhile is searched next, so that fast typing never
queues up searches nobody waits for.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.errors import AppError
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.ui.foundation.bridge import Bridge, Job

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

MAX_PASSAGES = 6
_MIN_CHARS = 2
# After a pause as short as this the question is searched by meaning, too.
_PAUSE_MS = 40
_NOTHING: tuple[str, QuestionScope] = ("", ALL_DOCUMENTS)


class PassageSearch(QObject):
    """`found` carries the text that was searched and its passages, best first."""

    found = Signal(str, object)
    failed = Signal(object)

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._job: Job | None = None
        self._wanted = _NOTHING
        self._waiting: SearchMode | None = None
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._search_by_meaning)

    def search(self, text: str, scope: QuestionScope = ALL_DOCUMENTS) -> None:
        """Search for what is typed now; results for earlier texts no longer arrive."""
        text = text.strip()
        if (text, scope) == self._wanted:
            return
        self._wanted = (text, scope)
        self._pause.stop()
        if len(text) < _MIN_CHARS or scope.is_without_documents:
            self.stop()
            self.found.emit(text, ())
            return
        self._begin("lexical")
        self._pause.start()

    def stop(self) -> None:
        """Forget what was asked; nothing arrives any more."""
        self._pause.stop()
        self._waiting = None
        if self._job:
            self._job.cancel()
            self._job = None

    def clear(self) -> None:
        """Stop, and search the next text even if it is the same."""
        self.stop()
        self._wanted = _NOTHING

    @Slot()
    def _search_by_meaning(self) -> None:
        self._begin("hybrid")

    def _begin(self, mode: SearchMode) -> None:
        if self._job:
            self._waiting = mode
            return
        wanted = text, scope = self._wanted
        self._job = self._bridge.run(
            self,
            lambda: self._chat.search(
                text,
                mode=mode,
                limit=MAX_PASSAGES,
                scope=scope,
                is_half_typed=True,
            ),
            lambda passages: self._on_found(wanted, passages),
            self._on_failed,
        )

    def _on_found(self, wanted: tuple[str, QuestionScope], passages: Sequence[Passage]) -> None:
        self._job = None
        waiting, self._waiting = self._waiting, None
        if waiting:
            self._begin(waiting)
        if wanted == self._wanted:
            self.found.emit(wanted[0], passages)

    def _on_failed(self, error: AppError) -> None:
        """A half-typed filter is no error to show; the next letter is searched again."""
        self._job = None
        waiting, self._waiting = self._waiting, None
        if waiting:
            self._begin(waiting)
        else:
            self.failed.emit(error)
