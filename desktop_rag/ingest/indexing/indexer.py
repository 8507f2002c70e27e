"""Makes waiting files searchable by words: read, chunk, store. Owns one named thread.

The queue holds ids only: the row of a document is read from the store when its turn comes,
because it may have been moved or deleted meanwhile. One transaction holds a few
documents: a commit waits for the disk, and thousands of small files would spend their time there.
"""

import locale
import logging
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

from desktop_rag.core.domain import Document, DocumentState, FileStat, Source
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.files.file_state import hash_of, stat_of
from desktop_rag.core.parsed import (
    ENCODING_GUESSED,
    Chunk,
    ChunkSettings,
    EncodingHints,
    ParsedDocument,
)
from desktop_rag.core.pictures import waiting_words
from desktop_rag.ingest.background.background_thread import (
    BackgroundPart,
    BackgroundThread,
    PipelineCallbacks,
)
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.ingest.chunking.indexing_outcome import indexing_outcome_of
from desktop_rag.ingest.indexing.late_texts import LateTexts, TextAwaited
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from desktop_rag.ingest.pictures.pictures import Pictures
from desktop_rag.ingest.sent_files import SentFolders
from desktop_rag.models.answer_priority import FairShare
from desktop_rag.store.contract.documents import DocumentStore, IndexingOutcome

if sys.platform == "win32":
    import ctypes

# So many files of a folder are looked at until so many have certain encodings.
_MOST_NEIGHBOURS, _ENOUGH = 12, 4
_NOT_READ = {DocumentState.SKIPPED, DocumentState.OFFLINE, DocumentState.GONE}
_Place = tuple[str, Path, str]


class TextEncodings:
    """The hints for the files of the library. For one thread at a time."""

    def __init__(
        self,
        documents: DocumentStore,
        parser: ParserProcess,
        source_of: Callable[[str], Source | None],
    ) -> None:
        self._documents = documents
        self._parser = parser
        self._source_of = source_of
        self._sources: dict[str, Source | None] = {}
        self._files: dict[_Place, list[Path]] = {}
        self._listed: set[str] = set()
        self._known: dict[_Place, tuple[str, ...]] = {}
        # The folders that were read from, and the guesses, each with what its neighbours said.
        self._met: set[_Place] = set()
        self._guessed: dict[str, tuple[Document, tuple[str, ...]]] = {}
        self._searched: set[str] = set()

    def forget_choices(self) -> None:
        """Ask for the person's choices again when they are next needed."""
        self._sources.clear()

    def forget(self) -> None:
        """Look at the folders again when they are next asked for."""
        self.forget_choices()
        self._files.clear()
        self._listed.clear()
        self._known.clear()

    def hints(self, document: Document) -> EncodingHints:
        """What is known without another file."""
        self._met.add(_place(document))
        return EncodingHints(
            self._chosen(document.source_id, document.path), language=_own_language()
        )

    def neighbours(self, document: Document) -> tuple[str, ...]:
        """The certain encodings of files of the same kind in its folder, the usual one first.

        Only files that are known to the library are opened.
        """
        source_id, path, place = document.source_id, document.path, _place(document)
        if place not in self._known:
            found = (self._encoding_of(source_id, each) for each in self._beside(place, path))
            certain = islice(filter(None, found), _ENOUGH)
            self._known[place] = tuple(name for name, _ in Counter(certain).most_common())
        self._guessed[document.document_id] = (document, self._known[place])
        return self._known[place]

    def told_by_now(self) -> list[str]:
        """The documents that were guessed and whose neighbours, read since, tell their encoding."""
        self.forget()
        met, self._met = self._met, set()
        for source_id in {place[0] for place in met} - self._searched:
            self._searched.add(source_id)
            for each in self._documents.documents(source_id):
                if ENCODING_GUESSED in each.reason and not each.parent_id:
                    self._guessed.setdefault(each.document_id, (each, ()))
        guessed = [found for found in self._guessed.values() if _place(found[0]) in met]
        return [d.document_id for d, said in guessed if self.neighbours(d) not in ((), said)]

    def _beside(self, place: _Place, path: Path) -> list[Path]:
        source_id = place[0]
        if source_id not in self._listed:
            self._listed.add(source_id)
            for each in self._documents.documents(source_id):
                if not each.parent_id and each.state not in _NOT_READ:
                    self._files.setdefault(_place(each), []).append(each.path)
        others = [each for each in self._files.get(place, ()) if each != path]
        return others[:_MOST_NEIGHBOURS]

    def _encoding_of(self, source_id: str, path: Path) -> str:
        if chosen := self._chosen(source_id, path):
            return chosen
        try:
            return self._parser.certain_encoding(path)
        except ParseFailed:
            return ""

    def _chosen(self, source_id: str, path: Path) -> str:
        if source_id not in self._sources:
            self._sources[source_id] = self._source_of(source_id)
        source = self._sources[source_id]
        if source is None or not source.rules.encodings or not path.is_relative_to(source.path):
            return ""
        return source.rules.encoding_of(path.relative_to(source.path).as_posix())


