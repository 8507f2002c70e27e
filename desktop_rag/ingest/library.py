"""The face of ingest: sources in, searchable documents out.

Window, tray, command line, server and evaluation use this and its parts. Methods may be called
from any worker thread; those marked "cheap" also from the Qt thread.
"""

import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.changes import Changes
from desktop_rag.core.domain import (
    EXCLUDED,
    WHOLE_FOLDER,
    WRONG_PASSWORD,
    Collection,
    Document,
    DocumentState,
    Source,
    TagCount,
    Unlocked,
)
from desktop_rag.core.errors import AppError, PassingError, WrongPasswordError, os_error_as
from desktop_rag.core.library_events import ChangeSummary, DocumentsChanged, Notice
from desktop_rag.core.parsed import Chunk, ChunkSettings
from desktop_rag.core.server_state import ServerState
from desktop_rag.core.settings import Settings
from desktop_rag.core.shared_library import id_there, is_shared
from desktop_rag.ingest.background.background_thread import PipelineCallbacks
from desktop_rag.ingest.background.indexing_pauses import RetryWait
from desktop_rag.ingest.embedding.embedder_registry import EmbedderRegistry, MeaningReadiness
from desktop_rag.ingest.indexing.attacher import Attacher
from desktop_rag.ingest.library_documents import LibraryDocuments, LibraryIndexing
from desktop_rag.ingest.library_sources import LibrarySent, LibrarySources
from desktop_rag.ingest.parsing.page_renderer import PageRenderer
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from desktop_rag.ingest.pipeline import Findable, LibraryStores, Pipeline
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.sources.catalogue import Catalogue, SourceWatch
from desktop_rag.ingest.watching.watcher import WatchTimes
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.system_keyring import FilePasswords
from desktop_rag.store.contract.documents import DocumentStore, TagStore
from desktop_rag.store.contract.sources import SourceStore


