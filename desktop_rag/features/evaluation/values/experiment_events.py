"""Events of sets of questions, runs and chunk trials. Frozen values."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class SetsChanged:
    """A set, a run or a judgement was added, changed or removed."""


@dataclass(frozen=True, slots=True)
class RunWentOn:
    """A run has another answer, or is `doing` something else; "" for asking."""

    run_id: str
    set_id: str
    answered: int
    total: int
    doing: str = ""


class TrialStage(StrEnum):
    """The state of a comparison of chunk settings."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChunkTrialChanged:
    """A comparison of chunk settings went on or ended; `done` of `total` steps of `doing`."""

    stage: TrialStage
    doing: str = ""
    done: int = 0
    total: int = 0
    error_title: str = ""
    error_hint: str = ""

    @property
    def is_under_way(self) -> bool:
        """True until it is done, was cancelled or failed."""
        return self.stage in {TrialStage.RUNNING, TrialStage.PAUSED}
