"""Compares sources with the disk and stores what changed. Owns one named thread.

A scan decides what changed; events only say where to scan. The scan at the start is the same.
"""

import logging
import os
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event

from desktop_rag.core.domain import EXCLUDED, Document, DocumentState, Source
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.files.file_state import hash_of
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.pictures import waiting_words
from desktop_rag.ingest.background.background_thread import (
    BackgroundPart,
    BackgroundThread,
    PipelineCallbacks,
    Ticker,
)
from desktop_rag.ingest.indexing.indexer import Indexer
from desktop_rag.ingest.scanning import disk_walk
from desktop_rag.ingest.scanning.disk_walk import FoundFile, RootOffline, is_covered
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.scanning.reconcile import Changes, KnownFile, Match, is_same, rescan
from desktop_rag.store.contract.documents import DocumentStore, ReadRow
from desktop_rag.store.contract.sources import SourceStore

log = logging.getLogger(__name__)

_TICK_S = 0.5
# The longest rest between two looks, as the clock may stand while a computer sleeps.
_REST_S = 60.0


@dataclass(frozen=True, slots=True)
class RecheckTimes:
    """Times before a missing file is removed, a changed file is read, and a gone one is dropped.

    When more than `many_share` of a source's files (and more than `many_files`) vanish at once,
    they are kept for `keep_gone_s`, in case that was a mistake.
    """

    missing_s: float = 5.0
    settle_s: float = 1.0
    keep_gone_s: float = 24 * 3600.0
    many_share: float = 0.2
    many_files: int = 10


