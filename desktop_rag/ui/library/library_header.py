"""The top of the library page, and the page of an empty library. Qt thread."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import counts_in_words
from desktop_rag.ui.library.source_actions import SourceActions
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import FlowRow, WrappingRow
from desktop_rag.ui.widgets.form_fields import chips
from desktop_rag.ui.widgets.layouts import Stretch, vertical

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
    """Offers to add a folder, or to try the demo library."""

    folder_requested = Signal()
    demo_requested = Signal()

    def __init__(self, theme: Theme, kinds_read: Sequence[str]) -> None:
        """`kinds_read` names the supported kinds of files, such as `PDF`."""
        super().__init__()
        self.setProperty("kind", "page")
        *kinds, last = (KINDS_IN_WORDS.get(kind, kind) for kind in kinds_read)
        read = tr("{join} and {value}", join=", ".join(kinds), value=last)
        buttons = FlowRow(spacing=8)
        for button in (
            TextButton(
                tr("Add folder…"), kind="primary", icon="folder-plus:accent_text", theme=theme,
                then=self.folder_requested,
            ),
            TextButton(tr("Add demo documents"), then=self.demo_requested),
        ):  # fmt: skip
            buttons.addWidget(button)
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
            buttons,
            PlainLabel(tr("The demo is a small sample library that you can remove."), tone="muted"),
            PlainLabel(
                tr(
                    "Supported: {kinds_read}. You can also drop folders or files here.",
                    kinds_read=read,
                ),
                tone="muted",
                wrap=True,
            ),
            Stretch(2),
            on=self,
            margins=0,
            spacing=14,
        )


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
        self, theme: Theme, more_views: Sequence[str], actions: SourceActions, parent: QWidget
    ) -> None:
        """`more_views`: the names of views beside those of the files. `actions` add sources that
        are no folders and files.
        """
        super().__init__(parent)
        self._theme = theme
        self._actions = actions
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
        buttons = self._actions.ways(in_menu=False)
        further = [TextButton(words, self, then=add) for words, add in buttons.items()]
        if entries := self._actions.ways(in_menu=True):
            menu = QMenu(self)
            for words, add in entries.items():
                menu.addAction(words).triggered.connect(add)
            further.append(TextButton(tr("Add from…"), self))
            further[-1].setMenu(menu)
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
