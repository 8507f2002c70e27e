"""What of a look at a source is believed at once, and what only after a second look.

Editors delete a file and write it anew, copies grow for a while, and a whole tree may vanish by
mistake. Runs on the scanner's thread; the clocks are given, so tests need not wait.
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
    """The changes to store. `gone` vanished with many others: they are kept for a while."""

    changes: Changes
    gone: tuple[KnownFile, ...] = ()


class ChangeConfirmation:
    """Remembers what was missed, by source, until it is missed for long enough."""

    def __init__(
        self,
        expect: Callable[[str, Path, float], None],
        times: RecheckTimes,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`expect(source_id, place, in_s)` asks for a second look at a place."""
        self._expect = expect
        self._times = times
        self._clock = clock
        self._wall_clock = wall_clock
        # By source and document: where a file was, and when it was missed first.
        self._missed: dict[str, dict[str, tuple[str, float]]] = {}

    def judge(
        self,
        source_id: str,
        changes: Changes,
        known: Collection[KnownFile],
        parts: frozenset[Path] | None = None,
    ) -> ConfirmedChanges:
        """What to store of a look at the whole source, or at these parts of it.

        `known` is all that the store knows of the source.
        """
        absent = [file for file in changes.vanished if not file.gone_at]
        self._found_again(source_id, absent, parts)
        missing = [file for file in absent if self._is_missed(source_id, file)]
        is_many = self._are_many(source_id, len(missing), known)
        now = self._wall_clock()
        outlived = [
            file for file in changes.vanished
            if file.gone_at and now - file.gone_at >= self._times.keep_gone_s
        ]  # fmt: skip
        believed = replace(
            changes,
            new=tuple(file for file in changes.new if self._has_settled(source_id, file)),
            changed=tuple(m for m in changes.changed if self._has_settled(source_id, m.found)),
            vanished=tuple(outlived if is_many else (*outlived, *missing)),
        )
        return ConfirmedChanges(believed, tuple(missing) if is_many else ())

    def forget(self, source_id: str) -> None:
        """The source was removed."""
        self._missed.pop(source_id, None)

    def _found_again(
        self, source_id: str, absent: list[KnownFile], parts: frozenset[Path] | None
    ) -> None:
        """Forget that files were missed which this look did not miss."""
        missed = self._missed.get(source_id)
        if not missed:
            return
        still = {file.document_id for file in absent}
        places = None if parts is None else {str(part) for part in parts}
        for document_id, (location, _) in list(missed.items()):
            if document_id not in still and (places is None or is_covered(location, places)):
                del missed[document_id]

    def _is_missed(self, source_id: str, file: KnownFile) -> bool:
        """Whether a file has been missing for long enough; if not, it is looked for again."""
        missed = self._missed.setdefault(source_id, {})
        now = self._clock()
        _, first = missed.setdefault(file.document_id, (file.location, now))
        left_s = first + self._times.missing_s - now
        if left_s > 0:
            self._expect(source_id, Path(file.location), left_s)
            return False
        del missed[file.document_id]
        return True

    def _are_many(self, source_id: str, missing: int, known: Collection[KnownFile]) -> bool:
        """Whether too many vanished to be believed, with those that are missed or kept already."""
        waiting = len(self._missed.get(source_id, ()))
        kept = sum(1 for file in known if file.gone_at)
        times = self._times
        return missing + waiting + kept > max(times.many_files, times.many_share * len(known))

    def _has_settled(self, source_id: str, file: FoundFile) -> bool:
        """Whether a file was left alone for a moment; if not, it is looked at again.

        A time in the future tells nothing of how long ago that was.
        """
        age_s = self._wall_clock() - file.mtime_ns / 1e9
        if file.reason or not 0 <= age_s < self._times.settle_s:
            return True
        self._expect(source_id, file.path, self._times.settle_s - age_s)
        return False
