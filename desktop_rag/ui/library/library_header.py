"""The top of the library page: what there is, its views, and the actions. Qt thread."""

from enum import StrEnum

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import counts_in_words, with_inside
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import WrappingRow

_LEAST_SUMMARY_PX = 120


class LibraryView(StrEnum):
    """The views of the library, in their order."""

    FILES = "Files"
    FOLDERS = "Folders"
    OVERVIEW = "Overview"
    TODAY = "Changed today"


_VIEWS = {
    LibraryView.FILES: tr("Files"),
    LibraryView.FOLDERS: tr("Folders"),
    LibraryView.OVERVIEW: tr("Overview"),
    LibraryView.TODAY: tr("Changed today"),
}


class LibraryHeader(QWidget):
    """The title with the numbers of files, the views, and the actions in words.

    `view_chosen` carries a LibraryView.
    """

    view_chosen = Signal(object)
    folder_requested = Signal()
    files_requested = Signal()
    links_requested = Signal()
    collections_requested = Signal()
    rescan_requested = Signal()
    pause_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._views: dict[LibraryView, TextButton] = {}
        self._build()
        self._connect()
        self.show_actions(False)

    def show_actions(self, is_visible: bool) -> None:
        """Hide all but the title while the library is empty."""
        for widget in (*self._adding, self._below, self._summary):
            widget.setVisible(is_visible)

    def show_counts(self, counts: DocumentCounts, inside: int) -> None:
        """Show the numbers of files, and of documents inside files, in words."""
        self._summary.set_full_text(with_inside(counts_in_words(counts), inside))

    def show_paused(self, is_paused: bool) -> None:
        """Offer to resume while indexing is paused, else to pause."""
        words = tr("Resume") if is_paused else tr("Pause")
        if self._pause.text() != words:
            self._pause.setText(words)
            self._theme.set_icon(self._pause, "play:text" if is_paused else "pause:text")

    def choose(self, view: LibraryView) -> None:
        """Mark the view that is shown."""
        self._views[view].setChecked(True)

    @property
    def last_stop(self) -> QWidget:
        """The last widget in the Tab order."""
        return self._pause

    def _build(self) -> None:
        # Created from left to right and top to bottom, which sets the Tab order.
        title = PlainLabel(tr("Library"), self, scale="title")
        self._summary = ElidedLabel("", self, tone="muted")
        self._add_folder = TextButton(
            tr("Add folder…"),
            self,
            kind="primary",
            icon="folder-plus:accent_text",
            theme=self._theme,
        )
        self._add_files = TextButton(tr("Add files…"), self)
        self._add_links = TextButton(tr("Add web links…"), self)
        # Aligned with the small text beside it.
        self._summary.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading)
        self._adding = [self._add_folder, self._add_files, self._add_links]
        top = WrappingRow(
            [title, self._summary],
            self._adding,
            at=2,
            stretched=1,
            min_px=_LEAST_SUMMARY_PX,
            spacing=8,
        )
        group = QButtonGroup(self)
        for view in LibraryView:
            button = TextButton(_VIEWS[view], self, kind="chip")
            button.setCheckable(True)
            button.setAccessibleDescription(tr("View of the library"))
            group.addButton(button)
            self._views[view] = button
        self._views[LibraryView.FILES].setChecked(True)
        group.buttonClicked.connect(self._on_view_clicked)
        self._collections = TextButton(tr("Collections…"), self)
        self._rescan = TextButton(tr("Check for changes"), self)
        self._pause = TextButton(tr("Pause"), self, icon="pause:text", theme=self._theme)
        gap = QWidget(self)
        self._below = WrappingRow(
            [*self._views.values(), gap], [self._collections, self._rescan, self._pause],
            at=len(self._views) + 1, stretched=len(self._views), min_px=0, spacing=8,
        )  # fmt: skip
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(top)
        column.addWidget(self._below)

    def _connect(self) -> None:
        for button, signal in (
            (self._add_folder, self.folder_requested),
            (self._add_files, self.files_requested),
            (self._add_links, self.links_requested),
            (self._collections, self.collections_requested),
            (self._rescan, self.rescan_requested),
            (self._pause, self.pause_requested),
        ):
            button.clicked.connect(lambda _=False, told=signal: told.emit())

    @Slot(QAbstractButton)
    def _on_view_clicked(self, clicked: QAbstractButton) -> None:
        self.view_chosen.emit(next(v for v, button in self._views.items() if button is clicked))
