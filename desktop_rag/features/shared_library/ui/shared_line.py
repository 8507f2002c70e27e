"""The line about the shared library's state and collections, below the own files. Qt thread."""

from PySide6.QtWidgets import QLabel, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.shared_library import SharedLibraryChanged, SharedLibraryStatus, SharedState
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import ElidedLabel
from desktop_rag.ui.widgets.layouts import horizontal

SHARED_LIBRARY = tr("Shared library")
_ICON_PX = 16


class SharedLine(QWidget):
    """The line; hidden while there is no shared library."""

    def __init__(self, theme: Theme, status: SharedLibraryStatus, parent: QWidget) -> None:
        super().__init__(parent)
        icon = QLabel(self, pixmap=theme.icon("server:muted").pixmap(_ICON_PX))
        self._words = ElidedLabel("")
        self._words.setObjectName("sharedLine")
        horizontal(icon, (self._words, 1), on=self, margins=0, spacing=8)
        self.show_status(status)

    def on_changed(self, event: SharedLibraryChanged) -> None:
        """Show a change of the shared library."""
        self.show_status(event.status)

    def show_status(self, status: SharedLibraryStatus) -> None:
        """Show this state."""
        self.setVisible(status.state is not SharedState.NOT_SET)
        self._words.set_full_text(line_in_words(status))
        self._words.setEnabled(not status.is_away)


def line_in_words(status: SharedLibraryStatus) -> str:
    """`Shared: Team, Contracts`, or since when it is offline."""
    names = ", ".join(one_line(c.name) for c in status.collections) or tr("no collections")
    match status.state:
        case SharedState.CONNECTING:
            return tr("Shared, connecting…: {names}", names=names)
        case SharedState.OFFLINE:
            since = clock_in_words(status.since)
            return tr("Shared, offline since {time}: {names}", time=since, names=names)
        case _:
            return tr("Shared: {names}", names=names)
