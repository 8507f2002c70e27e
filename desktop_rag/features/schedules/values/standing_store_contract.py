"""Scheduled questions with their history; nothing else restores them. A protocol; any thread."""

from typing import Protocol

from desktop_rag.features.schedules.values.standing_question import ScheduleState, StandingQuestion
from desktop_rag.features.schedules.values.standing_run import StandingRun


class StandingStore(Protocol):
    """Questions by their id, and the runs of each. Each method is one transaction."""

    def all(self) -> list[tuple[StandingQuestion, ScheduleState]]:
        """Questions that are not hidden with their states, by name in lower case, then by id."""
        ...

    def put(self, question: StandingQuestion) -> None:
        """Store the question in place of one with the same id; its state and runs stay."""
        ...

    def set_state(self, question_id: str, state: ScheduleState) -> None:
        """Store the state of a question; nothing happens when there is none of this id."""
        ...

    def set_deleted(self, question_id: str, is_deleted: bool) -> None:
        """Hide the question, or undo that."""
        ...

    def purge_deleted(self) -> None:
        """Remove hidden questions with their runs permanently."""
        ...

    def add_run(self, run: StandingRun, most: int) -> bool:
        """Store a run; only the newest `most` of its question are kept.

        False when the question is gone; then nothing is stored.
        """
        ...

    def runs(self, question_id: str) -> list[StandingRun]:
        """The runs of a question, the last added first."""
        ...
