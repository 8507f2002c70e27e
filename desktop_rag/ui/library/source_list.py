"""A scrollable column of source cards. Qt thread."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QVBoxLayout, QWidget

from desktop_rag.core.domain import Source
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.folder_card import FolderCard


class SourceList(QScrollArea):
    """One FolderCard per source, reused across updates. It repeats the signals of the cards."""

    open_requested = Signal(str)
    rescan_requested = Signal(str)
    remove_confirmed = Signal(str)
    files_requested = Signal(str, bool)
    options_requested = Signal(str)
    summary_requested = Signal(str)
    ask_requested = Signal(str)
    locate_requested = Signal(str)

    def __init__(
        self, theme: Theme, model: DocumentModel, stop_before: QWidget, parent: QWidget
    ) -> None:
        """`stop_before` precedes the first card in the Tab order."""
        super().__init__(parent)
        self._stop_before = stop_before
        self._theme = theme
        self._model = model
        self._cards: dict[str, FolderCard] = {}
        self._collections: Mapping[str, str] = {}
        # A card that was added, until it has its place and is scrolled to.
        self._to_reveal: FolderCard | None = None
        self._body = QWidget(self)
        self._body.setProperty("kind", "page")
        self._column = QVBoxLayout(self._body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addStretch(1)
        self.setWidget(self._body)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        model.counts_changed.connect(self.show_counts)

    @property
    def cards(self) -> Sequence[FolderCard]:
        """The cards, from top to bottom."""
        return list(self._cards.values())

    def set_sources(self, sources: Sequence[Source], collections: Mapping[str, str]) -> None:
        """Show these sources. `collections` maps ids to names, shown if there are several."""
        self._collections = collections if len(collections) > 1 else {}
        names = {source.source_id: source.name for source in sources}
        # The names of a card's buttons are those of its folder, which may have been moved.
        stale = [key for key, card in self._cards.items() if names.get(key) != card.source.name]
        for source_id in stale:
            card = self._cards.pop(source_id)
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        is_first = not self._cards
        for place, source in enumerate(sources):
            card = self._cards.get(source.source_id)
            if card is None:
                card = self._add_card(source, place)
                self._to_reveal = None if is_first else card
            self._show_on(card, source)
        self._cards = {source.source_id: self._cards[source.source_id] for source in sources}
        self._order_stops()

    def show_changes(self, source_id: str, summary: ChangeSummary) -> None:
        """Show the result of a source's last scan on its card."""
        if card := self._cards.get(source_id):
            card.show_changes(summary)

    def show_counts(self) -> None:
        """Update the file counts on every card."""
        for card in self._cards.values():
            self._show_on(card, card.source)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_placed = event.type() == QEvent.Type.Move and watched is self._to_reveal
        # A card that has grown below the person's eyes, such as after its question.
        is_grown = (
            event.type() == QEvent.Type.Resize and not self._to_reveal and _has_focus(watched)
        )
        if is_grown and isinstance(watched, FolderCard):
            self._to_reveal = watched
        if (is_placed or is_grown) and self._to_reveal:
            QTimer.singleShot(0, self._to_reveal, self._reveal)
        return super().eventFilter(watched, event)

    @Slot()
    def _reveal(self) -> None:
        card, self._to_reveal = self._to_reveal, None
        if card:
            self.ensureWidgetVisible(card, 0, 0)

    def _add_card(self, source: Source, place: int) -> FolderCard:
        card = FolderCard(self._theme, source, self._body)
        card.open_requested.connect(self.open_requested)
        card.rescan_requested.connect(self.rescan_requested)
        card.remove_confirmed.connect(self.remove_confirmed)
        card.files_requested.connect(self.files_requested)
        card.options_requested.connect(self.options_requested)
        card.summary_requested.connect(self.summary_requested)
        card.locate_requested.connect(self.locate_requested)
        card.ask_requested.connect(self.ask_requested)
        card.installEventFilter(self)
        self._cards[source.source_id] = card
        self._column.insertWidget(place, card)
        return card

    def _order_stops(self) -> None:
        """Set the Tab order to the visual order; a new card would come last."""
        before = self._stop_before
        for stop in [stop for card in self._cards.values() for stop in card.stops]:
            self.setTabOrder(before, stop)
            before = stop

    def _show_on(self, card: FolderCard, source: Source) -> None:
        collection = self._collections.get(source.collection_id, "")
        card.show_source(source, collection, self._model.counts(source.source_id))


def _has_focus(watched: QObject) -> bool:
    focused = QApplication.focusWidget()
    return isinstance(watched, QWidget) and focused is not None and watched.isAncestorOf(focused)
