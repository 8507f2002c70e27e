"""The bars above a document: what it is, where one is in it, and what can be done. Qt thread.

The title stands among its buttons, or below them where these would leave it a word.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.domain import Document
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import HEADING_SEPARATOR
from desktop_rag.core.shared_library import can_open
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import ElidedLabel, IconButton, begin_with_window
from desktop_rag.ui.widgets.flow_row import FlowRow

# What is left for a title among its buttons, in characters.
_LEAST_TITLE_CHARS = 24


class ReadingHeader(QWidget):
    """The title with its buttons, and below it the place with the tools of the content."""

    back_requested = Signal()
    forward_requested = Signal()
    ask_requested = Signal()
    open_requested = Signal()
    window_requested = Signal()
    details_requested = Signal()
    find_requested = Signal()
    text_toggled = Signal(bool)
    close_requested = Signal()

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, is_window: bool = False
    ) -> None:
        super().__init__(parent)
        self._file = ""
        self._back = IconButton(theme, "chevron-left:text", tr("Back (Alt+Left)"))
        self._forward = IconButton(theme, "chevron-right:text", tr("Forward (Alt+Right)"))
        self._title = ElidedLabel()
        self._title.setObjectName("readingTitle")
        begin_with_window(self._title)
        self._place = ElidedLabel(tone="muted", scale="small", mode=Qt.TextElideMode.ElideLeft)
        self._place.setObjectName("readingPlace")
        self._find = IconButton(theme, "search:muted", tr("Find in the document (Ctrl+F)"))
        self._text = IconButton(theme, "file-text:muted", tr("Show as text"))
        self._text.setCheckable(True)
        self._ask = IconButton(theme, "chat:muted", tr("Ask about this document"))
        self._open = IconButton(theme, "open:muted", tr("Open in another program"))
        self._window = IconButton(theme, "window:muted", tr("Open in a window of its own"))
        self._details = IconButton(theme, "info:muted", tr("Details"))
        self._close = IconButton(theme, "close:muted", tr("Close the document (Esc)"))
        self._top = self._build_top()
        self._tools = FlowRow(spacing=2)
        below = QHBoxLayout()
        below.setContentsMargins(6, 0, 0, 0)
        below.addWidget(self._place, 1)
        below.addLayout(self._tools)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 4)
        column.setSpacing(0)
        column.addLayout(self._top)
        column.addLayout(self._own_row)
        column.addLayout(below)
        self._window.setVisible(not is_window)
        self._connect()
        self.show_history(can_go_back=False, can_go_forward=False)

    def _build_top(self) -> QHBoxLayout:
        top = QHBoxLayout()
        top.setSpacing(2)
        top.addWidget(self._back)
        top.addWidget(self._forward)
        self._among = QHBoxLayout()
        self._among.setContentsMargins(4, 0, 0, 0)
        self._among.addWidget(self._title)
        self._own_row = QHBoxLayout()
        self._own_row.setContentsMargins(6, 0, 6, 4)
        top.addLayout(self._among, 1)
        buttons = (
            self._ask, self._find, self._text, self._open, self._details, self._window, self._close
        )  # fmt: skip
        for button in buttons:
            top.addWidget(button)
        return top

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_title()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._place_title()

    def _place_title(self) -> None:
        buttons_px = self._top.minimumSize().width()
        title_px = _LEAST_TITLE_CHARS * self.fontMetrics().averageCharWidth()
        has_room = self.contentsRect().width() >= buttons_px + title_px
        row, other = (self._among, self._own_row) if has_room else (self._own_row, self._among)
        if other.indexOf(self._title) >= 0:
            other.removeWidget(self._title)
            row.addWidget(self._title)

    def _connect(self) -> None:
        self._back.clicked.connect(self.back_requested)
        self._forward.clicked.connect(self.forward_requested)
        self._find.clicked.connect(self.find_requested)
        self._text.clicked.connect(self._on_text)
        self._ask.clicked.connect(self.ask_requested)
        self._open.clicked.connect(self.open_requested)
        self._window.clicked.connect(self.window_requested)
        self._details.clicked.connect(self.details_requested)
        self._close.clicked.connect(self.close_requested)

    def show_history(self, *, can_go_back: bool, can_go_forward: bool) -> None:
        """Say which ways there are."""
        self._back.setEnabled(can_go_back)
        self._forward.setEnabled(can_go_forward)

    def show_loading(self, title: str) -> None:
        """Show that a document is being read."""
        self._title.set_full_text(title or tr("Loading…"))
        self._place.set_full_text(tr("Loading…") if title else "")
        self._ask.setEnabled(False)
        self._open.setEnabled(False)
        self._details.setEnabled(False)

    def show_document(
        self, title: str, document: Document | None, *, has_pages: bool, is_text: bool
    ) -> None:
        """Show what is open; None is a document the library does not have."""
        self._title.set_full_text(title or tr("Document"))
        self._place.set_full_text("")
        self._place.setToolTip("")
        self._ask.setEnabled(document is not None)
        self._open.setEnabled(document is not None and can_open(document))
        self._details.setEnabled(document is not None)
        self._text.setVisible(has_pages)
        self._place_title()
        self._text.setChecked(is_text)
        self._file = ""
        if document is None:
            return
        file = document.url or document.path.name
        if document.part:
            file = f"{file}{HEADING_SEPARATOR}{document.part}"
        self._file = "" if title == one_line(file) else one_line(file)
        name = tr("Open in the browser") if document.address else tr("Open in another program")
        self._open.show_as("open:muted", name)
        self.show_place("")

    @Slot(str)
    def show_place(self, place: str) -> None:
        """Show where the person is in the document."""
        pieces = [piece for piece in (self._file, one_line(place)) if piece]
        self._place.set_full_text(" · ".join(pieces))

    def show_tools(self, tools: Sequence[QWidget]) -> None:
        """Show the controls of the content in place of those before."""
        while item := self._tools.takeAt(0):
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        for tool in tools:
            self._tools.addWidget(tool)
            tool.show()

    @Slot()
    def _on_text(self) -> None:
        self.text_toggled.emit(self._text.isChecked())
