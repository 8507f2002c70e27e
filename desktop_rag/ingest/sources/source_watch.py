"""Watches sources and tracks which can be reached.

Called on the threads of the watcher and of the pipeline; calls back on the same threads.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from desktop_rag.core.domain import Source, SourceRules, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.sources.catalogue import Catalogue
from desktop_rag.ingest.watching.watcher import FolderWatcher, WatchTimes

RequestScan = Callable[[Source, frozenset[Path] | None], None]
log = logging.getLogger(__name__)


class SourceWatch:
    """The folder watcher in terms of sources instead of paths."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        state_changed: Callable[[Source, bool], None],
        notify: Callable[[Notice], None],
    ) -> None:
        """`state_changed(source, is_or_was_offline)` after every change of state."""
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
        """A scan of the source succeeded, or could not reach it."""
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
        for source in self._sources_at(root):
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
            log.info("a change was not looked up: %s", error.title)
            return []

    def _set_state(self, source: Source, state: SourceState) -> None:
        before = self._catalogue.state(source.source_id)
        if self._catalogue.set_state(source.source_id, state):
            self._state_changed(source, SourceState.OFFLINE in (before, state))
