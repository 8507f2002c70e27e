"""The state of the library as the tray shows it. Pure; any thread."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from desktop_rag.core.library_events import IndexProgress, Stage


class TrayState(StrEnum):
    """One picture each; the value is its name for screen readers."""

    NO_FOLDER = "no folder yet"
    UP_TO_DATE = "up to date"
    INDEXING = "indexing"
    PAUSED = "paused"
    FAILED = "something failed"


@dataclass(frozen=True, slots=True)
class TrayFacts:
    """What the tray knows: the progress, the folders, and the files that failed."""

    progress: IndexProgress = field(default_factory=IndexProgress)
    sources: int = 0
    offline: int = 0
    failed: int = 0
    has_error: bool = False

    def changed(self, **changes: Any) -> "TrayFacts":
        """These facts with some of them newer."""
        return replace(self, **changes)

    @property
    def state(self) -> TrayState:
        """The most urgent thing to tell.

        Files that can't be read are usual; only what needs the person counts as a failure.
        """
        if self.has_error or self.offline:
            return TrayState.FAILED
        if self.progress.stage is Stage.PAUSED:
            return TrayState.PAUSED
        if self.progress.stage is not Stage.IDLE:
            return TrayState.INDEXING
        return TrayState.UP_TO_DATE if self.sources else TrayState.NO_FOLDER
