"""Findings, and the subject of a diagnosis, built by the composition root. Pure values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.store.contract.engine import Engine


class State(StrEnum):
    """The result of a check. Warnings and problems need attention."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check: one sentence, and a hint with the remedy.

    `is_repairable` is True when a repair of the library can mend it.
    """

    check: str
    state: State
    title: str
    hint: str = ""
    is_repairable: bool = False

    @property
    def needs_attention(self) -> bool:
        """True for a warning and a problem."""
        return self.state in (State.WARNING, State.PROBLEM)

    def to_json(self) -> dict[str, Any]:
        """The keys of `doctor --json`."""
        return {
            "check": self.check,
            "state": self.state.value,
            "ok": not self.needs_attention,
            "title": self.title,
            "hint": self.hint,
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Finding":
        """The inverse of `to_json`, for rows of the running app."""
        return cls(row["check"], State(row["state"]), row["title"], row["hint"])


class Report(Protocol):
    """The result of a check that another room makes."""

    @property
    def is_ok(self) -> bool:
        """False when something is wrong."""
        ...

    @property
    def title(self) -> str:
        """One sentence."""
        ...

    @property
    def hint(self) -> str:
        """A remedy or an explanation; may be empty."""
        ...


def from_report(check: str, report: Report) -> Finding:
    """The finding of a report: ok or a problem."""
    return Finding(check, State.OK if report.is_ok else State.PROBLEM, report.title, report.hint)


def from_error(check: str, error: AppError, state: State = State.PROBLEM) -> Finding:
    """The finding of an error."""
    return Finding(check, state, error.title, error.hint)


def from_sentence(check: str, look: Callable[[], str]) -> Finding:
    """The finding of a function that confirms in a sentence or raises AppError."""
    try:
        return Finding(check, State.OK, look())
    except AppError as error:
        return from_error(check, error)


def lines_of(findings: list[Finding]) -> list[str]:
    """The findings as text, a line each: state, check, sentence and hint."""
    width = max((len(each.state) for each in findings), default=0)
    return [
        " ".join(part for part in (f"{f.state:{width}}  {f.check}:", f.title, f.hint) if part)
        for f in findings
    ]


@dataclass(frozen=True, slots=True)
class Outside:
    """What is checked outside the library; none of these functions changes a file.

    `models` is the folder of bundled models. `keyring` returns the name of the keyring in use,
    empty without one.
    """

    models: Path
    check_model: Callable[[], str]
    sandbox_report: Callable[[], Report]
    check_endpoint: Callable[[EndpointSettings, Event], Report]
    profile: Callable[[EndpointSettings], ModelProfile]
    keyring: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Subject:
    """An app, running or not. `library` is None when `fault` says why it can't be read."""

    home: Home
    settings: Settings
    settings_notices: Sequence[Notice]
    library: Engine | None
    fault: AppError | None
    outside: Outside
