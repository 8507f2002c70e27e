"""The scan of sent documents: brings their rows in line with the folders.

It runs at the start and on request, on the thread "sent-documents": after a crash, a restored
backup or a repair some rows are missing, or stand for what is gone.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.crawling import SentDocument
from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.file_state import stat_of
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.ingest.background.background_thread import (
    BackgroundPart,
    BackgroundThread,
    PipelineCallbacks,
)
from desktop_rag.ingest.indexing.indexer import Indexer
from desktop_rag.ingest.sent_files import SentFolders
from desktop_rag.store.contract.documents import DocumentStore

log = logging.getLogger(__name__)


def new_row(source_id: str, path: Path, sent: SentDocument) -> Document:
    """The row of a sent document that is to be read."""
    return Document(
        sent.document_id, source_id, path, sent.title or sent.name, "", stat_of(path), "",
        DocumentState.WAITING, url=sent.url, language=sent.language,
    )  # fmt: skip


def to_be_read(path: Path, sent: SentDocument) -> Callable[[Document], Document]:
    """The change of a row whose content is new, or which is to be read with another title."""
    stat = stat_of(path)
    return lambda row: replace(
        row, path=path, stat=stat, state=DocumentState.WAITING, reason="", url=sent.url,
        title=sent.title or row.title, language=sent.language or row.language, readers=0,
    )  # fmt: skip


def with_address(sent: SentDocument) -> Callable[[Document], Document]:
    """The change of a row of which only the address is new."""
    return lambda row: replace(row, url=sent.url)


class SentCheck(BackgroundPart):
    """A queue of sources to look at, and the thread that does."""

    def __init__(
        self,
        documents: DocumentStore,
        folders: SentFolders,
        indexer: Indexer,
        callbacks: PipelineCallbacks,
    ) -> None:
        self._documents = documents
        self._folders = folders
        self._indexer = indexer
        self._callbacks = callbacks
        self._queue: dict[str, Source] = {}
        self._background = BackgroundThread(
            "sent-documents", self._work, has_work=lambda: bool(self._queue),
            callbacks=callbacks,
        )  # fmt: skip

    def request(self, source: Source, _places: frozenset[Path] | None = None, /) -> None:
        """Look at a source now."""
        with self._background.condition:
            self._queue[source.source_id] = source
        self.wake()

    def forget(self, source_id: str) -> None:
        """Delete what was sent to a removed source."""
        with self._background.condition:
            self._queue.pop(source_id, None)
        self._folders.forget(source_id)

    def _work(self) -> None:
        with self._background.condition:
            if not self._queue:
                return
            source = self._queue.pop(next(iter(self._queue)))
        try:
            self._check(source)
        except AppError:
            self.request(source)
            raise

    def _check(self, source: Source) -> None:
        with self._folders.changing:
            self._folders.reread(source.source_id)
            changes = _Changes(self._folders, source)
            for row in self._documents.documents(source.source_id):
                if not row.parent_id:
                    changes.compare(row)
            changes.add_missing()
            self._folders.drop_others(source.source_id)
            changed = self._documents.apply_changes(
                source.source_id, changes.added, changes.changed, changes.gone
            )
        self._indexer.withdraw(changes.gone)
        self._indexer.submit([d.document_id for d in changed if d.is_to_be_read])
        self._indexer.submit(changes.waiting, unless_taken=True)
        log.info("sent documents: +%d ~%d -%d", len(changes.added), len(changes.changed),
                 len(changes.gone))  # fmt: skip
        self._callbacks.source_scanned(source, changes.summary())
        if changed or changes.gone:
            self._callbacks.documents_changed([*changed, *changes.gone_rows])


class _Changes:
    """The changes that make the rows of one source match its folder."""

    def __init__(self, folders: SentFolders, source: Source) -> None:
        self._folders = folders
        self._source_id = source.source_id
        self._left = {each.document_id: each for each in folders.of(source.source_id).values()}
        self.added: list[Document] = []
        self.changed: dict[str, Callable[[Document], Document]] = {}
        self.gone_rows: list[Document] = []
        self.waiting: list[str] = []
        self._unchanged = 0

    @property
    def gone(self) -> list[str]:
        return [row.document_id for row in self.gone_rows]

    def summary(self) -> ChangeSummary:
        return ChangeSummary(
            added=len(self.added), changed=len(self.changed), gone=len(self.gone_rows),
            unchanged=self._unchanged,
        )  # fmt: skip

    def compare(self, row: Document) -> None:
        sent = self._left.pop(row.document_id, None)
        if sent is None or not (path := self._folders.path_of(self._source_id, sent)).is_file():
            self.gone_rows.append(replace(row, state=DocumentState.GONE))
            if sent:
                # The program is to send it again, and then it is new.
                self._folders.drop(self._source_id, [sent])
        elif row.path != path or row.state is DocumentState.GONE:
            self.changed[row.document_id] = to_be_read(path, sent)
        elif row.url != sent.url:
            self.changed[row.document_id] = with_address(sent)
        elif row.is_to_be_read:
            self.waiting.append(row.document_id)
        else:
            self._unchanged += 1

    def add_missing(self) -> None:
        for sent in self._left.values():
            path = self._folders.path_of(self._source_id, sent)
            if path.is_file():
                self.added.append(new_row(self._source_id, path, sent))
            else:
                self._folders.drop(self._source_id, [sent])