class LibraryTags:
    """The tags that the person gives to files: `library.tags`."""

    def __init__(
        self,
        store: TagStore,
        documents: DocumentStore,
        *,
        changed: Callable[[Sequence[Document]], None],
    ) -> None:
        self._store = store
        self._documents = documents
        self._changed = changed

    def counts(self) -> list[TagCount]:
        """All tags in use, given or stated by files, with the number of their files, by name."""
        return self._store.counts()

    def change(
        self, document_ids: Sequence[str], *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> int:
        """Add tags to the files of these documents and remove others.

        Returns the number of files whose tags changed. AppError when a file would have too many.
        """
        count = self._store.change(document_ids, add, remove)
        if count:
            self._changed(self._documents.get(document_ids))
        return count


class LibraryPasswords:
    """Tries, remembers and forgets passwords of encrypted documents: `library.passwords`."""

    def __init__(
        self,
        store: DocumentStore,
        pipeline: Pipeline,
        passwords: FilePasswords,
        make_parser: Callable[[], ParserProcess],
        *,
        changed: Callable[[Sequence[Document]], None],
    ) -> None:
        self._store = store
        self._pipeline = pipeline
        self._passwords = passwords
        self._make_parser = make_parser
        self._changed = changed

    def locked_beside(self, document: Document) -> int:
        """The number of other files in its folder, or below, that need a password."""
        return len(self._locked_below(document.path.parent) - {document.path})

    def enter(
        self, document: Document, password: str, *, keeps: bool, for_folder: bool
    ) -> Unlocked:
        """Try a password and, if it is right, read the file with it.

        With `keeps` it goes to the keyring, otherwise it is remembered until the app ends. With
        `for_folder` it is tried on all encrypted files in the folder of this one and below.

        Raises:
            WrongPasswordError: nothing was changed.
            AppError: when the file can't be opened.
        """
        self._check(document.path, password)
        place = document.path.parent if for_folder else document.path
        with os_error_as("The password could not be remembered."):
            is_kept = self._passwords.save(place, password, keeps=keeps)
        paths = self._locked_below(place) | {document.path}
        return Unlocked(self._read_again(paths), is_kept)

    def forget(self, document: Document) -> int:
        """Forget all passwords that open a document, and drop the text that they opened.

        That of a folder is forgotten for all files below it. Returns the number of files.

        Raises:
            AppError: when the list of passwords can't be written.
        """
        places = self._passwords.places(document.path)
        with os_error_as("The password could not be forgotten."):
            for place in places:
                self._passwords.forget(place)
        paths = {document.path}
        for other in self._store.documents():
            if other.is_unlocked and any(other.path.is_relative_to(place) for place in places):
                paths.add(other.path)
        return self._read_again(paths)

    def _check(self, path: Path, password: str) -> None:
        with closing(self._make_parser()) as parser:
            try:
                parser.check_password(path, password)
            except ParseFailed as failed:
                if failed.title == WRONG_PASSWORD:
                    raise WrongPasswordError from failed
                raise

    def _locked_below(self, place: Path) -> set[Path]:
        skipped = self._store.documents(state=DocumentState.SKIPPED)
        return {d.path for d in skipped if d.needs_password and d.path.is_relative_to(place)}

    def _read_again(self, paths: set[Path]) -> int:
        """Queue the files at these paths, in every source that has them."""
        files = [d for d in self._store.documents() if d.path in paths and not d.part]
        self._pipeline.pictures.forget(files)
        waiting = self._store.requeue([d.document_id for d in files])
        self._pipeline.indexer.submit(row.document_id for row in waiting if not row.part)
        self._changed(waiting)
        return len(paths)


# More are better left out by a pattern: all of them are held against each file of a scan.
_MOST_FILES = 5_000


class LibraryExclusions:
    """Excludes and includes single files and chooses their encoding, by rules of their source:
    `library.exclusions`.
    """

    def __init__(
        self,
        sources: SourceStore,
        documents: DocumentStore,
        pipeline: Pipeline,
        *,
        changed: Callable[[Sequence[Document]], None],
        rules_changed: Callable[[], None],
    ) -> None:
        self._sources = sources
        self._documents = documents
        self._pipeline = pipeline
        self._changed = changed
        self._rules_changed = rules_changed
        self._lock = threading.Lock()

    def exclude(self, document_ids: Sequence[str]) -> list[Document]:
        """Drop the text of these files and never read them again; returns their rows.

        A document inside a file stands for the file; web pages are not files.

        Raises:
            AppError: when a source would get too many such rules.
        """
        return self._set_excluded(document_ids, is_excluded=True)

    def include(self, document_ids: Sequence[str]) -> list[Document]:
        """Read these files again; returns their rows."""
        return self._set_excluded(document_ids, is_excluded=False)

    def choose_encoding(self, document_ids: Sequence[str], encoding: str) -> int:
        """Read these files in this encoding from now on; "" has it found.

        It is for what names none itself, and is no Unicode. A document inside a file stands for the
        file. Returns how many are read again.
        """
        with self._lock:
            files = [d for d in self._files(document_ids) if d.can_be_read_again]
            for source in self._sources.sources():
                its = [d.path for d in files if d.source_id == source.source_id]
                if not its or not source.is_on_disk:
                    continue
                names = {_name_in(source, path) for path in its}
                rules = source.rules.with_encoding(encoding, *names)
                self._sources.set_rules(source.source_id, rules)
        return self._read_again(files)

    def choose_folder_encoding(self, source_id: str, encoding: str) -> int:
        """As `choose_encoding`, for all files of a folder that have none of their own."""
        with self._lock:
            [source] = [each for each in self._sources.sources() if each.source_id == source_id]
            rules = source.rules.with_encoding(encoding, WHOLE_FOLDER)
            self._sources.set_rules(source_id, rules)
        rows = self._documents.documents(source_id)
        texts = [d for d in rows if d.may_lack_encoding and d.can_be_read_again and not d.parent_id]
        others = [d for d in texts if _name_in(source, d.path) not in rules.encodings]
        return self._read_again(others)

    def _read_again(self, files: Sequence[Document]) -> int:
        self._rules_changed()
        waiting = self._documents.requeue([d.document_id for d in files])
        self._changed(waiting)
        self._pipeline.indexer.submit(d.document_id for d in waiting if not d.part)
        return len(files)

    def _set_excluded(self, document_ids: Sequence[str], *, is_excluded: bool) -> list[Document]:
        with self._lock:
            files = [d for d in self._files(document_ids) if d.is_excluded is not is_excluded]
            sources = [
                (source, [d for d in files if d.source_id == source.source_id])
                for source in self._sources.sources()
                if source.is_on_disk
            ]
            changed = [(source, its) for source, its in sources if its]
            stored = [
                row
                for source, its in changed
                for row in self._apply(source, its, is_excluded=is_excluded)
            ]
        if changed:
            self._rules_changed()
        return stored

    def _files(self, document_ids: Sequence[str]) -> list[Document]:
        rows = self._documents.get(document_ids)
        ids = dict.fromkeys(d.parent_id or d.document_id for d in rows)
        return [d for d in self._documents.get(list(ids)) if not d.url]

    def _apply(
        self, source: Source, files: Sequence[Document], *, is_excluded: bool
    ) -> list[Document]:
        names = {_name_in(source, file.path) for file in files}
        before = set(source.rules.excluded_files)
        after = before | names if is_excluded else before - names
        if len(after) > _MOST_FILES:
            raise AppError(
                "Too many single files are excluded.",
                f"Exclude more than {_MOST_FILES:,} by a pattern: see the options of the folder.",
            )
        rules = replace(source.rules, excluded_files=tuple(sorted(after)))
        self._sources.set_rules(source.source_id, rules)
        ids = [file.document_id for file in files]
        inside = [part for i in ids for part in self._documents.parts(i)] if is_excluded else []
        indexer = self._pipeline.indexer
        indexer.withdraw(ids)
        change = _excluded if is_excluded else _waiting
        stored = self._documents.apply_changes(source.source_id, [], dict.fromkeys(ids, change), [])
        gone = [replace(part, state=DocumentState.GONE, gone_at=0.0) for part in inside]
        self._changed([*gone, *stored])
        if not is_excluded:
            indexer.submit(d.document_id for d in stored if d.state is DocumentState.WAITING)
        # A scan under way may still follow the former rule; this one comes after it.
        places = frozenset(file.path for file in files)
        self._pipeline.scans.request(replace(source, rules=rules), places)
        return stored


def _name_in(source: Source, path: Path) -> str:
    return path.relative_to(source.path).as_posix()


def _excluded(document: Document) -> Document:
    return replace(
        document, state=DocumentState.SKIPPED, reason=EXCLUDED, content_hash="", chunk_count=0,
        gone_at=0.0,
    )  # fmt: skip


def _waiting(document: Document) -> Document:
    return replace(document, state=DocumentState.WAITING, reason="", gone_at=0.0)


class LibraryCollections:
    """Collections with their settings for chunking and embedding: `library.collections`."""

    def __init__(
        self, store: SourceStore, findable: Findable, sources: LibrarySources, pipeline: Pipeline
    ) -> None:
        """`findable` has the collections of a shared library too."""
        self._store = store
        self._findable = findable
        self._sources = sources
        self._pipeline = pipeline

    def all(self) -> list[Collection]:
        """All collections, the oldest first."""
        return self._store.collections()

    def searchable(self) -> list[Collection]:
        """All that questions can be limited to: the own ones, then those of a shared library."""
        return self._findable.sources.collections()

    def searchable_sources(self) -> list[Source]:
        """The sources of these collections; only the own ones can be changed."""
        return self._findable.sources.sources()

    def by_words_only(self) -> list[Collection]:
        """Those of a shared library that are not searched by meaning: their model is not here."""
        registry = self._pipeline.embedders
        ids = registry.by_words_only() if registry else ()
        return [c for c in self.searchable() if c.collection_id in ids]

    def find_searchable(self, name: str) -> Collection:
        """The collection of this name, an own one first; `shared:NAME` is of the shared library.

        AppError with the existing names when there is none.
        """
        every = self.searchable()
        shared = [c for c in every if is_shared(c.collection_id)]
        if is_shared(name) and (found := _named(shared, id_there(name))):
            return found
        return _named(every, name) or self.find(name)

    def find(self, name: str) -> Collection:
        """The collection of this name; AppError with the existing names when there is none."""
        found = _named(self.all(), name)
        if found is None:
            collections = self.searchable()
            names = ", ".join(f"“{c.name}”" for c in collections) or "none yet"
            raise AppError(f"There is no collection “{name}”.", f"Collections: {names}.")
        return found

    def find_or_add(self, name: str) -> Collection:
        """The collection of this name, added if there is none."""
        return _named(self.all(), name) or self.add(name)

    def add(self, name: str) -> Collection:
        """A new collection; AppError when the name is empty or taken."""
        return self._store.add_collection(name)

    def rename(self, collection_id: str, name: str) -> Collection:
        """Give it another name; AppError when that is empty or taken."""
        return self._store.rename_collection(collection_id, name)

    def remove(self, collection_id: str) -> None:
        """Remove the collection and its sources; files are not touched."""
        for source in [s for s in self._sources.all() if s.collection_id == collection_id]:
            self._sources.remove(source.source_id)
        self._store.remove_collection(collection_id)

    def set_members(self, collection_id: str, source_ids: AbstractSet[str]) -> dict[str, str]:
        """Make these sources its members; returns the former collection of each that moved, by id.

        Each source is in one collection: those that leave go to the oldest other one. Passages and
        vectors follow in the background where the settings differ.

        Raises:
            AppError: when a part of a source is in the collection already, or there is no other.
        """
        former: dict[str, str] = {}
        for source in self._sources.all():
            is_member = source.collection_id == collection_id
            is_wanted = source.source_id in source_ids
            if is_member != is_wanted:
                goal = collection_id if is_wanted else self._other_than(collection_id)
                self._sources.move(source.source_id, goal)
                former[source.source_id] = source.collection_id
        self._fit(former)
        return former

    def move_back(self, former: Mapping[str, str]) -> None:
        """Undo `set_members`: move each source to the collection that it was in."""
        for source_id, collection_id in former.items():
            self._sources.move(source_id, collection_id)
        self._fit(former)

    def _other_than(self, collection_id: str) -> str:
        others = [c.collection_id for c in self.all() if c.collection_id != collection_id]
        if not others:
            raise AppError(
                "There is no other collection.", "Make a new one first, or remove the folder."
            )
        return others[0]

    def _fit(self, moved: Mapping[str, str]) -> None:
        """Make passages and vectors as the settings of the new collections want them."""
        if moved:
            self._pipeline.rechunker.request()
            if self._pipeline.embedding:
                self._pipeline.embedding.reset()

    def set_chunking(self, collection_id: str, chunking: ChunkSettings) -> None:
        """Chunk its documents again in the background; the old chunks answer until then."""
        self._store.set_chunking(collection_id, chunking)
        self._pipeline.rechunker.request()

    def set_embedder(self, collection_id: str, embedder: str) -> None:
        """Embed anew in the background while the old vectors answer; AppError for a bad model."""
        registry, embedding = self._pipeline.embedders, self._pipeline.embedding
        if registry and embedder:
            registry.check(embedder)
        self._store.set_embedder(collection_id, embedder)
        if embedding:
            embedding.reset()

    def set_intranet_hosts(self, collection_id: str, hosts: Sequence[str]) -> Collection:
        """Let its links name these hosts of the local network; AppError for other texts.

        Each is `host`, `host:port`, either with the network that its addresses are in, or a
        network, for addresses written as numbers. This lets the app reach what only this computer
        can reach: it is for the person who looks after it, not for those who add links.
        """
        kept = self._pipeline.scans.links.checked_hosts(hosts) if hosts else ()
        return self._store.set_intranet_hosts(collection_id, kept)

    def answering_model(self, collection_id: str) -> str:
        """The model whose vectors are searched now, without its hash; "" when there is none."""
        registry = self._pipeline.embedders
        return registry.answering_model(collection_id) if registry else ""


def _named(collections: list[Collection], name: str) -> Collection | None:
    wanted = name.strip().casefold()
    return next((c for c in collections if c.name.casefold() == wanted), None)


class Library:
    """Watches sources and keeps their documents searchable.

    Its parts: `collections`, `sources`, `documents`, `sent`, `exclusions`, `tags`, `passwords`, and
    `indexing`, the work in the background.
    """

    def __init__(
        self,
        stores: LibraryStores,
        embedders: EmbedderRegistry | None,
        priority: AnswerPriority,
        make_parser: Callable[[], ParserProcess],
        *,
        rules: IgnoreRules,
        times: WatchTimes | None = None,
        passwords: FilePasswords | None = None,
        changes: Changes | None = None,
    ) -> None:
        """Without `embedders` documents are searchable by words only. `make_parser` makes a parser
        process: one each for files, their pictures, the links of pages, drawn pages, attachments
        and passwords. Each LibraryEvent is published to `changes` on worker threads.
        """
        self._stores = stores
        self._make_parser = make_parser
        self._rules = rules
        self._times = times or WatchTimes()
        self._is_started = False
        self.changes = changes or Changes()
        publish, findable = self.changes.publish, stores.findable
        catalogue = Catalogue(stores.sources, stores.pages, stores.sent)
        self._watch = SourceWatch(catalogue, state_changed=self._on_state_changed, notify=publish)
        self._pipeline = pipeline = Pipeline(
            stores, catalogue, embedders, priority, make_parser, rules=rules,
            recheck_times=self._times.recheck, callbacks=self._callbacks(),
        )  # fmt: skip
        self._pages = PageRenderer(make_parser)
        self._attacher = self._make_attacher(catalogue)
        self.sources = LibrarySources(
            stores.sources, stores.documents, catalogue, self._watch, pipeline.scans,
            pipeline.rules, publish=publish, changed=self._on_documents_changed,
        )  # fmt: skip
        self.collections = LibraryCollections(stores.sources, findable, self.sources, pipeline)
        self.documents = LibraryDocuments(
            stores.documents, stores.tags, catalogue, pipeline, self._pages, self._attacher,
            findable=findable.documents, changed=self._on_documents_changed,
        )  # fmt: skip
        self.sent = self._make_sent(catalogue)
        self.tags = LibraryTags(stores.tags, stores.documents, changed=self._on_documents_changed)
        self.exclusions = self._make_exclusions()
        self.passwords = LibraryPasswords(
            stores.documents, pipeline, passwords or FilePasswords(), make_parser,
            changed=self._on_documents_changed,
        )  # fmt: skip
        space = RetryWait(lambda: shutil.disk_usage(stores.pages).free, self._times.retry)
        self.indexing = LibraryIndexing(pipeline, stores.documents, space, publish=publish)

    @property
    def readiness(self) -> MeaningReadiness:
        """Says in answers that files have no vectors yet."""
        stores, pipeline = self._stores, self._pipeline
        return MeaningReadiness(
            stores.documents, stores.sources, pipeline.embedders, lambda: pipeline.is_idle
        )

    def cut(self, path: Path, chunking: ChunkSettings, cancel: threading.Event) -> Sequence[Chunk]:
        """The passages that a file would have; none is stored. ParseFailed when it has no text."""
        with closing(self._make_parser()) as parser:
            document = parser.parse(path, cancel=cancel)
        return self._pipeline.chunker.cut(document, chunking).chunks

    def _callbacks(self) -> PipelineCallbacks:
        publish = self.changes.publish
        return PipelineCallbacks(
            documents_changed=self._on_documents_changed,
            source_scanned=self._on_scanned,
            source_reached=self._watch.set_reached,
            notify=publish,
            failed=self._on_failed,
            refused=publish,
            became_busy=self._on_busy,
        )

    def _on_busy(self) -> None:
        self.indexing.wake()

    def _make_attacher(self, catalogue: Catalogue) -> Attacher:
        pipeline, stores = self._pipeline, self._stores
        return Attacher(
            stores.documents, stores.sources, self._make_parser(), pipeline.chunker,
            collection=catalogue.default_collection, stored=pipeline.wake_embedding,
        )  # fmt: skip

    def _make_sent(self, catalogue: Catalogue) -> LibrarySent:
        return LibrarySent(
            self._pipeline.sent, self._stores.documents, catalogue, self._pipeline.indexer,
            changed=self._on_documents_changed, sources_changed=self.sources.publish_changed,
        )  # fmt: skip

    def _make_exclusions(self) -> LibraryExclusions:
        return LibraryExclusions(
            self._stores.sources, self._stores.documents, self._pipeline,
            changed=self._on_documents_changed, rules_changed=self.sources.publish_changed,
        )  # fmt: skip

    def start(self, *, watch: bool = True) -> None:
        """Resume unfinished work, scan every source, and begin to watch."""
        scans = self._pipeline.scans
        if watch:
            self._watch.start(scans.request, self._rules, self._times)
        for source in self.sources.all():
            self._watch.watch(source)
            # Web pages are fetched when they are due, not at every start.
            if source.links is None:
                scans.request(source)
        self._pipeline.start()
        self.indexing.start()
        self._is_started = True
        self.documents.read_left_out()

    def close(self) -> None:
        """Stop watching and indexing; unfinished work is resumed at the next start. Idempotent."""
        self.indexing.stop_waiting()
        self._watch.close()
        self._pipeline.close()
        self._pages.close()
        self._attacher.close()
        self.indexing.close()

    def release(self) -> None:
        """End the processes that read files, unless at work; they start again when needed."""
        self._pipeline.indexer.release()
        self._pipeline.picture_reader.release()
        self._pipeline.scans.release()
        self._pages.release()
        self._attacher.release()

    def apply(self, settings: Settings) -> None:
        """Apply the settings that can change while the app runs."""
        if self._pipeline.late.apply(settings) and self._is_started:
            self.documents.read_left_out()
            for source in self.sources.all():
                if source.is_on_disk:
                    self._pipeline.scans.request(source)
        self.indexing.set_pauses_on_battery(settings.index.pauses_on_battery)
        self._pipeline.apply(settings.index)

    @property
    def is_on_server(self) -> bool:
        """True when a database server keeps the library. Cheap."""
        return self._stores.server is not None

    def server_state(self) -> ServerState | None:
        """Sizes, indexes and slow searches of the library's server; None without one."""
        return self._stores.server() if self._stores.server else None

    # --- from the threads of the pipeline ----------------------------------------------------

    def _on_state_changed(self, source: Source, is_or_was_offline: bool) -> None:
        self.sources.publish_changed()
        if is_or_was_offline:
            self._on_documents_changed(self._stores.documents.documents(source.source_id))

    def _on_scanned(self, source: Source, summary: ChangeSummary) -> None:
        self.sources.note_scan(source, summary)

    def _on_documents_changed(self, documents: Sequence[Document]) -> None:
        self._pipeline.note_pictures(documents)
        self.indexing.note_changed_documents()
        self.changes.publish(DocumentsChanged(tuple(self.documents.listed(documents))))

    def _on_failed(self, error: AppError) -> None:
        if isinstance(error, PassingError):
            if self.indexing.retry_later():
                goes_on = "Indexing is tried again by itself."
                self.changes.publish(Notice(error.title, f"{error.hint} {goes_on}"))
            return
        self.indexing.pause()
        self.changes.publish(
            Notice(error.title, f"{error.hint} Indexing is paused until you resume it.")
        )