def _place(document: Document) -> _Place:
    return document.source_id, document.path.parent, document.path.suffix.lower()


def _own_language() -> str:
    """The code of the computer's language; "" if it has none."""
    if sys.platform == "win32":
        name = locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    else:
        names = map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))
        name = next(filter(None, names), "")
    return name.partition("_")[0].partition(".")[0].lower()


log = logging.getLogger(__name__)

# Files read ahead: this many small ones; of large ones this many bytes, as texts wait in memory.
_MOST_FILES = 16
_MOST_BYTES = 4_000_000

T = TypeVar("T")


class ReadAhead(Generic[T]):
    """Calls `read` for the next documents on a thread of its own, while others are cut and stored.

    A context manager: what was not begun when it ends is not read.
    """

    def __init__(self, read: Callable[[Document], T]) -> None:
        self._read = read
        self._pool = ThreadPoolExecutor(1, "reader")

    def __enter__(self) -> "ReadAhead[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def over(self, documents: Iterable[Document]) -> Iterator[tuple[Document, Future[T]]]:
        """The documents in their order, each with what reading it gives, or raises."""
        pending = deque[tuple[Document, Future[T]]]()
        for document in documents:
            pending.append((document, self._pool.submit(self._read, document)))
            while len(pending) > _MOST_FILES or _bytes_of(pending) > _MOST_BYTES:
                yield pending.popleft()
        yield from pending


def _bytes_of(pending: Iterable[tuple[Document, object]]) -> int:
    return sum(document.stat.size_bytes for document, _ in pending)


# Increased when the readers improve: files that older ones read are then read again.
READERS = 7
_REPORT_S = 0.5
_BATCH_DOCUMENTS = 96
_BATCH_CHUNKS = 1200
_BATCH_S = 1.0
_OTHERS_S = 1.0  # then documents that another process reads are tried again
# Refusals that trying again cannot change: listed as skipped, not as failed.
_SKIPPED_REASONS = frozenset({"unsupported", "empty", "no text", "too large", "encrypted"})
# A file that could not be opened keeps no state of the disk, so that every scan tries it again.
_UNKNOWN = FileStat(0, 0, 0)


@dataclass
class _Batch:
    """Outcomes that wait for their transaction, one a document: the last one counts."""

    outcomes: dict[str, IndexingOutcome] = field(default_factory=dict[str, IndexingOutcome])
    began_at: float = field(default_factory=time.monotonic)

    def add(self, outcome: IndexingOutcome) -> None:
        self.outcomes[outcome.document.document_id] = outcome

    def is_full(self) -> bool:
        return (
            len(self.outcomes) >= _BATCH_DOCUMENTS
            or sum(len(outcome.chunks) for outcome in self.outcomes.values()) >= _BATCH_CHUNKS
            or time.monotonic() - self.began_at > _BATCH_S
        )


@dataclass(frozen=True, slots=True)
class _Fetched:
    """A document as it is on the disk, and what reading it gave; None if it is unchanged."""

    document: Document
    parsed: ParsedDocument | ParseFailed | None


class _ChangedError(Exception):
    """The file changed while it was read."""


@dataclass(frozen=True, slots=True)
class OwnKinds:
    """What is known besides the files: of sent documents, late texts, pictures and sources."""

    sent: SentFolders
    late: LateTexts
    pictures: Pictures
    source_of: Callable[[str], Source | None] = lambda _source_id: None


