"""Keeps the index fast while nothing else is to be done. Owns one named thread."""

from collections.abc import Callable

from desktop_rag.core.errors import AppError
from desktop_rag.ingest.background.background_thread import BackgroundThread
from desktop_rag.store.contract.search import Upkeep


class PostingsMaintenance:
    """Lets the store tidy up once enough has changed."""

    def __init__(
        self,
        upkeep: Upkeep,
        may_run: Callable[[], bool],
        failed: Callable[[AppError], None],
    ) -> None:
        """`may_run` is true when all other work is done; `failed` gets the store's error."""
        self._upkeep = upkeep
        self._is_due = True
        self._background = BackgroundThread(
            "postings-maintenance",
            self._work,
            has_work=lambda: self._is_due,
            may_work=may_run,
            failed=failed,
        )

    def start(self) -> None:
        """Begin with what an earlier run left."""
        self._background.start()

    def close(self) -> None:
        """Wait for the work under way, which is not stored by halves."""
        self._background.close()

    def set_paused(self, is_paused: bool) -> None:
        """Begin nothing new, or go on."""
        self._background.set_paused(is_paused)

    def request(self) -> None:
        """All else is at rest: what was stored or removed may be tidied."""
        with self._background.condition:
            self._is_due = True
        self._background.wake()

    @property
    def is_idle(self) -> bool:
        """Nothing is known to be left to tidy."""
        return self._background.is_idle

    def _work(self) -> None:
        self._is_due = False
        if self._upkeep.is_due():
            self._upkeep.run()
