"""Events of runs. Frozen values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExperimentEvent:
    """What happened to sets of questions or their runs."""


@dataclass(frozen=True, slots=True)
class SetsChanged(ExperimentEvent):
    """A set, a run or a judgement was added, changed or removed."""


@dataclass(frozen=True, slots=True)
class RunWentOn(ExperimentEvent):
    """A run has another answer, or does something else: `doing` says what, "" for asking."""

    run_id: str
    set_id: str
    answered: int
    total: int
    doing: str = ""