class Indexer(BackgroundPart):
    """The queue of documents to read, and the thread that reads them."""

    def __init__(
        self,
        documents: DocumentStore,
        parser: ParserProcess,
        cutter: DocumentChunker,
        chunking_of: Callable[[str], ChunkSettings],
        meter: ProgressMeter,
        *,
        share: FairShare,
        kinds: OwnKinds,
        callbacks: PipelineCallbacks,
    ) -> None:
        """`chunking_of` gives the chunk settings of a source; `share` makes way for answers."""
        self._late = kinds.late
        self._pictures = kinds.pictures
        self._sent = kinds.sent
        self._documents = documents
        self._parser = parser
        self._encodings = TextEncodings(documents, parser, kinds.source_of)
        self._cutter = cutter
        self._chunking_of = chunking_of
        self._chunking_known: dict[str, ChunkSettings] = {}
        self._meter = meter
        self._share = share
        self._reported_at = 0.0
        self._changed = callbacks.documents_changed
        self._queue: dict[str, None] = {}
        self._taken: dict[str, None] = {}
        self._elsewhere: dict[str, None] = {}  # claimed by another process, which may die
        self._background = BackgroundThread(
            "indexer", self._work, has_work=lambda: bool(self._queue),
            callbacks=callbacks,
        )  # fmt: skip

    def close(self) -> None:
        """Stop now; documents not stored yet are still waiting in the store."""
        super().close()
        self._parser.close()

    def submit(self, document_ids: Iterable[str], *, unless_taken: bool = False) -> None:
        """Queue documents whose rows in the store say they are waiting.

        One that is being read is queued once more, because it was found changed; `unless_taken`
        leaves it alone.
        """
        with self._background.condition:
            left_alone = self._queue.keys() | (self._taken.keys() if unless_taken else set())
            fresh = [i for i in document_ids if i not in left_alone]
            self._queue.update(dict.fromkeys(fresh))
            self._meter.set_files_left(self._left)
        self.wake()

    def withdraw(self, document_ids: Iterable[str]) -> None:
        """Take documents out of the queue, because they are gone or to be skipped."""
        with self._background.condition:
            for document_id in document_ids:
                self._queue.pop(document_id, None)
            self._meter.set_files_left(self._left)

    def release(self) -> None:
        """End the parser process unless it is needed; the next file starts another."""
        self._background.while_idle(self._parser.close)

    @property
    def _left(self) -> int:
        return len(self._queue) + len(self._taken) + len(self._elsewhere)

    def _work(self) -> None:
        try:
            self._read_queue()
        except BaseException:
            self._put_back()
            raise

    def _read_queue(self) -> None:
        self._encodings.forget()
        batch = _Batch()
        with ReadAhead(self._fetch) as ahead:
            for document, fetched in ahead.over(self._waiting()):
                if outcome := self._outcome(document, fetched):
                    batch.add(outcome)
                if batch.is_full():
                    self._flush(batch)
                    batch = _Batch()
                if not self._background.may_go_on():
                    break
        self._flush(batch)
        if self._background.may_go_on() and (told := self._encodings.told_by_now()):
            self._changed(self._documents.requeue(told))
            self.submit(told)
        if self._elsewhere:
            self._background.closing.wait(_OTHERS_S)
        self._put_back()

    def _waiting(self) -> Iterator[Document]:
        """The documents in the queue, until it is empty or nothing more is to be read."""
        while self._background.may_go_on() and (documents := self._take()):
            self._chunking_known.clear()
            self._encodings.forget_choices()
            yield from documents

    def _report_reading(self, document: Document) -> None:
        """Report the file being read, but not each of thousands of small ones."""
        now = time.monotonic()
        if now - self._reported_at > _REPORT_S:
            self._reported_at = now
            self._changed([replace(document, state=DocumentState.READING)])

    def _take(self) -> list[Document]:
        """The rows of the next few documents that still wait; none when the queue is empty."""
        while True:
            with self._background.condition:
                ids = list(self._queue)[:_BATCH_DOCUMENTS]
                for document_id in ids:
                    del self._queue[document_id]
                self._taken.update(dict.fromkeys(ids))
            if not ids:
                return []
            claimed = self._documents.claims.take(ids)
            self._elsewhere.update(dict.fromkeys(set(ids) - set(claimed)))
            waiting = [d for d in self._documents.get(claimed) if d.is_to_be_read]
            self._forget(set(ids) - {d.document_id for d in waiting})
            if waiting:
                return waiting

    def _forget(self, document_ids: Collection[str]) -> None:
        self._documents.claims.release(document_ids)
        for document_id in document_ids:
            self._taken.pop(document_id, None)
        self._meter.set_files_left(self._left)

    def _put_back(self) -> None:
        """Queue documents again that were taken but not stored, before the others."""
        self._documents.claims.release(self._taken)
        with self._background.condition:
            self._queue = {**self._taken, **self._queue, **self._elsewhere}
            self._taken, self._elsewhere = {}, {}
            self._meter.set_files_left(self._left)

    def _outcome(
        self, document: Document, fetched: Future[_Fetched | None]
    ) -> IndexingOutcome | None:
        """The outcome of reading a document; None when it has to wait, or the next scan decides."""
        try:
            found = fetched.result()
            if found is None:
                return None
            outcome = self._cut(found)
            return replace(outcome, taken_stat=document.stat) if outcome else None
        except TextAwaited:
            # It comes back once there is one, or it is known that there will be none.
            del self._taken[document.document_id]
            return None
        except (_ChangedError, FileNotFoundError):
            # Half written, deleted, moved, or its drive was pulled: the next scan tells.
            self._forget([document.document_id])
            return None
        except OSError as exc:
            return _unopened(document, exc.strerror or str(exc))
        except (AppError, Cancelled):
            raise
        except Exception:
            log.exception("a document could not be indexed (%s)", document.document_id)
            return _bug(document)

    def _fetch(self, document: Document) -> _Fetched | None:
        """Read a document, on the thread that reads ahead; None when that has to wait."""
        self._share.wait()
        if not self._background.may_go_on():
            return None
        if self._late.is_awaited(document):
            raise TextAwaited
        self._meter.start_file(document.path.name)
        self._report_reading(document)
        stat = stat_of(document.path)
        digest = hash_of(document.path)
        current = replace(
            document, stat=stat, content_hash=digest, indexed_at=time.time(), readers=READERS
        )
        is_known = digest == document.content_hash and document.readers == READERS
        if is_known and document.chunk_count:
            return _Fetched(current, None)
        parsed = self._parse(current)
        if stat_of(document.path) != stat:
            raise _ChangedError
        return _Fetched(current, parsed)

    def _cut(self, fetched: _Fetched) -> IndexingOutcome | None:
        """The outcome of what was read: its chunks, or why there are none."""
        current, parsed = fetched.document, fetched.parsed
        if parsed is None:
            unchanged = replace(current, state=DocumentState.SEARCHABLE_BY_WORDS)
            return IndexingOutcome(unchanged, keeps_content=True)
        if isinstance(parsed, ParseFailed):
            return _refused(current, parsed)
        parsed = self._sent.described(current, parsed)
        chunking = self._chunking(current.source_id)
        before: list[Chunk] = []
        if current.chunk_count and current.chunking == self._cutter.signature(chunking):
            before = self._documents.chunks(current.document_id)
        return indexing_outcome_of(current, parsed, self._cutter, chunking, before)

    def _chunking(self, source_id: str) -> ChunkSettings:
        """The chunk settings of a source, asked for once for the documents that are taken."""
        if source_id not in self._chunking_known:
            self._chunking_known[source_id] = self._chunking_of(source_id)
        return self._chunking_known[source_id]

    def is_page(self, document: Document) -> bool:
        """True for a page that was fetched from the web."""
        return bool(document.url) and not self._sent.holds(document)

    def _parse(self, document: Document) -> ParsedDocument | ParseFailed:
        content_hash = document.content_hash
        try:
            if self._late.takes(document.path):
                return self._late.read(document)
            hints = self._encodings.hints(document)
            parsed = self._parsed(document, hints)
            if parsed.has_guessed_encoding and (found := self._encodings.neighbours(document)):
                parsed = self._parsed(document, replace(hints, neighbours=found))
            return self._pictures.settled(content_hash, parsed)
        except ParseFailed as failed:
            return self._pictures.settled(content_hash, failed)

    def _parsed(self, document: Document, hints: EncodingHints) -> ParsedDocument:
        return self._parser.parse(
            document.path,
            is_web_page=self.is_page(document),
            pictures=self._pictures.wish(document.content_hash),
            hints=hints,
            cancel=self._background.closing,
        )

    def _flush(self, batch: _Batch) -> None:
        outcomes = list(batch.outcomes.values())
        try:
            stored = self._documents.settle(outcomes)
        except AppError:
            raise
        except Exception:
            log.exception("a batch could not be stored: its documents are stored one by one")
            stored = [d for outcome in outcomes for d in self._settle_alone(outcome)]
        self._forget([outcome.document.document_id for outcome in outcomes])
        passages = sum(d.chunk_count for d in stored if not d.parent_id)
        self._meter.add_read(len(outcomes), passages, self._left)
        if stored:
            self._changed(stored)

    def _settle_alone(self, outcome: IndexingOutcome) -> list[Document]:
        try:
            return self._documents.settle([outcome])
        except AppError:
            raise
        except Exception:
            log.exception("a document could not be stored (%s)", outcome.document.document_id)
            return self._documents.settle([_bug(outcome.document)])


def _refused(document: Document, failed: ParseFailed) -> IndexingOutcome | None:
    if failed.reason == "no access":
        return _unopened(document, failed.hint or failed.title)
    if failed.pictures_left:
        waits = replace(document, reason=waiting_words(failed.pictures_left), chunk_count=0)
        return IndexingOutcome(waits)
    is_final = failed.reason in _SKIPPED_REASONS
    state = DocumentState.SKIPPED if is_final else DocumentState.FAILED
    title = failed.title if failed.title.endswith((".", "!", "?")) else f"{failed.title}."
    reason = f"{title} {failed.hint}".strip()
    return IndexingOutcome(replace(document, state=state, reason=reason, chunk_count=0))


def _unopened(document: Document, why: str) -> IndexingOutcome:
    reason = f"The file cannot be opened: {why}"
    failed = replace(document, state=DocumentState.FAILED, reason=reason, stat=_UNKNOWN)
    return IndexingOutcome(failed, keeps_content=True)


def _bug(document: Document) -> IndexingOutcome:
    reason = "An error in the app stopped this file. The log file has details."
    return IndexingOutcome(
        replace(document, state=DocumentState.FAILED, reason=reason, chunk_count=0)
    )
