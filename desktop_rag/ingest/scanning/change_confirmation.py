"""Delays changes that may be temporary until a second scan confirms them.

Editors delete a file and write it again, copies grow for a while, and a whole tree may vanish by
mistake. Runs on the scanner's thread.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_rag.ingest.scanning.disk_walk import FoundFile, is_covered
from desktop_rag.ingest.scanning.recheck_schedule import RecheckTimes
from desktop_rag.ingest.scanning.reconcile import Changes, KnownFile


@dataclass(frozen=True, slots=True)
class ConfirmedChanges:
    """The changes to store. `gone` files vanished with many others and are kept for a while."""

    changes: Changes
    gone: tuple[KnownFile, ...] = ()


class ChangeConfirmation:
    """Tracks the missing files of each source until they have been missing for long enough."""

    def __init__(
        self,
        recheck: Callable[[str, Path, float], None],
        times: RecheckTimes,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`recheck(source_id, place, in_s)` schedules a second scan of a place."""
        self._recheck = recheck
        self._times = times
        self._clock = clock
        self._wall_clock = wall_clock
        # By source and document: the location of a file, and when it was first missing.
        self._missing: dict[str, dict[str, tuple[str, float]]] = {}

    def confirm(
        self,
        source_id: str,
        changes: Changes,
        known: Collection[KnownFile],
        parts: frozenset[Path] | None = None,
    ) -> ConfirmedChanges:
        """The changes to store after a scan of the whole source, or of these parts of it.

        `known` are all files of the source in the store.
        """
        absent = [file for file in changes.vanished if not file.gone_at]
        self._found_again(source_id, absent, parts)
        missing = [file for file in absent if self._is_confirmed_missing(source_id, file)]
        is_many = self._are_many(source_id, len(missing), known)
        now = self._wall_clock()
        outlived = [
            file for file in changes.vanished
            if file.gone_at and now - file.gone_at >= self._times.keep_gone_s
        ]  # fmt: skip
        confirmed = replace(
            changes,
            new=tuple(file for file in changes.new if self._has_settled(source_id, file)),
            changed=tuple(m for m in changes.changed if self._has_settled(source_id, m.found)),
            vanished=tuple(outlived if is_many else (*outlived, *missing)),
        )
        return ConfirmedChanges(confirmed, tuple(missing) if is_many else ())

    def forget(self, source_id: str) -> None:
        """The source was removed."""
        self._missing.pop(source_id, None)

    def _found_again(
        self, source_id: str, absent: list[KnownFile], parts: frozenset[Path] | None
    ) -> None:
        """Stop tracking files that this scan found again."""
        tracked = self._missing.get(source_id)
        if not tracked:
            return
        still = {file.document_id for file in absent}
        places = None if parts is None else {str(part) for part in parts}
        for document_id, (location, _) in list(tracked.items()):
            if document_id not in still and (places is None or is_covered(location, places)):
                del tracked[document_id]

    def _is_confirmed_missing(self, source_id: str, file: KnownFile) -> bool:
        """True when a file has been missing for long enough; if not, a recheck is scheduled."""
        tracked = self._missing.setdefault(source_id, {})
        now = self._clock()
        _, first = tracked.setdefault(file.document_id, (file.location, now))
        left_s = first + self._times.missing_s - now
        if left_s > 0:
            self._recheck(source_id, Path(file.location), left_s)
            return False
        del tracked[file.document_id]
        return True

    def _are_many(self, source_id: str, missing: int, known: Collection[KnownFile]) -> bool:
        """True when too many files vanished, with those tracked or kept already, to remove them."""
        waiting = len(self._missing.get(source_id, ()))
        kept = sum(1 for file in known if file.gone_at)
        times = self._times
        return missing + waiting + kept > max(times.many_files, times.many_share * len(known))

    def _has_settled(self, source_id: str, file: FoundFile) -> bool:
        """True when a file did not change just now; if it did, a recheck is scheduled.

        A modification time in the future is ignored.
        """
        age_s = self._wall_clock() - file.mtime_ns / 1e9
        if file.reason or not 0 <= age_s < self._times.settle_s:
            return True
        self._recheck(source_id, file.path, self._times.settle_s - age_s)
        return False
