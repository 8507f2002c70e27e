"""Collections and sources with their current state, and the watch over them. Any worker thread."""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.domain import Collection, Source, SourceRules, SourceState, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.watching.watcher import FolderWatcher, WatchTimes
from desktop_rag.store.contract.sources import SourceStore

log = logging.getLogger(__name__)

DEFAULT_COLLECTION = "My documents"
_LONGEST_PROGRAM = 100


class Catalogue:
    """Sources and collections, checked before they are stored.

    The state of a source is not stored: it is determined each time the app runs.
    """

    def __init__(self, store: SourceStore, pages: Path, sent: Path) -> None:
        """Fetched web pages are kept below `pages`, what other programs send below `sent`."""
        self._store = store
        self._pages = pages
        self._sent = sent
        self._lock = threading.Lock()
        self._lock_of_programs = threading.Lock()
        self._states: dict[str, SourceState] = {}

    def collections(self) -> list[Collection]:
        """All collections, the oldest first."""
        return self._store.collections()

    def chunking_of(self, source_id: str) -> ChunkSettings:
        """The chunk settings for the documents of a source."""
        chunking = {c.collection_id: c.chunking for c in self.collections()}
        source = self.source(source_id)
        return chunking.get(source.collection_id if source else "", ChunkSettings())

    def sources(self) -> list[Source]:
        """All sources, the oldest first, with their current state."""
        with self._lock:
            states = dict(self._states)
        return [
            replace(source, state=states.get(source.source_id, SourceState.WATCHED))
            for source in self._store.sources()
        ]

    def source(self, source_id: str) -> Source | None:
        """One source; None when it does not exist (any more)."""
        return next((s for s in self.sources() if s.source_id == source_id), None)

    def state(self, source_id: str) -> SourceState:
        """The current state of a source. Cheap."""
        with self._lock:
            return self._states.get(source_id, SourceState.WATCHED)

    def set_state(self, source_id: str, state: SourceState) -> bool:
        """Set the state of a source; True if it was another one."""
        with self._lock:
            is_changed = self._states.get(source_id, SourceState.WATCHED) is not state
            self._states[source_id] = state
            return is_changed

    def add(self, path: Path, collection_id: str, rules: SourceRules | None) -> Source:
        """Record a folder or file; AppError when it is missing, or is in the collection already."""
        path = path.expanduser().resolve()
        if not path.exists():
            raise AppError(f"{path.name} does not exist.", f"Nothing was found at {path}.")
        collection_id = collection_id or self.default_collection().collection_id
        _refuse_overlap(path, collection_id, self._store.sources())
        return self._store.add_source(path, collection_id, rules)

    def add_links(self, links: WebLinks, collection_id: str) -> Source:
        """Record web links; AppError when all are there already."""
        collection_id = collection_id or self.default_collection().collection_id
        known = {
            url
            for source in self._store.sources()
            if source.links and source.collection_id == collection_id
            for url in source.links.urls
        }
        fresh = tuple(url for url in links.urls if url not in known)
        if not fresh:
            raise AppError("These links are in the library already.",
                           "Refresh them there, or add them to another collection.")  # fmt: skip
        return self._store.add_links(replace(links, urls=fresh), self._pages, collection_id)

    def of_program(self, program: str, collection_id: str) -> Source:
        """The source of what a program sends to a collection, recorded when it is first asked for.

        AppError for a name that can't be shown.
        """
        name = " ".join(program.split())
        if not name or len(name) > _LONGEST_PROGRAM:
            raise AppError("The program has no name that can be shown.",
                           f"Give it one of 1 to {_LONGEST_PROGRAM} characters.")  # fmt: skip
        with self._lock_of_programs:
            for source in self._store.sources():
                if (source.program, source.collection_id) == (name, collection_id):
                    return source
            return self._store.add_program(name, self._sent, collection_id)

    def locate(self, source: Source, path: Path) -> Path:
        """The folder or file that a source is now; AppError when it can't be that."""
        path = path.expanduser().resolve()
        if not path.exists():
            raise AppError(f"{path.name} does not exist.", f"Nothing was found at {path}.")
        known = [s for s in self.sources() if s.source_id != source.source_id]
        _refuse_overlap(path, source.collection_id, known)
        return path

    def move(self, source_id: str, collection_id: str) -> None:
        """Move a source to another collection; AppError when that has a part of it already."""
        source = self.source(source_id)
        if source is None or source.collection_id == collection_id:
            return
        if source.is_on_disk:
            _refuse_overlap(source.path, collection_id, self._store.sources())
        self._store.set_collection(source_id, collection_id)

    def default_collection(self) -> Collection:
        """The oldest collection, added if there is none yet."""
        return self._store.default_collection(DEFAULT_COLLECTION)


