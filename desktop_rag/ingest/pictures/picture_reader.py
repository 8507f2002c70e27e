"""Reads the pictures that wait, one file after the other. Owns one named thread.

It begins when every file is searchable by its words and its meaning, and gives way between two
pictures to files, to answers and to the person. What it read is kept; the indexer then reads the
file again, with these texts.
"""

import errno
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from desktop_rag.core.domain import Document
from desktop_rag.core.errors import AppError, Cancelled, DiskFullError
from desktop_rag.core.files.file_state import stat_of
from desktop_rag.core.pictures import PictureHold, PictureText
from desktop_rag.ingest.background.background_thread import (
    BackgroundPart,
    BackgroundThread,
    PipelineCallbacks,
)
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from desktop_rag.ingest.parsing.protocol import PictureWish
from desktop_rag.ingest.pictures.pictures import KeptPictures, PictureFolder, Pictures
from desktop_rag.models.answer_priority import AnswerPriority, FairShare
from desktop_rag.store.contract.documents import DocumentStore

# The most work that a crash can cost, and the longest wait of a file whose pictures are read.
_KEEP_S = 10.0
_GIVE_BACK_S = 10.0


class ReadsFiles(Protocol):
    """What reads files: the indexer."""

    def submit(self, document_ids: Iterable[str]) -> None:
        """Queue documents that wait."""
        ...

    def is_page(self, document: Document) -> bool:
        """True for a page that was fetched from the web."""
        ...


@dataclass
class _Reading:
    """A file whose pictures are being read: what is known of them, and since when unkept."""

    document: Document
    texts: dict[str, PictureText]
    kept_at: float = field(default_factory=time.monotonic)


class PictureReader(BackgroundPart):
    """The thread that reads pictures, in a parser process of its own."""

    def __init__(
        self,
        pictures: Pictures,
        parser: ParserProcess,
        documents: DocumentStore,
        indexer: ReadsFiles,
        meter: ProgressMeter,
        *,
        priority: AnswerPriority,
        may_run: Callable[[], bool],
        callbacks: PipelineCallbacks,
    ) -> None:
        """The `indexer` reads files again when their pictures are known."""
        self._pictures = pictures
        self._parser = parser
        self._documents = documents
        self._indexer = indexer
        self._meter = meter
        self._priority = priority
        self._share = FairShare(priority)
        self._changed = callbacks.documents_changed
        self._finished: list[str] = []
        self._given_back_at = time.monotonic()
        # Its models are loaded at the first picture, which says nothing about the next.
        self._is_warm = False
        self._background = BackgroundThread(
            "pictures", self._work, has_work=self._has_work, may_work=may_run,
            callbacks=callbacks,
        )  # fmt: skip

    def close(self) -> None:
        """End the picture under way; what is known of its file is kept."""
        super().close()
        self._parser.close()

    def release(self) -> None:
        """End the parser process unless it is needed."""
        self._background.while_idle(self._end_process)

    def _has_work(self) -> bool:
        waiting = self._pictures.waiting
        may_read = waiting.count > 0 and waiting.hold is PictureHold.NONE
        return may_read or bool(self._finished)

    # --- on the thread ---------------------------------------------------------------------------

    def _work(self) -> None:
        self._meter.forget_time()
        waiting = self._pictures.waiting
        document_id = self._pictures.next_id() if waiting.hold is PictureHold.NONE else None
        try:
            if document_id is not None:
                self._share.wait()
                self._read_claimed(document_id)
        finally:
            is_over = document_id is None or not self._background.may_go_on()
            if is_over or time.monotonic() - self._given_back_at > _GIVE_BACK_S:
                self._give_back()

    def _read_claimed(self, document_id: str) -> None:
        claims = self._documents.claims
        if not claims.take([document_id]):
            # Another process reads it; its new row tells.
            self._pictures.drop(document_id)
            return
        try:
            row = next(iter(self._documents.get([document_id])), None)
            if row is None or not row.pictures_waiting or not _is_unchanged(row):
                # Deleted, changed or out of reach: the scan tells.
                self._pictures.drop(document_id)
            else:
                self._read(row)
        finally:
            claims.release([document_id])

    def _read(self, document: Document) -> None:
        folder = self._pictures.folder
        assert folder is not None
        reading = _Reading(document, dict(folder.get(document.content_hash).texts))
        self._meter.start_file(document.path.name)
        failed: ParseFailed | None = None
        try:
            self._parser.parse(
                document.path,
                is_web_page=self._indexer.is_page(document),
                pictures=PictureWish(dict(reading.texts), learned=partial(self._learn, reading)),
                cancel=self._background.closing,
            )
        except ParseFailed as exc:
            failed = None if exc.reason == "no text" else exc
        except Cancelled:
            self._is_warm = False
            _keep(folder, document, KeptPictures(reading.texts))
            raise
        if _is_unchanged(document):
            _keep(folder, document, KeptPictures(reading.texts, is_settled=True, failed=failed))
            self._finished.append(document.document_id)
        self._pictures.drop(document.document_id)

    def _learn(self, reading: _Reading, place: str, text: PictureText) -> None:
        """Take the text of a picture; Cancelled when something else goes before the next."""
        reading.texts[place] = text
        self._pictures.read_one(reading.document.document_id)
        self._meter.add_pictures(1, is_measured=self._is_warm)
        self._is_warm = True
        now = time.monotonic()
        if now - reading.kept_at > _KEEP_S:
            reading.kept_at = now
            folder = self._pictures.folder
            assert folder is not None
            _keep(folder, reading.document, KeptPictures(dict(reading.texts)))
        is_held = self._pictures.waiting.hold is not PictureHold.NONE
        if is_held or self._priority.must_yield.is_set() or not self._background.may_go_on():
            raise Cancelled

    def _give_back(self) -> None:
        """Queue the files whose pictures are known now, to be read again."""
        self._given_back_at = time.monotonic()
        finished = list(self._finished)
        if finished:
            rows = self._documents.requeue(finished)
            self._indexer.submit([row.document_id for row in rows])
            self._changed(rows)
            del self._finished[: len(finished)]

    def _end_process(self) -> None:
        self._is_warm = False
        self._parser.close()


def _is_unchanged(document: Document) -> bool:
    try:
        return stat_of(document.path) == document.stat
    except OSError:
        return False


def _keep(folder: PictureFolder, document: Document, kept: KeptPictures) -> None:
    try:
        folder.put(document.content_hash, kept)
    except OSError as exc:
        title = "The texts of pictures can't be kept."
        if exc.errno == errno.ENOSPC:
            raise DiskFullError(title) from exc
        raise AppError(title, exc.strerror or str(exc)) from exc
