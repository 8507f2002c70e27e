"""The document of the chosen result, beside the list or in its place. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.plain_markdown import shown_text
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.passages.found_passage import FoundPassage
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.viewers.document_span import DocumentSpan
from desktop_rag.ui.widgets.controls import PlainLabel

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_NARROW_PX = 760
_LEAST_PX = 280
# Whoever holds an arrow key down wants to see the list, not every document.
_SETTLE_MS = 120
_CHOOSE = tr("Choose a result to read it here.")


class PreviewSide(QSplitter):
    """`results` at the side where reading begins; where there is little room only one of both.

    `left` comes when the person goes back from the document to the results.
    """

    left = Signal()
    library_requested = Signal()

    def __init__(
        self,
        bridge: Bridge,
        library: "Library",
        theme: Theme,
        opener: DocumentOpener,
        results: QWidget,
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._results = results
        self._wanted: tuple[FoundPassage, str] | None = None
        self._is_closed = self._is_reading = False
        self._has_results = False
        self.pane = ReadingPane(bridge, library, theme)
        opener.serve(self.pane)
        self._empty = PlainLabel(_CHOOSE, tone="muted", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(24)
        self._side = QStackedWidget()
        self._side.addWidget(self._empty)
        self._side.addWidget(self.pane)
        self.setHandleWidth(1)
        for position, widget in enumerate((results, self._side)):
            widget.setMinimumWidth(_LEAST_PX)
            self.addWidget(widget)
            self.setStretchFactor(position, 1)
            self.setCollapsible(position, False)
        self._settling = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settling.timeout.connect(self._preview)
        self.pane.close_requested.connect(self.close_document)
        self.pane.library_requested.connect(self.library_requested)

    @property
    def has_room(self) -> bool:
        """True when both stand side by side."""
        return self.width() >= _NARROW_PX

    def set_has_results(self, *, has_results: bool) -> None:
        """Leave all the room to what is said where there are no results."""
        if has_results != self._has_results:
            self._has_results = has_results
            self._arrange()

    def show_passage(self, found: FoundPassage | None, words: str) -> None:
        """Show a passage in its document soon, with these words marked; None shows none."""
        self._wanted = (found, words) if found else None
        self._settling.start()

    @Slot()
    def read(self) -> None:
        """Go to the document with the keyboard."""
        self._is_closed, self._is_reading = False, True
        self._settling.stop()
        self._arrange()
        self._preview()
        self.pane.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def close_document(self) -> None:
        """Leave the room to the results; reading one brings the document back."""
        self._is_closed = not self._is_reading or self.has_room
        self._is_reading = False
        self._arrange()
        self.left.emit()

    @Slot()
    def _preview(self) -> None:
        wanted = self._wanted
        self._side.setCurrentWidget(self.pane if wanted else self._empty)
        if wanted and self._side.isVisible():
            passage, words = wanted[0].passage, wanted[1]
            text = shown_text(passage.text, passage.path, passage.url)
            self.pane.preview(
                DocumentSpan(
                    passage.document_id, passage.start, passage.end,
                    title=passage.title, passage=text,
                ),
                words,
            )  # fmt: skip

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Without room for both, the document takes the place of the results while it is read."""
        is_wanted = not self._is_closed if self.has_room else self._is_reading
        is_side_shown = is_wanted and self._has_results
        self._side.setVisible(is_side_shown)
        self._results.setVisible(self.has_room or not is_side_shown)
