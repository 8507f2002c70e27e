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
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.engine import Storage
from desktop_rag.store.contract.inspection import Inspection
from desktop_rag.store.contract.server_watch import ServerWatch
from desktop_rag.store.contract.sources import SourceStore


@dataclass(frozen=True, slots=True)
class OpenLibrary:
    """The parts of an open library that are looked at; `server` is None when it is a file."""

    storage: Storage
    inspection: Inspection
    sources: SourceStore
    documents: DocumentStore
    server: ServerWatch | None = None


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
    """An app, running or not. `library` is None when `fault` says why it can't be read."""

    home: Home
    settings: Settings
    settings_notices: Sequence[Notice]
    library: OpenLibrary | None
    fault: AppError | None
    outside: Outside
