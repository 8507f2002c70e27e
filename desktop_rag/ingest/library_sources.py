"""The sources of the library: folders, files, links, and what programs send. Any worker thread."""

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from desktop_rag.core.crawling import CrawlReport, Sending, SentDocument, SentOutcome, Taken
from desktop_rag.core.domain import Document, DocumentState, Source, SourceRules, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import (
    ChangeSummary,
    FolderPreview,
    LibraryEvent,
    SourceScanned,
    SourcesChanged,
)
from desktop_rag.ingest.indexing.indexer import Indexer
from desktop_rag.ingest.scanning.disk_walk import preview
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.sent_files import SentFolders, content_hash, file_name
from desktop_rag.ingest.sources.catalogue import Catalogue, SourceWatch
from desktop_rag.ingest.sources.sent_check import new_row, to_be_read, with_address
from desktop_rag.ingest.sources.source_kinds import LinkKind, SourceScans
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.sources import SourceStore


class LibrarySources:
    """Adds, removes and rescans sources: `library.sources`."""

    def __init__(
        self,
        store: SourceStore,
        documents: DocumentStore,
        catalogue: Catalogue,
        watch: SourceWatch,
        scans: SourceScans,
        rules: IgnoreRules,
        *,
        publish: Callable[[LibraryEvent], None],
        changed: Callable[[Sequence[Document]], None],
    ) -> None:
        self._store = store
        self._documents = documents
        self._changed = changed
        self._catalogue = catalogue
        self._watch = watch
        self._scans = scans
        self._rules = rules
        self._publish = publish
        self._last_scans: dict[str, ChangeSummary] = {}

    def all(self) -> list[Source]:
        """All sources, the oldest first, with their current state."""
        return self._catalogue.sources()

    @property
    def last_scans(self) -> dict[str, ChangeSummary]:
        """The result of the last scan of each source, by its id. Cheap."""
        return dict(self._last_scans)

    def preview(self, path: Path, rules: SourceRules, *, cancel: threading.Event) -> FolderPreview:
        """The files that adding a folder would index; reads none. Stops early when cancelled."""
        return preview(path, self._rules.of(rules), cancel)

    def add(self, path: Path, collection_id: str = "", rules: SourceRules | None = None) -> Source:
        """Index a folder or file from now on; AppError when it can't be added."""
        return self._begin(self._catalogue.add(path, collection_id, rules))

    def add_links(self, links: WebLinks, collection_id: str = "", *, password: str = "") -> Source:
        """Index web pages, or a place on a server, from now on.

        AppError when all of them are in the collection already.
        """
        kind = self._scans.fetching(links)
        links = kind.checked(links)
        if password:
            kind.keep_password(links, password)
        return self._begin(self._catalogue.add_links(links, collection_id))

    def preview_links(
        self, links: WebLinks, password: str, cancel: threading.Event
    ) -> FolderPreview:
        """What adding a place on a server would fetch; fetches none.

        Without a password the kept one is used. AppError when the server refuses.
        """
        kind = self._scans.fetching(links)
        return kind.preview(kind.checked(links), password, cancel)

    @property
    def links(self) -> LinkKind:
        """What fetches web pages; AppError in an app without it."""
        return self._scans.links

    @property
    def remote_kinds(self) -> list[str]:
        """The names of the kinds of places on servers."""
        return self._scans.remote_kinds

    def crawls(self) -> dict[str, CrawlReport]:
        """The report on fetching each source of links, so far or at the end, by the source's id."""
        return self._scans.reports()

    def stop_crawl(self, source_id: str) -> None:
        """End the fetching of a source of links; what was read stays."""
        self._scans.stop(source_id)
        self.publish_changed()

    def locate(self, source_id: str, path: Path) -> Source:
        """Tell where a folder or file was moved to; what is known of its files is kept.

        Only files whose size or time differ are looked at again, and only those with another
        content are read and embedded anew. AppError when it can't be there.
        """
        source = next(s for s in self.all() if s.source_id == source_id)
        now = replace(source, path=self._catalogue.locate(source, path))
        self._unwatch_unless_shared(source)
        places = {
            d.document_id: partial(_moved_to, path=now.path / d.path.relative_to(source.path))
            for d in self._documents.documents(source_id)
            if not d.parent_id and d.path.is_relative_to(source.path)
        }
        moved = self._documents.apply_changes(source_id, [], places, [])
        self._store.set_path(source_id, now.path)
        self._changed(moved)
        return self._begin(now)

    def move(self, source_id: str, collection_id: str) -> None:
        """Move a source to another collection; AppError when that has a part of it already."""
        self._catalogue.move(source_id, collection_id)
        self.publish_changed()

    def set_rules(self, source_id: str, rules: SourceRules) -> None:
        """Change the rules that exclude files of a folder, and rescan it."""
        self._store.set_rules(source_id, rules)
        self.publish_changed()
        self.rescan(source_id)

    def set_links(self, source_id: str, links: WebLinks, *, password: str = "") -> None:
        """Change the web links of a source and fetch them; AppError when a text is no address.

        Without a password the kept one stays.
        """
        kind = self._scans.fetching(links)
        links = kind.checked(links)
        if password:
            kind.keep_password(links, password)
        self._store.set_links(source_id, links)
        self.publish_changed()
        self.rescan(source_id)

    def set_base_address(self, source_id: str, address: str) -> None:
        """Say which site a folder mirrors: its files have addresses below this one; "" for none.

        AppError for a text that is no address of a folder of the web.
        """
        base = self._scans.links.checked_base(address) if address.strip() else ""
        self._store.set_base_address(source_id, base)
        self.publish_changed()
        self._changed(self._documents.documents(source_id))

    def put_away(self, source_id: str) -> None:
        """Take a source out of lists, counts and searches, until `remove` or `bring_back`.

        All that is known of it stays. One that is put away when the app ends is removed.
        """
        self._unwatch(source_id)
        self._store.set_put_away(source_id, is_put_away=True)
        self._publish_other()

    def bring_back(self, source_id: str) -> None:
        """Undo `put_away`; files are read again where they changed."""
        self._store.set_put_away(source_id, is_put_away=False)
        for source in self.all():
            if source.source_id == source_id:
                self._watch.watch(source)
                # Web pages are fetched when they are due.
                if source.links is None:
                    self._scans.request(source)
        self._publish_other()

    def remove(self, source_id: str) -> None:
        """Remove the source and its documents from the library; its files are not touched."""
        self._unwatch(source_id)
        self._scans.forget(source_id)
        self.publish_changed()

    def look_again(self) -> None:
        """Scan folders that came with a backup. Pages are fetched when they are due."""
        self.publish_changed()
        for source in self.all():
            if source.links is None:
                self.rescan(source.source_id)

    def rescan(self, source_id: str = "") -> None:
        """Compare a source (or all) with the disk, or the web, now."""
        for source in self.all():
            if source_id in ("", source.source_id):
                self._watch.watch(source)
                self._scans.request(source)

    def note_scan(self, source: Source, summary: ChangeSummary) -> None:
        """Remember the result of a scan and publish it."""
        self._last_scans[source.source_id] = summary
        self._publish(SourceScanned(source.source_id, summary))

    def publish_changed(self) -> None:
        """Publish the current sources."""
        self._publish(SourcesChanged(tuple(self.all())))

    def _publish_other(self) -> None:
        """Publish other sources, and with them another number of files."""
        self.publish_changed()
        self._changed(())

    def _unwatch(self, source_id: str) -> None:
        for source in self.all():
            if source.source_id == source_id:
                self._unwatch_unless_shared(source)

    def _unwatch_unless_shared(self, source: Source) -> None:
        others = [s.path for s in self.all() if s.source_id != source.source_id]
        if source.path not in others:
            self._watch.unwatch(source.path)

    def _begin(self, source: Source) -> Source:
        self._watch.watch(source)
        self._scans.request(source)
        self.publish_changed()
        return source


def _moved_to(document: Document, path: Path) -> Document:
    # On another disk it has another inode; 0 is unknown, so size and time decide.
    return replace(document, path=path, stat=replace(document.stat, inode=0))


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
        """The description of a sent document; None for any other."""
        return self._folders.find(document)

    def content(self, document: Document) -> bytes:
        """The content of a document as it was sent; b"" for one that no program sent."""
        with self._folders.changing:
            sent = self._folders.find(document)
            path = self._folders.path_of(document.source_id, sent) if sent else None
            return path.read_bytes() if path and path.is_file() else b""

    def take(self, collection_id: str, program: str, sent: Sequence[Sending]) -> list[Taken]:
        """Store documents and queue those with news; returns before they are read.

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
    """Stores documents of one source and collects the changes of their rows."""

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
