"""The library's collections and counts, as the chat needs them. Qt thread, through the bridge."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.foundation.bridge import Bridge

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_DELAY_MS = 3_000


class LibraryOverview(QObject):
    """`loaded` carries the collections and the numbers of sources and searchable documents."""

    loaded = Signal(object, int, int)

    def __init__(self, bridge: Bridge, library: "Library", parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._loaded: tuple[list[Collection], int, int] | None = None
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._timer.timeout.connect(self.refresh)

    @Slot()
    def refresh(self) -> None:
        """Load the overview; `loaded` follows."""
        library = self._library
        self._bridge.run(
            self,
            lambda: (
                library.collections.searchable(),
                library.collections.searchable_sources(),
                library.documents.counts(),
            ),
            self._on_read,
        )

    def refresh_soon(self) -> None:
        """Refresh after a delay, so that frequent calls cost one refresh every three seconds."""
        if not self._timer.isActive():
            self._timer.start()

    def _on_read(self, found: tuple[list[Collection], list[Source], DocumentCounts]) -> None:
        collections, sources, counts = found
        self._loaded = collections, len(sources), counts.searchable
        self.loaded.emit(*self._loaded)

    def tell(self, listener: Callable[[list[Collection], int, int], object]) -> None:
        """Call the listener with what is known now, and whenever `loaded` is emitted."""
        self.loaded.connect(listener)
        if self._loaded:
            listener(*self._loaded)
