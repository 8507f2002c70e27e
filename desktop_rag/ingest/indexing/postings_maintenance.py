"""Merges postings while the library is idle, to keep search fast. Owns one named thread."""

from collections.abc import Callable

from desktop_rag.core.errors import AppError
from desktop_rag.ingest.background.background_thread import BackgroundThread
from desktop_rag.store.contract.search import Upkeep


class PostingsMaintenance:
    """Runs the upkeep of the store once enough has changed."""

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
        """Wait for the current run, which is one transaction."""
        self._background.close()

    def set_paused(self, is_paused: bool) -> None:
        """Begin no new run, or resume."""
        self._background.set_paused(is_paused)

    def request(self) -> None:
        """All other work is done: run the upkeep if it is due."""
        with self._background.condition:
            self._is_due = True
        self._background.wake()

    @property
    def is_idle(self) -> bool:
        """True when no upkeep is known to be due."""
        return self._background.is_idle

    def _work(self) -> None:
        self._is_due = False
        if self._upkeep.is_due():
            self._upkeep.run()
