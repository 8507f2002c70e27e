"""What there is to ask: the collections, and how many documents. Qt thread, through the bridge."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.foundation.bridge import Bridge

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_EVERY_MS = 3_000


class LibraryOverview(QObject):
    """`known` carries the collections, the number of sources and that of searchable documents."""

    known = Signal(object, int, int)

    def __init__(self, bridge: Bridge, library: "Library", parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._timer = QTimer(self, singleShot=True, interval=_EVERY_MS)
        self._timer.timeout.connect(self.refresh)

    @Slot()
    def refresh(self) -> None:
        """Ask the library; `known` follows."""
        library = self._library
        self._bridge.run(
            self,
            lambda: (library.collections(), library.sources(), library.counts()),
            self._on_asked,
        )

    def refresh_soon(self) -> None:
        """The same, but at most every few seconds however often it is called."""
        if not self._timer.isActive():
            self._timer.start()

    def _on_asked(self, found: tuple[list[Collection], list[Source], DocumentCounts]) -> None:
        collections, sources, counts = found
        self.known.emit(collections, len(sources), counts.searchable)
