"""The state of the library as the tray and the quick ask show it. Pure; any thread."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from desktop_rag.core.library_events import IndexProgress, Stage


class LibraryState(StrEnum):
    """The states, each with its own icon; the value is the name for screen readers."""

    NO_FOLDER = "no folder yet"
    UP_TO_DATE = "up to date"
    INDEXING = "indexing"
    PAUSED = "paused"
    FAILED = "something failed"


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """The progress, the folders, and the files that failed.

    Indexing can be paused while there is nothing to index. `sources` is None until counted.
    """

    progress: IndexProgress = field(default_factory=IndexProgress)
    sources: int | None = None
    offline: int = 0
    failed: int = 0
    has_error: bool = False
    is_paused: bool = False

    def changed(self, **changes: Any) -> "LibraryFacts":
        """These facts with some of them replaced."""
        return replace(self, **changes)

    @property
    def state(self) -> LibraryState:
        """The most urgent state.

        Files that can't be read are usual; only what needs the person counts as a failure.
        """
        if self.has_error or self.offline:
            return LibraryState.FAILED
        if self.is_paused:
            return LibraryState.PAUSED
        if self.progress.stage not in (Stage.IDLE, Stage.STARTING):
            return LibraryState.INDEXING
        return LibraryState.NO_FOLDER if self.sources == 0 else LibraryState.UP_TO_DATE
