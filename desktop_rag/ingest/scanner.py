"""Compares sources with the disk and stores what changed. Owns one named thread.

The scan is the truth, events only say where to look; the scan at the start takes the same path.
"""

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.errors import AppError
from desktop_rag.ingest.background import Background
from desktop_rag.ingest.ignore import IgnoreRules
from desktop_rag.ingest.indexer import Indexer
from desktop_rag.ingest.reconcile import Changes, FoundFile, KnownFile, Match, RootOffline, rescan
from desktop_rag.store.documents import DocumentStore
from desktop_rag.store.sources import SourceStore

log = logging.getLogger(__name__)

Parts = frozenset[Path] | None


class Scanner:
    """A queue of places to look at, the thread that looks, and the rows it writes."""

    def __init__(
        self,
        documents: DocumentStore,
        sources: SourceStore,
        indexer: Indexer,
        rules: IgnoreRules,
        *,
        changed: Callable[[Sequence[Document]], None],
        reached: Callable[[Source, bool], None],
        stopped: Callable[[AppError], None],
    ) -> None:
        """`changed` hears of new, changed and gone documents, `reached(source, is_online)`
        whether its root could be looked at, `stopped` why scanning is held; on this thread.
        """
        self._documents = documents
        self._sources = sources
        self._indexer = indexer
        self._rules = rules
        self._changed = changed
        self._reached = reached
        self._queue: dict[str, tuple[Source, Parts]] = {}
        self._background = Background(
            "library-scan", self._work, has_work=lambda: bool(self._queue), stopped=stopped
        )

    def start(self) -> None:
        """Begin to look at what was requested."""
        self._background.start()

    def close(self) -> None:
        """Stop the scan under way; what it had not stored is found again at the next start."""
        self._background.close()

    def request(self, source: Source, parts: Parts = None) -> None:
        """Look at the whole source, or only at and below the given places of it."""
        with self._background.condition:
            _, before = self._queue.get(source.source_id, (source, frozenset[Path]()))
            merged = None if parts is None or before is None else before.union(parts)
            self._queue[source.source_id] = source, merged
        self._background.wake()

    def forget(self, source_id: str) -> None:
        """Remove the source and its documents from the store; its files are not touched."""
        with self._background.condition:
            self._queue.pop(source_id, None)
        gone = self._documents.documents(source_id)
        self._indexer.withdraw([d.document_id for d in gone])
        self._sources.remove_source(source_id)
        self._changed([replace(d, state=DocumentState.GONE) for d in gone])

    def set_paused(self, is_paused: bool) -> None:
        """Hold after the scan under way, or go on."""
        self._background.set_paused(is_paused)

    @property
    def is_idle(self) -> bool:
        """No look is due or under way."""
        return self._background.is_idle

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
        documents = self._documents.documents(source.source_id)
        known = [_known_file(document) for document in documents]
        changes = rescan(source.path, self._rules, known, self._background.closing, parts)
        self._reached(source, True)
        self._apply(source, {d.document_id: d for d in documents}, changes)
        if parts is None:
            # Also those that an earlier run, or a drive that was pulled, left waiting.
            waiting = self._documents.documents(source.source_id, DocumentState.WAITING)
            self._indexer.submit((d.document_id for d in waiting), unless_taken=True)
        log.info(
            "scan: +%d ~%d -%d moved %d unchanged %d",
            len(changes.new), len(changes.changed), len(changes.vanished), len(changes.moved),
            changes.unchanged,
        )  # fmt: skip

    def _apply(self, source: Source, documents: dict[str, Document], changes: Changes) -> None:
        known = {str(d.path) for d in documents.values()}
        unread = [file for file in changes.unreadable if file.location not in known]
        added = [_new_document(source, file) for file in (*changes.new, *unread)]
        changed = {m.known.document_id: partial(_moved, match=m) for m in changes.moved}
        changed |= {m.known.document_id: partial(_changed, found=m.found) for m in changes.changed}
        gone = [file.document_id for file in changes.vanished]
        if not (added or changed or gone):
            return
        stored = self._documents.apply_changes(source.source_id, added, changed, gone)
        self._indexer.withdraw(gone)
        self._indexer.withdraw(d.document_id for d in stored if d.state is DocumentState.SKIPPED)
        self._indexer.submit(d.document_id for d in stored if d.state is DocumentState.WAITING)
        self._changed([*(replace(documents[i], state=DocumentState.GONE) for i in gone), *stored])


def _known_file(document: Document) -> KnownFile:
    # A file the scan skipped was never opened, so it has no hash; one that a parser refused has.
    is_scan_skip = document.state is DocumentState.SKIPPED and not document.content_hash
    reason = document.reason if is_scan_skip else ""
    return KnownFile(document.document_id, str(document.path), document.stat, reason)


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
            content_hash="", chunk_count=0,
        )  # fmt: skip
    return replace(document, stat=found.stat, state=DocumentState.WAITING, reason="")


def _moved(document: Document, match: Match) -> Document:
    title = match.found.path.stem if document.title == document.path.stem else document.title
    return replace(document, path=match.found.path, title=title, stat=match.found.stat)
