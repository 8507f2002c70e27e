"""Findings, the subject of a diagnosis, built by the composition root, and repairs. Pure values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from desktop_rag.core.domain import RepairReport
from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.library_events import Notice
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.inspection import IndexRepair


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


@dataclass(frozen=True, slots=True)
class HomeRepair:
    """What a repair did: `report` on a damaged file, entries `restored` from the journal."""

    report: RepairReport | None
    restored: int
    index: IndexRepair

    def finding(self) -> Finding:
        """The finding that reports the repair."""
        told = [*self._of_file(), *self._of_content()]
        title = "The library was repaired." if told else "There was nothing to repair."
        return Finding("repair", State.OK, title, " ".join(told))

    def _of_file(self) -> list[str]:
        if self.report is None:
            return []
        told = [f"The damaged file was kept as {self.report.kept}."]
        if self.report.has_index:
            told.append("Its index was kept too.")
        else:
            told.append("Your folders are read again when the app runs.")
        if self.report.lost_rows:
            told.append(f"{self.report.lost_rows:,} rows of it could not be read.")
        return told

    def _of_content(self) -> list[str]:
        told = (
            f"Entries restored from the journal: {self.restored:,}." if self.restored else "",
            f"Parts of the index without a document, removed: {self.index.removed:,}."
            if self.index.removed else "",
            f"Documents to be read again when the app runs: {self.index.read_again:,}."
            if self.index.read_again else "",
        )  # fmt: skip
        return [*filter(None, told)]


class RepairRequest:
    """A file in the home that requests a repair at the next start; an open library can't be."""

    def __init__(self, home: Home) -> None:
        self._path = home.repair_request

    @property
    def is_made(self) -> bool:
        """True when the next start repairs the library."""
        return self._path.exists()

    def make(self, *, is_wanted: bool) -> None:
        """Request a repair, or withdraw the request; AppError when the disk refuses."""
        with os_error_as("The repair could not be arranged.", self._path):
            if is_wanted:
                self._path.touch(mode=0o600)
            else:
                self._path.unlink(missing_ok=True)
