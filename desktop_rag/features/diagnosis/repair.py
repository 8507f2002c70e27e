"""Repairs of a library, and the request for one at the next start. Worker threads."""

import logging
from contextlib import closing
from dataclasses import dataclass

from desktop_rag.activity.event_files import EventFiles, EventLog
from desktop_rag.activity.recorder import Recorder
from desktop_rag.app import Services
from desktop_rag.core.domain import RepairReport
from desktop_rag.core.errors import AppError, NotReadableNowError, os_error_as
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.features.diagnosis.finding import Finding, State
from desktop_rag.store.contract.inspection import IndexRepair, NoLibraryError
from desktop_rag.store.opening import (
    open_engine,
    open_engine_to_read,
    repair_library,
    restore_library,
)

log = logging.getLogger(__name__)


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


def repair_open(services: Services) -> HomeRepair:
    """Repair the index of the open library and read the affected files again."""
    done = services.engine.inspection.repair()
    services.library.documents.read_waiting()
    return HomeRepair(None, 0, done)


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
