"""Makes waiting files searchable by words: read, chunk, store. Owns one named thread.

One transaction holds a few documents: a commit waits for the disk, and thousands of small files
would spend their time on that.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, FileStat, Stage
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.text import term_counts
from desktop_rag.ingest.chunker import CountTokens, chunk_document
from desktop_rag.ingest.progress import ProgressMeter
from desktop_rag.ingest.worker import ParseFailed, ParserProcess
from desktop_rag.store.documents import DocumentStore, IndexedDocument

log = logging.getLogger(__name__)

_BATCH_DOCUMENTS = 32
_BATCH_CHUNKS = 400
_BATCH_S = 1.0
# Kinds of a parser's refusal that trying again cannot change: listed as skipped, not as failed.
_SKIPPED_KINDS = frozenset({"unsupported", "empty", "no text", "too large", "encrypted"})


@dataclass
class _Batch:
    """Finished outcomes that wait for their transaction."""

    indexed: list[IndexedDocument] = field(default_factory=list[IndexedDocument])
    refused: list[Document] = field(default_factory=list[Document])
    unchanged: list[Document] = field(default_factory=list[Document])
    began_at: float = field(default_factory=time.monotonic)

    def documents(self) -> tuple[Document, ...]:
        return (*(item.document for item in self.indexed), *self.refused, *self.unchanged)

    def is_full(self) -> bool:
        chunks = sum(len(item.chunks) for item in self.indexed)
        return (
            len(self.indexed) + len(self.refused) + len(self.unchanged) >= _BATCH_DOCUMENTS
            or chunks >= _BATCH_CHUNKS
            or time.monotonic() - self.began_at > _BATCH_S
        )


class Indexer:
    """The queue of files to read, and the thread that reads them."""

    def __init__(
        self,
        documents: DocumentStore,
        parser: ParserProcess,
        count_tokens: CountTokens,
        max_tokens: int,
        meter: ProgressMeter,
        *,
        changed: Callable[[Sequence[Document]], None],
        went_idle: Callable[[], None],
        stopped: Callable[[AppError], None],
    ) -> None:
        """`changed` hears every finished batch, `went_idle` that nothing waits any more,
        `stopped` why the store refused a batch; all on the indexer's thread.
        """
        self._documents = documents
        self._parser = parser
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens
        self._meter = meter
        self._changed = changed
        self._went_idle = went_idle
        self._stopped = stopped
        self._queue: dict[str, Document] = {}
        self._wake = threading.Condition()
        self._is_paused = False
        self._is_busy = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="indexer", daemon=True)

    def start(self) -> None:
        """Begin to read what waits."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the transaction under way; what waits is found again at the next start."""
        self._closing.set()
        with self._wake:
            self._wake.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self._parser.close()

    def submit(self, documents: Sequence[Document]) -> None:
        """Queue documents, whose rows are stored already; one queued twice is read once."""
        with self._wake:
            fresh = sum(d.document_id not in self._queue for d in documents)
            self._queue.update({d.document_id: d for d in documents})
            self._meter.add_files(fresh)
            self._wake.notify_all()

    def withdraw(self, document_ids: Sequence[str]) -> None:
        """Take documents out of the queue, because they are gone."""
        with self._wake:
            removed = sum(self._queue.pop(i, None) is not None for i in document_ids)
            self._meter.add_files(-removed)
            self._wake.notify_all()

    def set_paused(self, is_paused: bool) -> None:
        """Hold after the file in work, or go on."""
        with self._wake:
            self._is_paused = is_paused
            self._wake.notify_all()

    @property
    def is_idle(self) -> bool:
        """Nothing waits and nothing is in work."""
        with self._wake:
            return not self._queue and not self._is_busy

    def _run(self) -> None:
        batch = _Batch()
        while not self._closing.is_set():
            document = self._take()
            if document is not None:
                self._meter.start_file(document.path.name)
                self._settle(document, batch)
                self._meter.finish_file()
            if batch.documents() and (document is None or batch.is_full()):
                self._flush(batch)
                batch = _Batch()
            if document is None:
                self._rest()

    def _take(self) -> Document | None:
        """The next document; None when there is none to read just now."""
        with self._wake:
            if self._closing.is_set() or self._is_paused or not self._queue:
                return None
            self._is_busy = True
            self._meter.set_stage(Stage.READING)
            return self._queue.pop(next(iter(self._queue)))

    def _rest(self) -> None:
        """Wait for work. Whoever waits for this thread to be idle is told first, unlocked."""
        with self._wake:
            self._is_busy = False
            is_idle = not self._queue
        if is_idle:
            self._went_idle()
        with self._wake:
            self._wake.wait_for(
                lambda: self._closing.is_set() or (self._queue and not self._is_paused)
            )

    def _settle(self, document: Document, batch: _Batch) -> None:
        """Put the document's outcome into the batch. No file may stop the ones behind it."""
        try:
            self._read(document, batch)
        except Cancelled:
            return
        except OSError as exc:
            error = AppError("The file cannot be read.", exc.strerror or str(exc))
            batch.refused.append(_refused(document, DocumentState.FAILED, error))
        except Exception:
            log.exception("a document could not be indexed (%s)", document.document_id)
            error = AppError("An error in the app stopped this file.", "The log file has details.")
            batch.refused.append(_refused(document, DocumentState.FAILED, error))

    def _read(self, document: Document, batch: _Batch) -> None:
        stat = stat_of(document.path)
        digest = _hash_file(document.path)
        current = replace(document, stat=stat, content_hash=digest, indexed_at=time.time())
        if digest == document.content_hash and document.chunk_count:
            batch.unchanged.append(replace(current, state=DocumentState.SEARCHABLE_BY_WORDS))
            return
        try:
            parsed = self._parser.parse(document.path, cancel=self._closing)
        except ParseFailed as failed:
            is_final = failed.reason in _SKIPPED_KINDS
            state = DocumentState.SKIPPED if is_final else DocumentState.FAILED
            batch.refused.append(_refused(current, state, failed))
            return
        if stat_of(document.path) != stat:
            # Still being written: what was read may be half a file.
            self.submit([document])
            return
        chunks = tuple(chunk_document(parsed, self._count_tokens, self._max_tokens))
        indexed = replace(
            current,
            title=parsed.title,
            format=parsed.format,
            state=DocumentState.SEARCHABLE_BY_WORDS,
            reason="; ".join(parsed.warnings),
            chunk_count=len(chunks),
        )
        counts = tuple(term_counts(chunk.embedded_text) for chunk in chunks)
        batch.indexed.append(IndexedDocument(indexed, parsed.text, chunks, counts))

    def _flush(self, batch: _Batch) -> None:
        try:
            self._documents.settle(batch.indexed, batch.refused, batch.unchanged)
        except AppError as error:
            # The disk, not the files: keep them waiting and say so, instead of losing them.
            self.set_paused(True)
            self.submit([replace(d, state=DocumentState.WAITING) for d in batch.documents()])
            self._stopped(error)
            return
        self._changed(batch.documents())


def stat_of(path: Path) -> FileStat:
    """Size, time and inode of the file itself; OSError when it is gone."""
    found = path.stat()
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino)


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _refused(document: Document, state: DocumentState, error: AppError) -> Document:
    title = error.title if error.title.endswith((".", "!", "?")) else f"{error.title}."
    reason = f"{title} {error.hint}".strip()
    return replace(document, state=state, reason=reason, chunk_count=0, indexed_at=time.time())
