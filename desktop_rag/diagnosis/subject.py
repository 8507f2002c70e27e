"""What is examined. Built by the composition root, over the running app or a closed home."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.diagnosis.finding import Report
from desktop_rag.store.contract.engine import Engine


@dataclass(frozen=True, slots=True)
class Outside:
    """What is looked at outside the library; none of these functions changes a file.

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
    """An app, running or not. `engine` is None when `fault` says why the library can't be read."""

    home: Home
    settings: Settings
    settings_notices: Sequence[Notice]
    engine: Engine | None
    fault: AppError | None
    outside: Outside