class RecheckSchedule:
    """Places waiting for their second scan, by source. Any thread.

    An editor may delete a file and write it again, and a file may still be growing: neither is
    stored before a second scan.
    """

    def __init__(
        self,
        scan: Callable[[str, frozenset[Path]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`scan(source_id, places)` is called on a thread of its own when places are due."""
        self._scan = scan
        self._clock = clock
        self._lock = threading.Lock()
        self._due: dict[str, dict[Path, float]] = {}
        self._ticker = Ticker("rechecks", _TICK_S, self.check)

    def start(self) -> None:
        """Begin to check the schedule."""
        self._ticker.start()

    def close(self) -> None:
        """Stop; the next start scans everything anyway."""
        self._ticker.close()

    def add(self, source_id: str, place: Path, in_s: float) -> None:
        """Scan the place again in `in_s` seconds, or earlier if that is scheduled already."""
        now = self._clock()
        with self._lock:
            places = self._due.setdefault(source_id, {})
            if places.get(place, now) <= now:
                places[place] = now + in_s
        self._ticker.wake()

    def forget(self, source_id: str) -> None:
        """Forget a source that was removed."""
        with self._lock:
            self._due.pop(source_id, None)

    @property
    def is_empty(self) -> bool:
        """True when nothing waits."""
        with self._lock:
            return not self._due

    def check(self) -> float:
        """Hand over the places that are due; returns the seconds until the next ones are."""
        now = self._clock()
        with self._lock:
            due = {
                source_id: frozenset(place for place, at in places.items() if at <= now)
                for source_id, places in self._due.items()
            }
        for source_id, places in due.items():
            if places:
                # Before it is removed, so that nobody sees an idle scanner in between.
                self._scan(source_id, places)
                self._remove(source_id, places, now)
        with self._lock:
            times = [at for places in self._due.values() for at in places.values()]
        return max(0.0, min([_REST_S, *(at - now for at in times)]))

    def _remove(self, source_id: str, places: frozenset[Path], now: float) -> None:
        with self._lock:
            waiting = self._due.get(source_id, {})
            for place in places:
                if waiting.get(place, now) <= now:  # not scheduled again meanwhile
                    waiting.pop(place, None)
            if not waiting:
                self._due.pop(source_id, None)


# As much of a source is read at each full check where the system keeps no time of changes.
_CHECKED_BYTES = 256_000_000
_Lost = tuple[KnownFile, str]
_Kind = tuple[int, str]


class Moves:
    """Finds new files that are known ones, moved between sources or to another disk.

    Moves inside a source that keep the inode are seen without this.
    """

    def __init__(self, documents: DocumentStore, sources: SourceStore, cancel: Event) -> None:
        self._documents = documents
        self._sources = sources
        self._cancel = cancel

    def find(self, source: Source, changes: Changes) -> Changes:
        """The changes, with new files that are known ones as moved. Raises Cancelled.

        Only files of the size and suffix of a lost one are opened.
        """
        fresh = [file for file in changes.new if not file.reason and file.size_bytes]
        if not fresh:
            return changes
        rows = self._documents.read_files({file.size_bytes for file in fresh})
        lost = self._lost(source, rows)
        if not lost:
            return changes
        matches = [match for file in fresh if (match := self._match(file, lost))]
        come = {match.found.location for match in matches}
        gone = {match.known.document_id for match in matches}
        return replace(
            changes,
            new=tuple(file for file in changes.new if file.location not in come),
            moved=(*changes.moved, *matches),
            vanished=tuple(file for file in changes.vanished if file.document_id not in gone),
        )

    def _lost(self, source: Source, rows: Iterable[ReadRow]) -> dict[_Kind, list[_Lost]]:
        """Files that were read and are not where they were; none of a drive that was pulled."""
        reached = {s.source_id for s in self._sources.sources() if _is_reached(s.path)}
        reached.add(source.source_id)
        lost: dict[_Kind, list[_Lost]] = defaultdict(list)
        for source_id, digest, row in rows:
            file = KnownFile(*row)
            if source_id in reached and not os.path.lexists(file.location):
                lost[(file.size_bytes, _suffix(file.location))].append((file, digest))
        return lost

    def _match(self, found: FoundFile, lost: dict[_Kind, list[_Lost]]) -> Match | None:
        candidates = lost.get((found.size_bytes, _suffix(found.location)))
        if not candidates:
            return None
        if self._cancel.is_set():
            raise Cancelled
        known = next((file for file, _ in candidates if file.inode and is_same(file, found)), None)
        if known is None:
            digest = _digest(found.path)
            known = next((file for file, its_digest in candidates if its_digest == digest), None)
        if known is None:
            return None
        candidates[:] = [lost for lost in candidates if lost[0] is not known]
        return Match(known, found)


def _digest(path: Path) -> str | None:
    try:
        return hash_of(path)
    except OSError:
        return None  # reading it will tell why


def _is_reached(root: Path) -> bool:
    """True for a folder with content: an empty one may be a mount point."""
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def _suffix(location: str) -> str:
    return Path(location).suffix.lower()


class ContentCheck:
    """Finds files whose content changed while size and time stayed, where the system does not tell.

    So that a check stays cheap, each reads a part of the source and the next goes on from there.
    """

    def __init__(self, documents: DocumentStore, cancel: Event) -> None:
        self._documents = documents
        self._cancel = cancel
        # By source, the location that was read last.
        self._done: dict[str, str] = {}

    def find(self, source_id: str, changes: Changes, known: Sequence[KnownFile]) -> Changes:
        """The changes with those of content. Raises Cancelled."""
        several = (changes.changed, changes.moved, changes.returned)
        settled = {match.known.document_id for matches in several for match in matches}
        settled.update(file.document_id for file in (*changes.vanished, *changes.left_out))
        rows = self._documents.read_files({file.size_bytes for file in known})
        files = [(KnownFile(*row), digest) for own, digest, row in rows if own == source_id]
        done, left = self._done.get(source_id, ""), _CHECKED_BYTES
        found: list[Match] = []
        files.sort(key=lambda each: (each[0].location <= done, each[0].location))
        for file, digest in files:
            if file.document_id in settled or file.gone_at:
                continue
            if self._cancel.is_set():
                raise Cancelled
            left -= file.size_bytes
            if left < 0 and left + file.size_bytes < _CHECKED_BYTES:
                break
            self._done[source_id] = file.location
            if _digest(Path(file.location)) not in {digest, None}:
                same = FoundFile(file.location, file.size_bytes, file.mtime_ns, file.inode)
                found.append(Match(file, same))
        return replace(changes, changed=(*changes.changed, *found))


@dataclass(frozen=True, slots=True)
class ConfirmedChanges:
    """The changes to store. `gone` files are missing: they are not searched, and kept for `keep_s`,
    longer where many are.
    """

    changes: Changes
    gone: tuple[KnownFile, ...] = ()
    keep_s: float = 0.0


class ChangeConfirmation:
    """Delays changes that may be temporary until a second scan confirms them.

    Editors delete a file and write it again, copies grow for a while, and a whole tree may vanish
    by mistake. Until then a missing file is not searched.
    """

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
        tracked = self._missing.get(source_id, {})
        absent = [f for f in changes.vanished if not f.gone_at or f.document_id in tracked]
        self._found_again(source_id, absent, parts)
        missing = [file for file in absent if self._is_confirmed_missing(source_id, file)]
        is_many = self._are_many(source_id, missing, known)
        now = self._wall_clock()
        outlived = [
            file for file in changes.vanished
            if file.gone_at and now - file.gone_at >= self._times.keep_gone_s
        ]  # fmt: skip
        removed = set() if is_many else {file.document_id for file in missing}
        gone = [f for f in absent if not f.gone_at and f.document_id not in removed]
        confirmed = replace(
            changes,
            new=tuple(file for file in changes.new if self._has_settled(source_id, file)),
            changed=tuple(m for m in changes.changed if self._has_settled(source_id, m.found)),
            vanished=tuple(outlived if is_many else (*outlived, *missing)),
        )
        keep_s = self._times.keep_gone_s if is_many else self._times.missing_s
        return ConfirmedChanges(confirmed, tuple(gone), keep_s)

    def forget(self, source_id: str) -> None:
        """Forget a source that was removed."""
        self._missing.pop(source_id, None)

    def _found_again(
        self, source_id: str, absent: list[KnownFile], parts: frozenset[Path] | None
    ) -> None:
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

    def _are_many(
        self, source_id: str, missing: Sequence[KnownFile], known: Collection[KnownFile]
    ) -> bool:
        """True when too many files vanished, with those tracked or kept already, to remove them."""
        away = {file.document_id for file in known if file.gone_at}
        away.update(self._missing.get(source_id, ()), (file.document_id for file in missing))
        times = self._times
        return len(away) > max(times.many_files, times.many_share * len(known))

    def _has_settled(self, source_id: str, file: FoundFile) -> bool:
        """True when a file did not change just now; if it did, a recheck is scheduled.

        A modification time in the future is ignored.
        """
        age_s = self._wall_clock() - file.mtime_ns / 1e9
        if file.reason or not 0 <= age_s < self._times.settle_s:
            return True
        self._recheck(source_id, file.path, self._times.settle_s - age_s)
        return False


Parts = frozenset[Path] | None
# Above this number a scan of the whole source is cheaper.
_MOST_PLACES = 5_000


class Scanner(BackgroundPart):
    """A queue of places to scan, the thread that scans them, and the rows it writes."""

    def __init__(
        self,
        documents: DocumentStore,
        sources: SourceStore,
        indexer: Indexer,
        rules: IgnoreRules,
        callbacks: PipelineCallbacks,
        times: RecheckTimes,
    ) -> None:
        self._documents = documents
        self._sources = sources
        self._indexer = indexer
        self._rules = rules
        self._times = times
        self._rechecks = RecheckSchedule(self._recheck)
        self._confirmation = ChangeConfirmation(self._rechecks.add, times)
        self._changed = callbacks.documents_changed
        self._scanned = callbacks.source_scanned
        self._reached = callbacks.source_reached
        self._queue: dict[str, tuple[Source, Parts]] = {}
        self._background = BackgroundThread(
            "library-scan", self._work, has_work=lambda: bool(self._queue),
            callbacks=callbacks,
        )  # fmt: skip
        self._moves = Moves(documents, sources, self._background.closing)
        self._contents = ContentCheck(documents, self._background.closing)

    def start(self) -> None:
        """Begin to scan."""
        super().start()
        self._rechecks.start()

    def close(self) -> None:
        """Stop the current scan; changes not stored yet are found again at the next start."""
        self._rechecks.close()
        super().close()

    def request(self, source: Source, parts: Parts = None, /) -> None:
        """Scan the whole source, or only at and below these places."""
        with self._background.condition:
            _, before = self._queue.get(source.source_id, (source, frozenset[Path]()))
            merged = None if parts is None or before is None else before.union(parts)
            self._queue[source.source_id] = source, merged
        self.wake()

    def forget(self, source_id: str) -> None:
        """Remove the source and its documents from the store; its files are not touched."""
        with self._background.condition:
            self._queue.pop(source_id, None)
        self._rechecks.forget(source_id)
        self._confirmation.forget(source_id)
        gone = self._documents.documents(source_id)
        self._indexer.withdraw([d.document_id for d in gone])
        self._sources.remove_source(source_id)
        self._changed([replace(d, state=DocumentState.GONE) for d in gone])

    @property
    def is_idle(self) -> bool:
        """True when no scan or recheck is due or running."""
        # While this is held, no recheck can move to the queue between the two looks.
        with self._background.condition:
            return self._background.is_idle and self._rechecks.is_empty

    def _work(self) -> None:
        with self._background.condition:
            source, parts = self._queue.pop(next(iter(self._queue)))
        try:
            self._scan(source, parts)
        except RootOffline:
            self._reached(source, False)
        except AppError:
            self.request(source, parts)
            raise

    def _scan(self, source: Source, parts: Parts) -> None:
        known = list(map(KnownFile._make, self._documents.known_files(source.source_id)))
        rules = self._rules.of(source.rules)
        changes = rescan(source.path, rules, known, self._background.closing, parts)
        self._reached(source, True)
        changes = self._moves.find(source, changes)
        if parts is None and not disk_walk.KEEPS_CHANGE_TIMES:
            changes = self._contents.find(source.source_id, changes, known)
        self._follow_excluded(source, changes)
        confirmed = self._confirmation.confirm(source.source_id, changes, known, parts)
        self._apply(source, known, confirmed)
        if parts is None:
            # Also those that an earlier run, or a drive that was pulled, left waiting.
            waiting = self._documents.documents(source.source_id, DocumentState.WAITING)
            to_read = [d.document_id for d in waiting if d.is_to_be_read]
            self._indexer.submit(to_read, unless_taken=True)
        summary = _summary(confirmed, known)
        log.info("scan: %s", summary.label())
        if parts is None or not summary.is_empty:
            self._scanned(source, summary)

    def _follow_excluded(self, source: Source, changes: Changes) -> None:
        """Let the rules about single files follow those that were moved."""
        moved = [match for match in changes.moved if match.known.skip_reason == EXCLUDED]
        stored = self._sources.sources() if moved else ()
        for current in (s for s in stored if s.source_id == source.source_id):
            former = {_name_in(source, Path(match.known.location)) for match in moved}
            now = {_name_in(source, match.found.path) for match in moved}
            files = now | (set(current.rules.excluded_files) - former)
            rules = replace(current.rules, excluded_files=tuple(sorted(files)))
            self._sources.set_rules(source.source_id, rules)

    def _apply(
        self, source: Source, known: Iterable[KnownFile], confirmed: ConfirmedChanges
    ) -> None:
        changes = confirmed.changes
        new = (*changes.new, *_unread(changes, known))
        added = [_new_document(source, file) for file in new]
        changed = {
            m.known.document_id: partial(_moved, match=m, source_id=source.source_id)
            for m in changes.moved
        }
        changed |= {m.known.document_id: partial(_changed, found=m.found) for m in changes.changed}
        changed |= {m.known.document_id: returned for m in changes.returned}
        away = partial(gone, at=time.time(), keep_s=confirmed.keep_s)
        changed |= {file.document_id: away for file in confirmed.gone}
        forgotten = [file.document_id for file in (*changes.vanished, *changes.left_out)]
        if not (added or changed or forgotten):
            return
        rows = self._documents.get(forgotten)
        stored = self._documents.apply_changes(source.source_id, added, changed, forgotten)
        self._indexer.withdraw(forgotten)
        idle = (DocumentState.SKIPPED, DocumentState.GONE)
        self._indexer.withdraw(d.document_id for d in stored if d.state in idle)
        self._indexer.submit(d.document_id for d in stored if d.is_to_be_read)
        self._changed([*(replace(d, state=DocumentState.GONE, gone_at=0.0) for d in rows), *stored])
        self._look_again(source, changes.moved, {d.document_id for d in stored})

    def _look_again(self, source: Source, moved: Iterable[Match], stored: set[str]) -> None:
        """Scan where files came from a source that was removed meanwhile: they are new now."""
        lost = {m.found.path for m in moved if m.known.document_id not in stored}
        if lost and any(s.source_id == source.source_id for s in self._sources.sources()):
            self.request(source, frozenset(lost))

    def _recheck(self, source_id: str, places: frozenset[Path]) -> None:
        """Called when a recheck is due; if the store fails, the next scan makes up for it."""
        try:
            source = next((s for s in self._sources.sources() if s.source_id == source_id), None)
        except AppError as error:
            log.info("a recheck failed: %s", error.title)
            return
        if source is not None:
            self.request(source, places if len(places) <= _MOST_PLACES else None)


def _name_in(source: Source, path: Path) -> str:
    return path.relative_to(source.path).as_posix()


def _unread(changes: Changes, known: Iterable[KnownFile]) -> list[FoundFile]:
    """Unreadable files that were not known before."""
    if not changes.unreadable:
        return []
    locations = {file.location for file in known}
    return [file for file in changes.unreadable if file.location not in locations]


def _summary(confirmed: ConfirmedChanges, known: Iterable[KnownFile]) -> ChangeSummary:
    """The counts of a scan; files outside the scanned places count as unchanged."""
    changes = confirmed.changes
    before = {file.document_id for file in known if not file.gone_at}
    before.difference_update(m.known.document_id for m in (*changes.changed, *changes.moved))
    away = {file.document_id for file in (*changes.vanished, *changes.left_out, *confirmed.gone)}
    went = len(before & away)
    before -= away
    return ChangeSummary(
        added=len(changes.new) + len(changes.returned),
        changed=len(changes.changed),
        moved=len(changes.moved),
        gone=went,
        unchanged=len(before),
    )


def _new_document(source: Source, file: FoundFile) -> Document:
    state = DocumentState.SKIPPED if file.reason else DocumentState.WAITING
    if file.is_unreadable:
        state = DocumentState.FAILED
    path = file.path
    return Document(
        document_id=uuid.uuid4().hex,
        source_id=source.source_id,
        path=path,
        title=path.stem,
        format=path.suffix.lower().removeprefix("."),
        stat=file.stat,
        content_hash="",
        state=state,
        reason=file.reason,
    )


def _changed(document: Document, found: FoundFile) -> Document:
    if found.reason:
        return replace(
            document, stat=found.stat, state=DocumentState.SKIPPED, reason=found.reason,
            content_hash="", chunk_count=0, gone_at=0.0,
        )  # fmt: skip
    return replace(document, stat=found.stat, state=DocumentState.WAITING, reason="", gone_at=0.0)


def gone(document: Document, at: float, keep_s: float) -> Document:
    """The row of a file that is missing since `at` and kept for `keep_s` seconds."""
    since, until = _moment(at), _moment(at + keep_s)
    reason = f"gone since {since}; kept until {until}"
    if document.pictures_waiting:
        reason = f"{reason}; {waiting_words(document.pictures_waiting)}"
    return replace(document, state=DocumentState.GONE, gone_at=at, reason=reason)


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def returned(document: Document) -> Document:
    """The row of a file that was gone and is there again, unchanged."""
    has_content = document.chunk_count > 0
    state = DocumentState.SEARCHABLE_BY_WORDS if has_content else DocumentState.WAITING
    waits = document.pictures_waiting
    return replace(document, state=state, gone_at=0.0, reason=waiting_words(waits) if waits else "")


def _moved(document: Document, match: Match, source_id: str) -> Document:
    title = match.found.path.stem if document.title == document.path.stem else document.title
    # The move itself is no reason to read it again.
    read_at = max(document.indexed_at, match.found.ctime_ns / 1e9) if document.indexed_at else 0.0
    moved = replace(
        document, source_id=source_id, path=match.found.path, title=title, stat=match.found.stat,
        indexed_at=read_at,
    )  # fmt: skip
    return returned(moved) if document.state is DocumentState.GONE else moved
