"""A scrollable column of source cards: path, state and file counts. Qt thread."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget

from desktop_rag.core.domain import DocumentState, Source, SourceState
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import ChangeSummary, DocumentCounts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import (
    changes_in_words,
    counts_in_words,
    one_line,
    source_state_in_words,
)
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import WrappingRow
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

_ICON_PX = 22
_TONES = {SourceState.WATCHED: "success", SourceState.POLLED: "accent"}


class FolderActions(QObject):
    """What a person wants with a source; each signal carries it. All cards share one."""

    open_requested = Signal(object)
    rescan_requested = Signal(object)
    remove_confirmed = Signal(object)
    # Also True if only the files that are not read are wanted.
    files_requested = Signal(object, bool)
    options_requested = Signal(object)
    summary_requested = Signal(object)
    ask_requested = Signal(object)
    locate_requested = Signal(object)


class FolderCard(Card):
    """Shows one source. Removing it asks for confirmation, because indexing it again takes time."""

    def __init__(self, theme: Theme, source: Source, asked: FolderActions) -> None:
        super().__init__()
        self._theme = theme
        self.source = source
        self._asked = asked
        self._build()
        theme.changed.connect(self._paint_icon)
        self.show_source(source, "", DocumentCounts())

    @property
    def stops(self) -> Sequence[QWidget]:
        """The widgets of the card in Tab order."""
        return (self._unread, *self._actions, self._keep, self._confirm)

    def show_changes(self, summary: ChangeSummary) -> None:
        """Show the result of the last scan."""
        self._changes.setText(changes_in_words(summary))

    def show_source(self, source: Source, collection: str, counts: DocumentCounts) -> None:
        """Show the source's state, the name of its collection and its file counts."""
        self.source = source
        self._confirm.setEnabled(True)
        self._path.set_full_text(_shown_name(source))
        is_offline = source.state is SourceState.OFFLINE
        self._state.setText(f"● {source_state_in_words(source.state)}")
        self._state.set_tone(_TONES.get(source.state, "warning"))
        # Nothing is watched for what comes by itself.
        self._state.setVisible(not source.program)
        words = counts_in_words(counts)
        self._counts.set_full_text(f"{one_line(collection)} · {words}" if collection else words)
        unread = counts.of(DocumentState.FAILED) + counts.of(DocumentState.SKIPPED)
        self._unread.setText(tr("Show {unread:,} not read", unread=unread))
        self._unread.setVisible(unread > 0)
        # What can't be opened can be looked for.
        self._open.setVisible(not source.program and (not is_offline or source.links is not None))
        self._open.setEnabled(not is_offline)
        self._locate.setVisible(is_offline and source.is_on_disk)
        self._rescan.setEnabled(not is_offline or source.links is not None)
        # What a program sends has no rules.
        self._options.setVisible(source.is_on_disk or source.links is not None)
        self._summary.setVisible(source.is_on_disk)
        self._summary.setEnabled(counts.searchable > 0)
        self._ask.setEnabled(counts.searchable > 0)
        self._paint_icon()

    def event(self, event: QEvent) -> bool:
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and self._question.isVisible():
            # Accepted here before the window's shortcut for this key.
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self._show_question(False)
            return True
        return super().event(event)

    def _build(self) -> None:
        name = one_line(self.source.name)
        self.setAccessibleName(tr("Source {name}", name=name))
        self._icon = PlainLabel()
        self._icon.setFixedSize(QSize(_ICON_PX, _ICON_PX))
        self._path = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._path.setObjectName("folderPath")
        self._state = PlainLabel(scale="small")
        self._counts = ElidedLabel(tone="muted", scale="small")
        self._changes = PlainLabel(tone="muted", scale="small")
        self._unread = TextButton("", kind="link", then=lambda: self._list_files(True))
        words = vertical(
            self._path,
            horizontal(self._state, (self._counts, 1), self._changes, self._unread, spacing=10),
            self._build_actions(name),
            spacing=3,
        )
        self._shown = QWidget()
        horizontal(
            (self._icon, 0, Qt.AlignmentFlag.AlignTop),
            (words, 1),
            on=self._shown,
            margins=0,
            spacing=12,
        )
        outer = vertical(self._shown, on=self, margins=(14, 9, 10, 9))
        # In place of the row, where the person looks, and not below it.
        outer.addWidget(self._build_question(name))

    def _build_actions(self, name: str) -> QWidget:
        asked, action = self._asked, self._action
        self._files = _button(
            tr("Show files"), tr("Show files in {name}", name=name), lambda: self._list_files(False)
        )
        self._ask = action(
            tr("Ask about this"), tr("Ask about {name}", name=name), asked.ask_requested
        )
        self._summary = action(
            tr("Summarise"), tr("Summarise {name}", name=name), asked.summary_requested
        )
        self._open = action(tr("Open folder"), tr("Open {name}", name=name), asked.open_requested)
        self._locate = action(
            tr("Locate…"), tr("Say where {name} is now", name=name), asked.locate_requested
        )
        self._rescan = action(
            tr("Check now"), tr("Check {name} for changes", name=name), asked.rescan_requested
        )
        self._options = action(
            tr("Options…"), tr("Options for {name}", name=name), asked.options_requested
        )
        self._remove = _button(
            tr("Remove…"),
            tr("Remove {name} from the library", name=name),
            lambda: self._show_question(self._question.isHidden()),
        )
        self._actions = (
            self._files, self._ask, self._summary, self._open, self._locate, self._rescan,
            self._options, self._remove,
        )  # fmt: skip
        first = [self._files, self._ask, self._summary, QWidget()]
        second = [self._open, self._locate, self._rescan, self._options, self._remove]
        return WrappingRow(first, second, at=3, stretched=3, min_px=0)

    def _build_question(self, name: str) -> QWidget:
        self._question = Card(self, kind="notice", tone="warning")
        text = PlainLabel(_question(self.source, name), wrap=True)
        self._confirm = TextButton(tr("Remove"), kind="danger", then=self._on_confirm_clicked)
        self._keep = TextButton(tr("Keep"), then=lambda: self._show_question(False))
        horizontal((text, 1), self._keep, self._confirm, on=self._question, margins=(12, 8, 12, 8))
        self._question.hide()
        return self._question

    @Slot()
    def _paint_icon(self) -> None:
        is_offline = self.source.state is SourceState.OFFLINE
        kind = "server" if self.source.program else "link" if self.source.links else "folder"
        icon = self._theme.icon("offline:warning" if is_offline else f"{kind}:accent")
        self._icon.setPixmap(icon.pixmap(QSize(_ICON_PX, _ICON_PX), self.devicePixelRatio()))

    @Slot()
    def _on_confirm_clicked(self) -> None:
        self._confirm.setEnabled(False)
        self._asked.remove_confirmed.emit(self.source)

    def _list_files(self, is_unread_only: bool) -> None:
        self._asked.files_requested.emit(self.source, is_unread_only)

    def _action(self, words: str, name: str, signal: SignalInstance) -> TextButton:
        return _button(words, name, lambda: signal.emit(self.source))

    def _show_question(self, is_visible: bool) -> None:
        shown, hidden = self._question, self._shown
        if not is_visible:
            shown, hidden = hidden, shown
        shown.show()
        # Before the rest is hidden: Qt would give the focus to any other card, and scroll to it.
        (self._keep if is_visible else self._remove).setFocus()
        hidden.hide()


