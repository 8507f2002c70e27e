"""Diagnosis, repair and facts of a home whose library may be closed. Worker threads."""

import logging
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager

from desktop_rag.activity.activity import Activity
from desktop_rag.activity.event_files import EventFiles, EventLog
from desktop_rag.activity.recorder import Recorder
from desktop_rag.app import Services, embedder_opener, parser_maker
from desktop_rag.core.changes import Changes
from desktop_rag.core.domain import RepairReport
from desktop_rag.core.errors import AppError, NotReadableNowError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.library_events import Notice
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import EndpointSettings, IndexSettings, Settings
from desktop_rag.diagnosis.finding import HomeRepair, Outside, RepairRequest, Subject
from desktop_rag.ingest.library import sandbox_report
from desktop_rag.models.endpoints.client.rate_limits import ProfileBook
from desktop_rag.models.endpoints.endpoint_check import probe_endpoint
from desktop_rag.models.ports import OwnServer
from desktop_rag.models.system_keyring import FilePasswords, KeyStore
from desktop_rag.registry import hooks
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.inspection import NoLibraryError
from desktop_rag.store.opening import (
    library_bytes,
    open_engine,
    open_engine_to_read,
    repair_library,
    restore_library,
)

log = logging.getLogger(__name__)


def subject_of(services: Services) -> Subject:
    """The subject of a diagnosis of the running app."""
    models = services.chat.models
    notices = services.settings_notices
    outside = _outside(models.settings.index, services.keys, models.profile, models.own_server)
    return Subject(services.home, models.settings, notices, services.engine, None, outside)


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
    outside = _outside(settings.index, KeyStore(), lambda e: book.get(e.base_url, e.model), own)
    try:
        yield Subject(home, settings, tuple(notices), engine, fault, outside)
    finally:
        if own:
            own.close()
        if engine:
            engine.close()


def open_engine_of(services: Services, home: Home, settings: Settings) -> Engine | None:
    """The engine of the library of this home and these settings if the services have it open."""
    is_same = services.home.root.resolve() == home.root.resolve()
    is_open = is_same and services.settings.store.engine == settings.store.engine
    return services.engine if is_open else None


def _outside(
    index: IndexSettings,
    keys: KeyStore,
    profile: Callable[[EndpointSettings], ModelProfile],
    own_server: OwnServer | None,
) -> Outside:
    return Outside(
        models=resources_dir() / "models",
        check_model=lambda: embedder_opener(keys).check(index.model_folder),
        sandbox_report=lambda: sandbox_report(parser_maker(index, FilePasswords())),
        check_endpoint=lambda endpoint, cancel: probe_endpoint(
            endpoint, keys.get(endpoint.base_url), cancel, own_server=own_server
        ),
        profile=profile,
        keyring=keys.keyring_name,
    )


def repair_home(home: Home) -> HomeRepair:
    """Repair a library that is not open: its file, its chats and folders, then its index.

    Rebuilt documents are read again when the app runs. AppError when it can't be opened or written.
    """
    settings, _ = load_settings(home.settings)
    report = None
    try:
        with closing(open_engine_to_read(home, settings)) as engine:
            engine.storage.verify()
            broken = engine.inspection.discrepancies(lambda: True)
        if any(each.is_precious for each in broken):
            restore_library(home, settings)
    except (NoLibraryError, NotReadableNowError) as error:
        log.info("the library was not read before the repair: %s", error.title)
    except AppError as error:
        report = repair_library(home, settings, error)
        if report is None:
            raise
        _record_repair(home, settings, report)
    with closing(open_engine(home, settings)) as engine:
        return HomeRepair(report, engine.restored, engine.inspection.repair())


def _record_repair(home: Home, settings: Settings, report: RepairReport) -> None:
    is_on = settings.activity.is_recorded
    with closing(Recorder(EventLog(EventFiles(home.activity)), is_on=is_on)) as recorder:
        hint = f"The damaged file was kept as {report.kept.name}."
        recorder.repair("The library was repaired.", hint)


def recorded_activity(home: Home) -> Activity:
    """The event log of a library that can't be opened: without feedback and titles of chats."""
    return Activity(EventLog(EventFiles(home.activity)), list, dict)


def repair_if_requested(home: Home) -> list[Notice]:
    """Repair the library before it is opened, if that was requested; returns the result."""
    request = RepairRequest(home)
    if not request.is_made:
        return []
    try:
        done = repair_home(home).finding()
        request.make(is_wanted=False)
    except AppError as error:
        return [Notice(error.title, error.hint)]
    return [Notice(done.title, done.hint)]


def library_size(home: Home) -> int:
    """The disk space in bytes that a closed library takes."""
    settings, _ = load_settings(home.settings)
    return library_bytes(home, settings)
