"""Keeps the library page up to date with the library. Qt thread; it reads through the bridge."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop_rag.core.domain import Collection, Document, Source
from desktop_rag.core.library_events import (
    DocumentsChanged,
    IndexProgress,
    ProgressChanged,
    SourceScanned,
    SourcesChanged,
)
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.document_rows import DocumentRows, make_table

_BATCH_MS = 200
_BATCH_SIZE = 2000
# The pause between two batches is at least this many times the duration of a batch.
_PAUSE_FACTOR = 8


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The whole library, read and prepared on a worker thread."""

    sources: list[Source]
    collections: list[Collection]
    table: DocumentRows
    progress: IndexProgress


class LibraryFeed(QObject):
    """Loads everything once, then follows the library's events.

    Documents enter the model in batches, at most five times a second. `sources_changed` carries a
    list of Source and one of Collection, `progress_changed` an IndexProgress, `scanned` the id of a
    source and the ChangeSummary of its last scan.
    """

    sources_changed = Signal(object, object)
    progress_changed = Signal(object)
    scanned = Signal(str, object)

    def __init__(
        self, bridge: Bridge, library: Library, model: DocumentModel, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._model = model
        self._changed: dict[str, Document] = {}
        self._removed: set[str] = set()
        self.is_wanted = False
        self._is_loaded = False
        self._are_sources_stale = False
        self._job: Job | None = None
        self._batch = QTimer(self, singleShot=True, interval=_BATCH_MS)
        self._batch.timeout.connect(self._on_batch_due)
        bridge.hear(ProgressChanged, self._on_progress)
        bridge.hear(DocumentsChanged, self._on_documents_changed)
        bridge.hear(SourceScanned, self._on_scanned)
        bridge.hear(SourcesChanged, self._on_sources_changed)

    def load(self) -> None:
        """Read everything; changes are queued until it is loaded."""
        library, removed = self._library, frozenset(self._removed)
        self.is_wanted = True

        def read() -> _Snapshot:
            sources = library.sources.all()
            documents = (d for d in library.documents.all() if d.source_id not in removed)
            table = make_table(documents, _roots(sources))
            return _Snapshot(sources, library.collections.all(), table, library.indexing.progress())

        self._bridge.run(self, read, self._on_loaded)

    def release(self) -> None:
        """Forget everything until `load`."""
        if not self._is_loaded:
            return
        self.is_wanted = self._is_loaded = False
        self._changed.clear()
        self._batch.stop()
        self._model.set_table(make_table([], {}))

    def _on_progress(self, event: ProgressChanged) -> None:
        self.progress_changed.emit(event.progress)

    def _on_documents_changed(self, event: DocumentsChanged) -> None:
        if self.is_wanted:
            self._changed.update(
                (d.document_id, d) for d in event.documents if d.source_id not in self._removed
            )
            self._start_batch()

    def _on_scanned(self, event: SourceScanned) -> None:
        self.scanned.emit(event.source_id, event.summary)

    def _on_sources_changed(self, _event: SourcesChanged) -> None:
        self.reload_sources()

    def reload_sources(self) -> None:
        """Read the sources again."""
        library = self._library
        self._are_sources_stale = not self._is_loaded
        if self._are_sources_stale:
            return
        if self._job:
            # An older result must not replace a newer one.
            self._job.cancel()
        self._job = self._bridge.run(
            self,
            lambda: (library.sources.all(), library.collections.all()),
            lambda read: self._emit_sources(*read),
        )

    def exclude_source(self, source_id: str) -> None:
        """Stop showing a source that is being removed; changes would bring its rows back."""
        self._removed.add(source_id)
        self._changed = {k: d for k, d in self._changed.items() if d.source_id != source_id}
        self.reload_sources()

    def include_source(self, source_id: str) -> None:
        """Show a source again whose removal failed or was undone."""
        self._removed.discard(source_id)
        self.load()

    def _on_loaded(self, snapshot: _Snapshot) -> None:
        self._is_loaded = True
        self._model.set_table(snapshot.table)
        self._emit_sources(snapshot.sources, snapshot.collections)
        self.progress_changed.emit(snapshot.progress)
        if self._are_sources_stale:
            self.reload_sources()
        if self._changed:
            self._start_batch()

    def _emit_sources(self, sources: list[Source], collections: list[Collection]) -> None:
        kept = [source for source in sources if source.source_id not in self._removed]
        self._model.set_roots(_roots(kept))
        self.sources_changed.emit(kept, collections)

    def _start_batch(self) -> None:
        if self._is_loaded and not self._batch.isActive():
            self._batch.start()

    @Slot()
    def _on_batch_due(self) -> None:
        due = [self._changed.pop(key) for key in list(self._changed)[:_BATCH_SIZE]]
        began_at = time.perf_counter()
        self._model.apply_changes(due)
        took_ms = (time.perf_counter() - began_at) * 1000
        self._batch.setInterval(max(_BATCH_MS, int(took_ms * _PAUSE_FACTOR)))
        if self._changed:
            self._batch.start()


def _roots(sources: Iterable[Source]) -> dict[str, str]:
    return {source.source_id: str(source.path) for source in sources}