def _shown_name(source: Source) -> str:
    if source.program:
        return tr("{name} (documents that this program sends)", name=one_line(source.name))
    return one_line(str(source.path) if source.is_on_disk else source.name)


def _question(source: Source, name: str) -> str:
    if source.program:
        return tr(
            "Delete all documents that “{name}” sent? They are kept here only, and come back when"
            " the program sends them again.",
            name=name,
        )
    return tr(
        "Remove “{name}” from the library? Its files stay where they are, but adding"
        " it again means indexing it again.",
        name=name,
    )


def _button(words: str, name: str, then: Callable[[], None]) -> TextButton:
    button = TextButton(words, kind="action", then=then)
    button.setAccessibleName(name)
    return button


class SourceList(QScrollArea):
    """One FolderCard per source, reused across updates."""

    def __init__(
        self, theme: Theme, model: DocumentModel, stop_before: QWidget, parent: QWidget
    ) -> None:
        """`stop_before` precedes the first card in the Tab order."""
        super().__init__(parent)
        self.asked = FolderActions(self)
        self._stop_before = stop_before
        self._theme = theme
        self._model = model
        self._cards: dict[str, FolderCard] = {}
        self._collections: Mapping[str, str] = {}
        # A card that was added, until it has its place and is scrolled to.
        self._to_reveal: FolderCard | None = None
        self._body = QWidget(self)
        self._body.setProperty("kind", "page")
        self._column = vertical(Stretch(), on=self._body, margins=0, spacing=8)
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
        card = FolderCard(self._theme, source, self.asked)
        card.installEventFilter(self)
        self._cards[source.source_id] = card
        self._column.insertWidget(place, card)
        return card

    def _order_stops(self) -> None:
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
