"""Daily snapshots: a backup of everything on each day with a change, seven kept. Worker threads.

They are ordered by a number and not by their day, since the clock may jump.
"""

import logging
import re
import threading
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import close_to_others
from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import Home
from desktop_rag.features.backup.archive_reader import DamagedBackupError, opened_archive
from desktop_rag.features.backup.backups import Backups, has_news_of_features, remove_scratch
from desktop_rag.features.backup.home_files import has_news, remove_unfinished
from desktop_rag.features.backup.manifest import ENDING, Imported, Snapshot, day_in_words, in_words
from desktop_rag.store.contract.precious import PreciousChanged, PreciousStore

log = logging.getLogger(__name__)

KEPT = 7
# The most that are kept while the clock keeps jumping.
_MOST = 3 * KEPT
_LONGEST_STEP_DAYS = 31
# A full disk is tried again after this long.
_PAUSE_S = 600.0
_NAME = re.compile(rf"(\d{{6,12}})-(\d{{4}}-\d\d-\d\d){re.escape(ENDING)}")


def snapshots_in(folder: Path) -> list[Snapshot]:
    """All snapshots in a folder, the newest first."""
    found = [
        Snapshot(int(name[1]), name[2], file, file.stat().st_size)
        for file in folder.glob(f"*{ENDING}")
        if (name := _NAME.fullmatch(file.name))
    ]
    return sorted(found, key=lambda snapshot: snapshot.number, reverse=True)


class Snapshots:
    """The folder of snapshots, and the thread that adds to it."""

    def __init__(
        self,
        home: Home,
        backups: Backups,
        store: PreciousStore,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._home = home
        self._backups = backups
        self._store = store
        self._clock = clock
        self._checked_day = ""
        self._failed_at: float | None = None
        self._told = ""
        self._notify: Callable[[Notice], None] = lambda _: None
        self._is_due = threading.Event()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    # --- the folder --------------------------------------------------------------------------

    def all(self) -> list[Snapshot]:
        """All snapshots, the newest first."""
        return snapshots_in(self._home.snapshots)

    def find(self, wanted: str) -> Snapshot:
        """The newest snapshot of a day such as 2026-11-23, or the one of a number; AppError."""
        for snapshot in self.all():
            if wanted in {snapshot.day, str(snapshot.number)}:
                return snapshot
        days = ", ".join(snapshot.day for snapshot in self.all()) or "none yet"
        raise AppError(f"There is no snapshot “{wanted}”.", f"Snapshots: {days}.")

    def make(self) -> Snapshot | None:
        """Make a snapshot, None if nothing is new. AppError when the disk refuses; others stay."""
        today = _day_of(self._clock())
        folder = self._home.snapshots
        with os_error_as("No snapshot can be made.", folder):
            kept = self.all()
            if not self._store.change_number() or (kept and not self._is_new(kept[0])):
                return None
            folder.mkdir(mode=0o700, exist_ok=True)
            close_to_others(folder)
            remove_unfinished(folder)
            number = kept[0].number + 1 if kept else 1
            file = folder / f"{number:06d}-{today}{ENDING}"
            self._backups.export(file, is_checked=False)
            made = Snapshot(number, today, file, file.stat().st_size)
            self._remove_old(made, kept)
        return made

    def restore_lost(self) -> list[Notice]:
        """Fill a library that never had anything from the newest readable snapshot.

        For the start, before anything uses the library. The notices tell what came back or failed.
        """
        notices: list[Notice] = []
        if self._store.change_number():
            return notices
        for snapshot in self.all():
            try:
                restored = self._backups.import_file(snapshot.file, leaves_out_wrong=True)
            except AppError as error:
                log.info("snapshot %d was passed over: %s", snapshot.number, error.title)
                title = f"The snapshot of {day_in_words(snapshot.day)} was passed over."
                notices.append(Notice(title, str(error)))
                continue
            return [_restored_notice(snapshot, restored), *notices]
        return notices

    def _is_new(self, last: Snapshot) -> bool:
        """True when something changed since, on another day."""
        if last.day == _day_of(self._clock()):
            return False
        try:
            with opened_archive(last.file, self._store.schema) as archive:
                is_other = archive.manifest.change_number != self._store.change_number()
                has_texts = has_news(archive, self._home)
                return is_other or has_texts or has_news_of_features(archive, self._home)
        except DamagedBackupError:
            return True

    def _remove_old(self, made: Snapshot, before: list[Snapshot]) -> None:
        """Remove the oldest; none by a day that a jump of the clock led to."""
        step = (
            (date.fromisoformat(made.day) - date.fromisoformat(before[0].day)).days if before else 1
        )
        most = KEPT if 0 < step <= _LONGEST_STEP_DAYS else _MOST
        for old in [made, *before][most:]:
            old.file.unlink(missing_ok=True)

    # --- the thread --------------------------------------------------------------------------

    def start(self, notify: Callable[[Notice], None]) -> None:
        """Make a snapshot if one is due, now and at the first change of each day. Call it once.

        `notify` gets a Notice when that fails, once for each reason, on the thread of snapshots.
        """
        self._notify = notify
        remove_scratch(self._home)
        self._store.changes.hear(PreciousChanged, self._on_change)
        self._thread = threading.Thread(target=self._run, name="snapshots", daemon=True)
        self._thread.start()
        self._is_due.set()

    def close(self) -> None:
        """Finish the snapshot that is being made, and end. Idempotent."""
        self._is_closed = True
        self._is_due.set()
        if self._thread:
            self._thread.join()

    def _on_change(self, _event: PreciousChanged) -> None:
        """On the writing thread: only compares days."""
        now = self._clock()
        if _day_of(now) != self._checked_day and not self._is_pausing(now):
            self._is_due.set()

    def _is_pausing(self, now: float) -> bool:
        # Earlier than the failure: the clock was set back.
        return self._failed_at is not None and 0 <= now - self._failed_at < _PAUSE_S

    def _run(self) -> None:
        while True:
            self._is_due.wait()
            self._is_due.clear()
            if self._is_closed:
                return
            day = _day_of(self._clock())
            try:
                self.make()
                kept = self.all()
                # Without one there was nothing new; the first change makes it.
                self._checked_day = day if kept and kept[0].day == day else ""
                self._failed_at = None
            except AppError as error:
                self._failed_at = self._clock()
                log.info("no snapshot: %s", error.title)
                if error.hint != self._told and not self._is_closed:
                    self._told = error.hint
                    self._notify(Notice("The daily snapshot could not be made.", error.hint))


def _restored_notice(snapshot: Snapshot, restored: Imported) -> Notice:
    return Notice(
        f"The library was gone and was restored from the snapshot of {day_in_words(snapshot.day)}.",
        f"Back are {in_words(restored.contents.counts)}. Your folders are read again.",
    )


def _day_of(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))
