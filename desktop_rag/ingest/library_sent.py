"""The documents that other programs send. Any worker thread."""

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.sent_document import Sending, SentDocument, SentOutcome, Taken
from desktop_rag.ingest.indexing.indexer import Indexer
from desktop_rag.ingest.sent_files import SentFolders, content_hash, file_name
from desktop_rag.ingest.sources.catalogue import Catalogue
from desktop_rag.ingest.sources.sent_check import new_row, to_be_read, with_address
from desktop_rag.store.contract.documents import DocumentStore

_Change = Callable[[Document], Document]


class LibrarySent:
    """Keeps what programs send, below the app's home: `library.sent`.

    A program has one source in each collection that it sends to. Its ids are its own: sending one
    again replaces the document, and equal content is neither read nor embedded again.
    """

    def __init__(
        self,
        folders: SentFolders,
        documents: DocumentStore,
        catalogue: Catalogue,
        indexer: Indexer,
        *,
        changed: Callable[[Sequence[Document]], None],
        sources_changed: Callable[[], None],
    ) -> None:
        self._folders = folders
        self._documents = documents
        self._catalogue = catalogue
        self._indexer = indexer
        self._changed = changed
        self._sources_changed = sources_changed

    def source(self, collection_id: str, program: str) -> Source | None:
        """The source of a program in a collection; None when it never sent anything there."""
        wanted = (" ".join(program.split()), collection_id)
        known = self._catalogue.sources()
        return next((s for s in known if (s.program, s.collection_id) == wanted), None)

    def of(self, source_id: str) -> dict[str, SentDocument]:
        """What a source holds, by the program's ids."""
        return self._folders.of(source_id)

    def find(self, document: Document) -> SentDocument | None:
        """What its program said of a document; None for a document that no program sent."""
        return self._folders.find(document)

    def content(self, document: Document) -> bytes:
        """The content of a document as it was sent; b"" for one that no program sent."""
        with self._folders.changing:
            sent = self._folders.find(document)
            path = self._folders.path_of(document.source_id, sent) if sent else None
            return path.read_bytes() if path and path.is_file() else b""

    # --- taking in -----------------------------------------------------------------------------

    def take(self, collection_id: str, program: str, sent: Sequence[Sending]) -> list[Taken]:
        """Keep documents and queue what is new of them; at once, before they are read.

        One that is sent twice here has the later content. AppError when the disk refuses: those
        before are kept.
        """
        is_new = self.source(collection_id, program) is None
        source_id = self._catalogue.of_program(program, collection_id).source_id
        with self._folders.changing:
            intake = _Intake(self._folders, source_id, self._rows(source_id, sent))
            try:
                taken = [intake.take(each) for each in sent]
            finally:
                rows = self._documents.apply_changes(
                    source_id, list(intake.added.values()), intake.changed, []
                )
                self._folders.drop_files(source_id, intake.replaced)
        self._indexer.submit(d.document_id for d in rows if d.state is DocumentState.WAITING)
        if is_new:
            self._sources_changed()
        if rows:
            self._changed(rows)
        return taken

    def remove(self, source_id: str, own_ids: Iterable[str]) -> list[str]:
        """Remove documents of a program; returns its ids of those that were there."""
        with self._folders.changing:
            known = self._folders.of(source_id)
            gone = [known[own_id] for own_id in dict.fromkeys(own_ids) if own_id in known]
            rows = self._documents.get([each.document_id for each in gone])
            self._indexer.withdraw([each.document_id for each in gone])
            # The description first: without it the row does not come back.
            self._folders.drop(source_id, gone)
            self._documents.apply_changes(source_id, [], {}, [d.document_id for d in rows])
        if rows:
            self._changed([replace(row, state=DocumentState.GONE) for row in rows])
        return [each.own_id for each in gone]

    # --- rounds --------------------------------------------------------------------------------

    def begin_round(self, collection_id: str, program: str) -> int:
        """Begin to send everything anew; returns the number of the round."""
        source_id = self._catalogue.of_program(program, collection_id).source_id
        self._sources_changed()
        with self._folders.changing:
            number = self._folders.round(source_id) + 1
            self._folders.set_round(source_id, number)
            return number

    def end_round(self, source_id: str, number: int) -> list[str]:
        """Remove what the program did not send since this round began; returns its ids of those.

        AppError when another round began meanwhile.
        """
        with self._folders.changing:
            if number != self._folders.round(source_id):
                raise AppError(f"Round {number} is not the last one.", "Begin a new one.")
            old = [d.own_id for d in self._folders.of(source_id).values() if d.round < number]
            return self.remove(source_id, old)

    def _rows(self, source_id: str, sent: Sequence[Sending]) -> dict[str, Document]:
        known = self._folders.of(source_id)
        ids = {known[each.own_id].document_id for each in sent if each.own_id in known}
        return {row.document_id: row for row in self._documents.get(sorted(ids))}


