"""Compares sources with the disk and stores what changed. Owns one named thread.

A scan decides what changed; events only say where to scan. The scan at the start is the same.
"""

import logging
import time
import uuid
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from desktop_rag.core.domain import EXCLUDED, Document, DocumentState, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.pictures.waiting_pictures import waiting_words
from desktop_rag.ingest.background.background_thread import BackgroundThread
from desktop_rag.ingest.background.pipeline_callbacks import PipelineCallbacks
from desktop_rag.ingest.indexing.indexer import Indexer
from desktop_rag.ingest.scanning.change_confirmation import ChangeConfirmation, ConfirmedChanges
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.scanning.moves import Moves
from desktop_rag.ingest.scanning.recheck_schedule import RecheckSchedule, RecheckTimes
from desktop_rag.ingest.scanning.reconcile import (
    Changes,
    FoundFile,
    KnownFile,
    Match,
    RootOffline,
    rescan,
)
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.sources import SourceStore

log = logging.getLogger(__name__)

Parts = frozenset[Path] | None
# Above this number a scan of the whole source is cheaper.
_MOST_PLACES = 5_000


class Scanner:
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
            "library-scan",
            self._work,
            has_work=lambda: bool(self._queue),
            failed=callbacks.failed,
            became_idle=callbacks.became_idle,
        )
        self._moves = Moves(documents, sources, self._background.closing)

    def start(self) -> None:
        """Begin to scan."""
        self._background.start()
        self._rechecks.start()

    def close(self) -> None:
        """Stop the current scan; changes not stored yet are found again at the next start."""
        self._rechecks.close()
        self._background.close()

    def request(self, source: Source, parts: Parts = None) -> None:
        """Scan the whole source, or only at and below these places."""
        with self._background.condition:
            _, before = self._queue.get(source.source_id, (source, frozenset[Path]()))
            merged = None if parts is None or before is None else before.union(parts)
            self._queue[source.source_id] = source, merged
        self._background.wake()

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

    def set_paused(self, is_paused: bool) -> None:
        """Pause after the current scan, or resume."""
        self._background.set_paused(is_paused)

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
        away = partial(gone, at=time.time(), keep_s=self._times.keep_gone_s)
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
    """The numbers of a scan; files outside the scanned places count as unchanged."""
    changes = confirmed.changes
    before = {file.document_id for file in known if not file.gone_at}
    before.difference_update(m.known.document_id for m in (*changes.changed, *changes.moved))
    away = (*changes.vanished, *changes.left_out, *confirmed.gone)
    before.difference_update(file.document_id for file in away)
    return ChangeSummary(
        added=len(changes.new) + len(changes.returned),
        changed=len(changes.changed),
        moved=len(changes.moved),
        gone=len(changes.vanished) + len(changes.left_out) + len(confirmed.gone),
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
    moved = replace(
        document, source_id=source_id, path=match.found.path, title=title, stat=match.found.stat
    )
    return returned(moved) if document.state is DocumentState.GONE else moved