def _refuse_overlap(path: Path, collection_id: str, known: Iterable[Source]) -> None:
    """AppError when a known source of the collection is a part of the path, or the other way."""
    for source in known:
        if source.collection_id != collection_id or not source.is_on_disk:
            continue
        if path == source.path or path.is_relative_to(source.path):
            raise AppError(f"{path.name} is in the library already.",
                           f"It is part of {source.path}.")  # fmt: skip
        if source.path.is_relative_to(path):
            raise AppError(f"A part of {path.name} is in the library already.",
                           f"Remove {source.path} first, then add {path}.")  # fmt: skip


RequestScan = Callable[[Source, frozenset[Path] | None], None]


class SourceWatch:
    """Watches sources and tracks which can be reached; calls back on the threads that call it."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        state_changed: Callable[[Source, bool], None],
        notify: Callable[[Notice], None],
    ) -> None:
        """`state_changed(source, is_or_was_offline)` is called after every change of state."""
        self._catalogue = catalogue
        self._state_changed = state_changed
        self._notify = notify
        self._polled: set[Path] = set()
        self._request_scan: RequestScan | None = None
        self._watcher: FolderWatcher | None = None
        self._rules: IgnoreRules | None = None

    def start(
        self, request_scan: RequestScan, rules: IgnoreRules, times: WatchTimes | None
    ) -> None:
        """Begin to watch what `watch` is called for.

        `request_scan(source, places)` is called with the changed places, None for the whole source.
        """
        self._request_scan = request_scan
        self._rules = rules
        self._watcher = FolderWatcher(self._on_dirty, self._on_polling, rules, times)

    def close(self) -> None:
        """Stop watching. Does nothing when it never began."""
        if self._watcher:
            self._watcher.close()

    def watch(self, source: Source) -> None:
        """Begin to watch a folder or file, or apply its new rules; nothing else is watched."""
        if self._watcher and source.is_on_disk:
            self._watcher.watch(source.path, self._rules_at(source.path))

    def unwatch(self, path: Path) -> None:
        """Stop watching."""
        if self._watcher:
            self._watcher.unwatch(path)

    def set_reached(self, source: Source, is_online: bool) -> None:
        """Note whether a scan could reach the source."""
        if not is_online:
            self._set_state(source, SourceState.OFFLINE)
        elif self._catalogue.state(source.source_id) is SourceState.OFFLINE:
            is_polled = source.path in self._polled
            self._set_state(source, SourceState.POLLED if is_polled else SourceState.WATCHED)

    def _rules_at(self, path: Path) -> IgnoreRules | None:
        """Rules that include every file that some source at the path includes."""
        rules = [source.rules for source in self._sources_at(path)]
        widest = SourceRules(
            uses_gitignore=any(r.uses_gitignore for r in rules),
            includes_hidden=any(r.includes_hidden for r in rules),
        )
        return self._rules.of(widest) if self._rules else None

    def _on_dirty(self, root: Path, places: frozenset[Path]) -> None:
        assert self._request_scan is not None, "the watcher tells nothing before the start"
        for source in self._catalogue.sources():
            if source.path == root:
                self._request_scan(source, None if root in places else places)

    def _on_polling(self, root: Path, reason: str) -> None:
        self._polled.add(root)
        for source in self._sources_at(root):
            self._set_state(source, SourceState.POLLED)
        self._notify(Notice(f"{root.name} is checked once a minute.", reason))

    def _sources_at(self, root: Path) -> list[Source]:
        """The sources at a root; none if the store fails: the watcher's thread must go on."""
        try:
            return [source for source in self._catalogue.sources() if source.path == root]
        except AppError as error:
            log.info("sources were not looked up: %s", error.title)
            return []

    def _set_state(self, source: Source, state: SourceState) -> None:
        before = self._catalogue.state(source.source_id)
        if self._catalogue.set_state(source.source_id, state):
            self._state_changed(source, SourceState.OFFLINE in (before, state))
