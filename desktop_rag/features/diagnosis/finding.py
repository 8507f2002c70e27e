"""Findings, and the subject of a diagnosis. Worker threads."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from desktop_rag.app import Services
from desktop_rag.core.changes import Changes
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.library_events import Notice
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from desktop_rag.models.ports import OwnServer
from desktop_rag.models.system_keyring import KeyStore
from desktop_rag.registry import hooks
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.opening import open_engine_to_read


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


def from_error(check: str, error: AppError, state: State = State.PROBLEM) -> Finding:
    """The finding of an error."""
    return Finding(check, state, error.title, error.hint)


def lines_of(findings: list[Finding]) -> list[str]:
    """The findings as text, a line each: state, check, sentence and hint."""
    width = max((len(each.state) for each in findings), default=0)
    return [
        " ".join(part for part in (f"{f.state:{width}}  {f.check}:", f.title, f.hint) if part)
        for f in findings
    ]


@dataclass(frozen=True, slots=True)
class Subject:
    """An app, running or not. `library` is None when `fault` says why it can't be read.

    `models` is the folder of bundled models.
    """

    home: Home
    settings: Settings
    settings_notices: Sequence[Notice]
    library: Engine | None
    fault: AppError | None
    keys: KeyStore
    profile: Callable[[EndpointSettings], ModelProfile]
    own_server: OwnServer | None
    models: Path = resources_dir() / "models"


def subject_of(services: Services) -> Subject:
    """The subject of a diagnosis of the running app."""
    models, notices = services.chat.models, services.settings_notices
    return Subject(
        services.home, models.settings, notices, services.engine, None, services.keys,
        models.profile, models.own_server,
    )  # fmt: skip


@contextmanager
def closed_home(home: Home) -> Generator[Subject]:
    """The subject of a diagnosis of a home whose library is not open; nothing in it changes."""
    settings, notices = load_settings(home.settings)
    engine, fault = None, None
    try:
        engine = open_engine_to_read(home, settings)
    except AppError as error:
        fault = error
    book = ProfileBook(home.model_profiles)
    own = next((make(home, Changes(), book) for make in hooks("own_server").values()), None)
    try:
        yield Subject(
            home, settings, notices, engine, fault, KeyStore(),
            lambda endpoint: book.get(endpoint.base_url, endpoint.model), own,
        )  # fmt: skip
    finally:
        if own:
            own.close()
        if engine:
            engine.close()
