"""Watches sources and knows which can be reached.

Called by the watcher's thread and those of the pipeline; tells on the same threads.
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

LookAt = Callable[[Source, frozenset[Path] | None], None]
log = logging.getLogger(__name__)


class SourceWatch:
    """The folder watcher, told of sources instead of paths."""

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
        self._look_at: LookAt | None = None
        self._watcher: FolderWatcher | None = None
        self._rules: IgnoreRules | None = None

    def start(self, look_at: LookAt, rules: IgnoreRules, times: WatchTimes | None) -> None:
        """Begin to watch what `watch` is called for.

        `look_at(source, places)` hears where something changed, None for the whole source.
        """
        self._look_at = look_at
        self._rules = rules
        self._watcher = FolderWatcher(self._on_dirty, self._on_polling, rules, times)

    def close(self) -> None:
        """Stop watching. Harmless when it never began."""
        if self._watcher:
            self._watcher.close()

    def watch(self, source: Source) -> None:
        """Begin to watch a folder or file, or take over its rules; web links are not watched."""
        if self._watcher and source.links is None:
            self._watcher.watch(source.path, self._rules_at(source.path))

    def unwatch(self, path: Path) -> None:
        """Stop watching."""
        if self._watcher:
            self._watcher.unwatch(path)

    def set_reached(self, source: Source, is_online: bool) -> None:
        """A look at the source succeeded, or could not be taken."""
        if not is_online:
            self._set_state(source, SourceState.OFFLINE)
        elif self._catalogue.state(source.source_id) is SourceState.OFFLINE:
            is_polled = source.path in self._polled
            self._set_state(source, SourceState.POLLED if is_polled else SourceState.WATCHED)

    def _rules_at(self, path: Path) -> IgnoreRules | None:
        """Rules that hide nothing which one of the sources at the path is to see."""
        rules = [source.rules for source in self._sources_at(path)]
        widest = SourceRules(
            uses_gitignore=any(r.uses_gitignore for r in rules),
            includes_hidden=any(r.includes_hidden for r in rules),
        )
        return self._rules.of(widest) if self._rules else None

    def _on_dirty(self, root: Path, places: frozenset[Path]) -> None:
        assert self._look_at is not None, "the watcher tells nothing before the start"
        for source in self._sources_at(root):
            self._look_at(source, None if root in places else places)

    def _on_polling(self, root: Path, reason: str) -> None:
        self._polled.add(root)
        for source in self._sources_at(root):
            self._set_state(source, SourceState.POLLED)
        self._notify(Notice(f"{root.name} is looked at once a minute.", reason))

    def _sources_at(self, root: Path) -> list[Source]:
        """Called by the watcher, which no failing store may end: the next scan makes up for it."""
        try:
            return [source for source in self._catalogue.sources() if source.path == root]
        except AppError as error:
            log.info("a change was not looked up: %s", error.title)
            return []

    def _set_state(self, source: Source, state: SourceState) -> None:
        before = self._catalogue.state(source.source_id)
        if self._catalogue.set_state(source.source_id, state):
            self._state_changed(source, SourceState.OFFLINE in (before, state))
