"""The top of the library page, and the page of an empty library. Qt thread."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import counts_in_words
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, IconLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import WrappingRow
from desktop_rag.ui.widgets.form_fields import chips
from desktop_rag.ui.widgets.layouts import Gap, Stretch, vertical

_ICON_PX = 28
_GAP_PX = 14
# Title, text and button of each card.
_FOLDER = (
    tr("Add a folder"),
    tr("Papers, notes, reports: everything in it is indexed now and kept up to date from then on."),
    tr("Add folder…"),
)
_DEMO = (
    tr("Try the demo"),
    tr("A small sample library. Index it, ask a first question, and remove it when you are done."),
    tr("Add demo documents"),
)
_ENDPOINT = (
    tr("Connect a model"),
    tr("Optional. Without one, answers quote the best sentences from your documents."),
    tr("Open settings"),
)


class ChoiceCard(Card):
    """One way to start: an icon, a title, a text and a button. A click on it emits `chosen`."""

    chosen = Signal()

    def __init__(
        self, theme: Theme, icon: str, texts: tuple[str, str, str], *, is_main: bool = False
    ) -> None:
        """`texts` are the title, the text and the button."""
        super().__init__()
        title, text, action = texts
        self.button = TextButton(action, kind="primary" if is_main else "", then=self.chosen)
        words = PlainLabel(text, tone="muted", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignTop)
        vertical(
            IconLabel(theme, icon, size_px=_ICON_PX),
            PlainLabel(title, scale="heading"),
            (words, 1),
            Gap(6),
            self.button,
            on=self,
            margins=18,
            spacing=8,
        )


# Kinds of files named by common words, which are translated.
KINDS_IN_WORDS = {
    "calendars": tr("calendars"),
    "contacts": tr("contacts"),
    "e-mail": tr("e-mail"),
    "notebooks": tr("notebooks"),
    "plain text": tr("plain text"),
    "source code": tr("source code"),
    "subtitles": tr("subtitles"),
    "web pages": tr("web pages"),
}


class FirstRun(QWidget):
    """Offers to add a folder, to try the demo library, or to connect a model."""

    folder_requested = Signal()
    demo_requested = Signal()
    settings_requested = Signal()

    def __init__(self, theme: Theme, kinds_read: Sequence[str], *, has_demo: bool = True) -> None:
        """`kinds_read` names the supported kinds of files, such as `PDF`."""
        super().__init__()
        self.setProperty("kind", "page")
        *kinds, last = (KINDS_IN_WORDS.get(kind, kind) for kind in kinds_read)
        self._kinds_read = tr("{join} and {value}", join=", ".join(kinds), value=last)
        self._folder = ChoiceCard(theme, "folder-plus:accent", _FOLDER, is_main=True)
        self._demo = ChoiceCard(theme, "file-text:accent", _DEMO)
        self._endpoint = ChoiceCard(theme, "server:accent", _ENDPOINT)
        self._build()
        # Only once it is in the layout: a parentless visible widget is a window.
        self._demo.setVisible(has_demo)
        self._folder.chosen.connect(self.folder_requested)
        self._demo.chosen.connect(self.demo_requested)
        self._endpoint.chosen.connect(self.settings_requested)

    def _build(self) -> None:
        # Beside each other where there is room for their words, else below each other.
        self._cards = cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        cards.setSpacing(_GAP_PX)
        for card in (self._folder, self._demo, self._endpoint):
            cards.addWidget(card, 1)
        vertical(
            Stretch(),
            PlainLabel(tr("Ask your documents"), scale="title", wrap=True),
            PlainLabel(
                tr(
                    "Add a folder and start asking. You can search its files by words within"
                    " seconds and by meaning soon after. They stay where they are, on this"
                    " computer."
                ),
                tone="muted",
                wrap=True,
            ),
            Gap(10),
            cards,
            Gap(6),
            PlainLabel(
                tr(
                    "Supported: {kinds_read}. You can also drop folders or files here.",
                    kinds_read=self._kinds_read,
                ),
                tone="muted",
                wrap=True,
            ),
            Stretch(2),
            on=self,
            margins=0,
            spacing=10,
        )

    def minimumSizeHint(self) -> QSize:
        size = super().minimumSizeHint()
        return QSize(min(size.width(), self._column_px()), size.height())

    def _column_px(self) -> int:
        cards = (self._folder, self._demo, self._endpoint)
        return max(card.minimumSizeHint().width() for card in cards)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed_px = self._cards.count() * (self._column_px() + _GAP_PX)
        directions = QBoxLayout.Direction
        is_wide = event.size().width() >= needed_px
        self._cards.setDirection(directions.LeftToRight if is_wide else directions.TopToBottom)


_LEAST_SUMMARY_PX = 120


class LibraryView(StrEnum):
    """The views of the library, in their order."""

    FILES = "Files"
    FOLDERS = "Folders"
    TODAY = "Changed today"


_VIEWS: Mapping[str, str] = {
    LibraryView.FILES: tr("Files"),
    LibraryView.FOLDERS: tr("Folders"),
    LibraryView.TODAY: tr("Changed today"),
}


class LibraryHeader(QWidget):
    """The title with the numbers of files, the views and actions; `view_chosen` carries a view.

    A view is a LibraryView, or one of the more views by its name.
    """

    view_chosen = Signal(object)
    folder_requested = Signal()
    files_requested = Signal()
    collections_requested = Signal()
    pause_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        more_views: Sequence[str],
        ways: Mapping[str, Callable[[], None]],
        parent: QWidget,
    ) -> None:
        """`more_views`: the names of views beside those of the files. `ways`: what adds sources
        that are no folders and files, by the words of the buttons.
        """
        super().__init__(parent)
        self._theme = theme
        self._ways = ways
        self._build((*LibraryView, *more_views))
        self.show_actions(False)

    def show_actions(self, is_visible: bool) -> None:
        """Hide what is about files while there are none; a folder is then offered elsewhere."""
        for widget in (self._add_folder, self._add_files, self._below, self._summary):
            widget.setVisible(is_visible)

    def show_counts(self, counts: DocumentCounts) -> None:
        """Show the numbers of files in words."""
        self._summary.set_full_text(counts_in_words(counts))

    def show_paused(self, is_paused: bool) -> None:
        """Offer to resume while indexing is paused, else to pause."""
        words = tr("Resume") if is_paused else tr("Pause")
        if self._pause.text() != words:
            self._pause.setText(words)
            self._theme.set_icon(self._pause, "play:text" if is_paused else "pause:text")

    def choose(self, view: str) -> None:
        """Mark the current view."""
        self._views[view].setChecked(True)

    @property
    def last_stop(self) -> QWidget:
        """The last widget in the Tab order."""
        return self._pause

    def _build(self, views: Sequence[str]) -> None:
        # Created from left to right and top to bottom, which sets the Tab order.
        title = PlainLabel(tr("Library"), self, scale="title")
        self._summary = ElidedLabel("", self, tone="muted")
        self._add_folder = TextButton(
            tr("Add folder…"),
            self,
            kind="primary",
            icon="folder-plus:accent_text",
            theme=self._theme,
            then=self.folder_requested,
        )
        self._add_files = TextButton(tr("Add files…"), self, then=self.files_requested)
        further = [TextButton(words, self, then=add) for words, add in self._ways.items()]
        # Aligned with the small text beside it.
        self._summary.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading)
        self._adding = [self._add_folder, self._add_files, *further]
        top = WrappingRow(
            [title, self._summary],
            self._adding,
            at=2,
            stretched=1,
            min_px=_LEAST_SUMMARY_PX,
            spacing=8,
        )
        self._views = chips(self, {view: _VIEWS.get(view, view) for view in views})
        for view, button in self._views.items():
            button.setAccessibleDescription(tr("View of the library"))
            button.clicked.connect(lambda _=False, view=view: self.view_chosen.emit(view))
        self._collections = TextButton(tr("Collections…"), self, then=self.collections_requested)
        self._pause = TextButton(
            tr("Pause"), self, icon="pause:text", theme=self._theme, then=self.pause_requested
        )
        gap = QWidget(self)
        self._below = WrappingRow(
            [*self._views.values(), gap], [self._collections, self._pause],
            at=len(self._views) + 1, stretched=len(self._views), min_px=0, spacing=8,
        )  # fmt: skip
        vertical(top, self._below, on=self, margins=0, spacing=10)
