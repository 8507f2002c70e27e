"""Tells how far a comparison of chunks is, and holds it up or ends it. Any thread."""

import threading
from collections.abc import Callable

from desktop_rag.core.errors import Cancelled
from desktop_rag.features.evaluation.values.experiment_events import ChunkTrialChanged, TrialStage
from desktop_rag.ingest.library import Library

_LOOK_S = 0.2


class TrialControl(threading.Event):
    """Set once the work is to end."""

    def __init__(self, publish: Callable[[ChunkTrialChanged], None]) -> None:
        super().__init__()
        self._publish = publish
        self._paused = threading.Event()
        self.progress = ChunkTrialChanged(TrialStage.RUNNING)

    def tell(self, doing: str, done: int = 0, total: int = 0) -> None:
        """What is done now, and how far it is."""
        stage = TrialStage.PAUSED if self._paused.is_set() else TrialStage.RUNNING
        self.progress = ChunkTrialChanged(stage, doing, done, total)
        self._publish(self.progress)

    def end(self, stage: TrialStage, title: str = "", hint: str = "") -> None:
        """The work is done, was cancelled, or failed."""
        self.progress = ChunkTrialChanged(stage, error_title=title, error_hint=hint)
        self._publish(self.progress)

    def pause(self, *, is_wanted: bool) -> None:
        """Hold the work up after its present step, or let it go on."""
        if is_wanted:
            self._paused.set()
        else:
            self._paused.clear()
        before = self.progress
        self.tell(before.doing, before.done, before.total)

    def check(self, scratch: Library | None = None) -> None:
        """Wait while the work is paused, its indexing with it. Cancelled when it is to end."""
        if self._paused.is_set() and scratch:
            scratch.indexing.pause()
        while self._paused.is_set() and not self.wait(_LOOK_S):
            pass
        if self.is_set():
            raise Cancelled
        if scratch and scratch.indexing.is_paused:
            scratch.indexing.resume()