class _Intake:
    """Stores documents of one source and collects what becomes of their rows."""

    def __init__(self, folders: SentFolders, source_id: str, rows: dict[str, Document]) -> None:
        self._folders = folders
        self._source_id = source_id
        self._rows = rows
        self._round = folders.round(source_id)
        self._known = folders.of(source_id)
        self.added: dict[str, Document] = {}
        self.changed: dict[str, _Change] = {}
        self.replaced: list[str] = []

    def take(self, sending: Sending) -> Taken:
        before = self._known.get(sending.own_id)
        digest = content_hash(sending.content)
        name = file_name(sending.own_id, sending.name, digest)
        fresh = SentDocument(
            sending.own_id, before.document_id if before else uuid.uuid4().hex, sending.name,
            sending.title, sending.language, sending.url, dict(sending.metadata), digest, name,
            time.time(), self._round,
        )  # fmt: skip
        outcome = _outcome(before, fresh)
        if before and outcome is not SentOutcome.CHANGED:
            fresh = replace(fresh, file_name=before.file_name, sent_at=before.sent_at)
        if fresh != before:
            is_content = outcome in (SentOutcome.NEW, SentOutcome.CHANGED)
            self._folders.put(self._source_id, fresh, sending.content if is_content else None)
        if before and before.file_name != fresh.file_name:
            self.replaced.append(before.file_name)
        self._known[fresh.own_id] = fresh
        self._note(before, fresh, outcome)
        return Taken(fresh, outcome)

    def _note(self, before: SentDocument | None, fresh: SentDocument, outcome: SentOutcome) -> None:
        path = self._folders.path_of(self._source_id, fresh)
        row = self._rows.get(fresh.document_id)
        if row is None:
            self.added[fresh.document_id] = new_row(self._source_id, path, fresh)
            return
        failed = row.state in (DocumentState.FAILED, DocumentState.GONE)
        is_told = before and (before.title, before.language) != (fresh.title, fresh.language)
        if outcome is SentOutcome.CHANGED or failed or is_told:
            # Another time, so that an outcome of reading it before is not taken for this one.
            path.touch()
            self.changed[fresh.document_id] = to_be_read(path, fresh)
        elif row.url != fresh.url:
            self.changed.setdefault(fresh.document_id, with_address(fresh))


def _outcome(before: SentDocument | None, fresh: SentDocument) -> SentOutcome:
    if before is None:
        return SentOutcome.NEW
    if before.content_hash != fresh.content_hash or _ending(before) != _ending(fresh):
        return SentOutcome.CHANGED
    told = [(d.name, d.title, d.language, d.url, d.metadata) for d in (before, fresh)]
    return SentOutcome.SAME if told[0] == told[1] else SentOutcome.DESCRIBED


def _ending(document: SentDocument) -> str:
    return document.file_name.rpartition(".")[2]
