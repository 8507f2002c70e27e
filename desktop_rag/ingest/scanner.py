"""Compares sources with the disk and stores what changed. Owns one named thread.

The scan is the truth, events only say where to look; the scan at the start takes the same path.
"""

import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.ingest.ignore import IgnoreRules
from desktop_rag.ingest.indexer import Indexer
from desktop_rag.ingest.reconcile import Changes, FoundFile, KnownFile, Match, RootOffline, rescan
from desktop_rag.store.documents import DocumentStore

log = logging.getLogger(__name__)

Parts = frozenset[Path] | None


class Scanner:
    """A queue of places to look at, the thread that looks, and the rows it writes."""

    def __init__(
        self,
        documents: DocumentStore,
        indexer: Indexer,
        rules: IgnoreRules,
        *,
        changed: Callable[[Sequence[Document]], None],
        reached: Callable[[Source, bool], None],
        stopped: Callable[[AppError], None],
    ) -> None:
        """`changed` hears of new, changed and gone documents, `reached(source, is_online)`
        whether its root could be looked at, `stopped` why the store refused; on this thread.
        """
        self._documents = documents
        self._indexer = indexer
        self._rules = rules
        self._changed = changed
        self._reached = reached
        self._stopped = stopped
        self._sources: dict[str, Source] = {}
        self._queue: dict[str, Parts] = {}
        self._wake = threading.Condition()
        # Held while rows are written, so that removing a source does not race with its scan.
        self._applying = threading.Lock()
        self._is_busy = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="library-scan", daemon=True)

    def start(self) -> None:
        """Begin to look at what was requested."""
        self._thread.start()

    def close(self) -> None:
        """Stop the scan under way; what it had not stored is found again at the next start."""
        self._closing.set()
        with self._wake:
            self._wake.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def request(self, source: Source, parts: Parts = None) -> None:
        """Look at the whole source, or only at and below the given places of it."""
        with self._wake:
            self._sources[source.source_id] = source
            before = self._queue.get(source.source_id, frozenset[Path]())
            merged = None if parts is None or before is None else before.union(parts)
            self._queue[source.source_id] = merged
            self._wake.notify_all()

    def forget(self, source_id: str) -> None:
        """Remove the source and its documents from the store; its files are not touched."""
        with self._wake:
            self._sources.pop(source_id, None)
            self._queue.pop(source_id, None)
        with self._applying:
            gone = self._documents.documents(source_id)
            self._indexer.withdraw([d.document_id for d in gone])
            self._documents.remove_source(source_id)
        self._changed([replace(d, state=DocumentState.GONE) for d in gone])

    @property
    def is_idle(self) -> bool:
        """No look is due or under way."""
        with self._wake:
            return not self._queue and not self._is_busy

    def _run(self) -> None:
        while (request := self._next()) is not None:
            source, parts = request
            try:
                self._scan(source, parts)
            except Cancelled:
                return
            except RootOffline:
                self._reached(source, False)
            except AppError as error:
                self._stopped(error)

    def _next(self) -> tuple[Source, Parts] | None:
        with self._wake:
            self._is_busy = False
            self._wake.wait_for(lambda: self._closing.is_set() or self._queue)
            if self._closing.is_set():
                return None
            self._is_busy = True
            source_id = next(iter(self._queue))
            return self._sources[source_id], self._queue.pop(source_id)

    def _scan(self, source: Source, parts: Parts) -> None:
        documents = self._documents.documents(source.source_id)
        known = [_known_file(document) for document in documents]
        changes = rescan(source.path, self._rules, known, self._closing, parts)
        self._reached(source, True)
        with self._applying:
            if source.source_id in self._sources:
                self._apply(source, {d.document_id: d for d in documents}, changes)
        log.info(
            "scan: +%d ~%d -%d moved %d unchanged %d",
            len(changes.new), len(changes.changed), len(changes.vanished), len(changes.moved),
            changes.unchanged,
        )  # fmt: skip

    def _apply(self, source: Source, documents: dict[str, Document], changes: Changes) -> None:
        gone = [documents[file.document_id] for file in changes.vanished]
        moved = [_moved(documents[m.known.document_id], m) for m in changes.moved]
        fresh = [_new_document(source, file) for file in (*changes.new, *changes.unreadable)
                 if not (file.is_unreadable and _is_known(documents, file))]  # fmt: skip
        altered = [_changed(documents[m.known.document_id], m.found) for m in changes.changed]
        skipped = [d for d in altered if d.state is DocumentState.SKIPPED]
        waiting = [d for d in (*fresh, *altered) if d.state is DocumentState.WAITING]
        if gone:
            ids = [d.document_id for d in gone]
            self._indexer.withdraw(ids)
            self._documents.delete_documents(ids)
        if fresh or moved or altered:
            self._documents.put_documents([*fresh, *moved, *altered])
        if skipped:
            self._documents.settle(refused=skipped)
        self._indexer.submit(waiting)
        gone = [replace(d, state=DocumentState.GONE) for d in gone]
        if changed := [*gone, *moved, *fresh, *altered]:
            self._changed(changed)


def _known_file(document: Document) -> KnownFile:
    # A file the scan skipped was never opened, so it has no hash; one that a parser refused has.
    is_scan_skip = document.state is DocumentState.SKIPPED and not document.content_hash
    reason = document.reason if is_scan_skip else ""
    return KnownFile(document.document_id, str(document.path), document.stat, reason)


def _is_known(documents: dict[str, Document], file: FoundFile) -> bool:
    return any(str(d.path) == file.location for d in documents.values())


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


def _changed(document: Document, file: FoundFile) -> Document:
    if file.reason:
        return replace(
            document, stat=file.stat, state=DocumentState.SKIPPED, reason=file.reason,
            content_hash="", chunk_count=0,
        )  # fmt: skip
    return replace(document, stat=file.stat, state=DocumentState.WAITING, reason="")


def _moved(document: Document, match: Match) -> Document:
    title = match.found.path.stem if document.title == document.path.stem else document.title
    return replace(document, path=match.found.path, title=title, stat=match.found.stat)
