"""Finds passages while a question is typed: by words at once, then by meaning. Qt thread.

One search of each kind runs at a time; the text typed meanwhile is searched next, so that fast
typing never queues up searches. Words don't wait for meaning, whose search often takes longer than
the next letter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import EVERYTHING, SearchScope
from desktop_rag.ui.foundation.bridge import Bridge, Job

# Makes what is shown from the text and its passages.
Prepare = Callable[[str, Sequence[Passage]], object]
_MIN_CHARS = 2
# After this pause the question is also searched by meaning.
_PAUSE_MS = 40
_NOTHING: tuple[str, SearchScope] = ("", EVERYTHING)


@dataclass(slots=True)
class _Lane:
    """The running search of one kind, and whether newer text has to be searched next."""

    job: Job | None = None
    is_wanted_again: bool = False


class PassageSearch(QObject):
    """`found` carries the searched text and its passages, best first; () for too little text."""

    found = Signal(str, object)
    failed = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        chat: Chat,
        most: int,
        parent: QObject | None = None,
        prepare: Prepare | None = None,
    ) -> None:
        """`most` is the maximum number of passages.

        `prepare` makes what `found` carries from the text and its passages, on a worker thread.
        """
        super().__init__(parent)
        self._most = most
        self._prepare: Prepare = prepare or (lambda _text, passages: passages)
        self._bridge = bridge
        self._chat = chat
        self._lanes: dict[SearchMode, _Lane] = {"lexical": _Lane(), "hybrid": _Lane()}
        self._wanted = self._found = _NOTHING
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(lambda: self._begin("hybrid"))

    def search(self, text: str, reach: SearchScope = EVERYTHING) -> None:
        """Search for the typed text; results for earlier texts no longer arrive.

        Without words, the newest documents within the limits of `reach` are found.
        """
        text = text.strip()
        if (text, reach) == self._wanted:
            return
        self._wanted, self._found = (text, reach), _NOTHING
        self._pause.stop()
        if len(text) < _MIN_CHARS and (text or reach == EVERYTHING):
            self.stop()
            self.found.emit(text, ())
            return
        self._begin("lexical")
        self._pause.start()

    @property
    def is_settled(self) -> bool:
        """True if no more results are to come."""
        return not self._pause.isActive() and all(lane.job is None for lane in self._lanes.values())

    def stop(self) -> None:
        """Cancel the search; no results arrive any more."""
        self._pause.stop()
        for lane in self._lanes.values():
            lane.is_wanted_again = False
            if lane.job:
                lane.job.cancel()
                lane.job = None

    def clear(self) -> None:
        """Stop, and search the next text even if it is the same."""
        self.stop()
        self._wanted = self._found = _NOTHING

    def _begin(self, mode: SearchMode) -> None:
        lane = self._lanes[mode]
        if lane.job:
            lane.is_wanted_again = True
            return
        wanted = text, reach = self._wanted

        def search() -> object:
            passages = self._chat.search(
                text, mode=mode, limit=self._most, reach=reach, is_half_typed=True
            )
            return self._prepare(text, passages)

        lane.job = self._bridge.run(
            self,
            search,
            lambda found: self._on_found(mode, wanted, found),
            lambda error: self._on_failed(mode, error),
        )

    def _on_found(self, mode: SearchMode, wanted: tuple[str, SearchScope], found: object) -> None:
        self._end(mode)
        # Results by meaning are better than later ones by words.
        if wanted == self._wanted and (mode == "hybrid" or wanted != self._found):
            if mode == "hybrid":
                self._found = wanted
            self.found.emit(wanted[0], found)

    def _on_failed(self, mode: SearchMode, error: AppError) -> None:
        """Report an error, unless newer text is searched next."""
        if not self._end(mode):
            self.failed.emit(error)

    def _end(self, mode: SearchMode) -> bool:
        """End a search; True if the next one begins."""
        lane = self._lanes[mode]
        lane.job = None
        is_next, lane.is_wanted_again = lane.is_wanted_again, False
        if is_next:
            self._begin(mode)
        return is_next
