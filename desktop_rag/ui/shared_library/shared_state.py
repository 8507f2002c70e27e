"""The shared library as it is now: online or since when not, and its collections. Qt thread."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.core.domain import Collection
from desktop_rag.core.language.translation import tr
from desktop_rag.core.shared_library import SharedLibraryChanged, SharedLibraryStatus, SharedState
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_INTRO = tr(
    "Questions search your own library and the collections of the shared one together. Nothing is"
    " written there."
)


class SharedLibraryFace(Protocol):
    """What connects to the shared library."""

    @property
    def status(self) -> SharedLibraryStatus:
        """Its state now."""
        ...

    def try_now(self) -> None:
        """Try to connect without waiting for the end of the pause."""
        ...


class SharedStateSection(SettingsSection):
    """Says how the shared library is; hidden while there is none."""

    def __init__(
        self,
        bridge: Bridge,
        shared: SharedLibraryFace,
        library: "Library",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Now"), _INTRO, parent)
        self._bridge = bridge
        self._shared = shared
        self._library = library
        self._state = PlainLabel(wrap=True, selectable=True)
        self._collections = PlainLabel(wrap=True, selectable=True)
        self._by_words = PlainLabel(wrap=True, tone="muted")
        self._try = TextButton(tr("Try now"))
        for label in (self._state, self._collections, self._by_words):
            self.add_note(label)
        self.add_row("", self._try)
        self._try.clicked.connect(self._on_try_clicked)
        bridge.posted.connect(self._on_posted)
        self._show(shared.status)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    @Slot(object)
    def _on_posted(self, event: object) -> None:
        if isinstance(event, SharedLibraryChanged):
            self._show(event.status)
            self._look()

    @Slot()
    def _on_try_clicked(self) -> None:
        self._shared.try_now()

    def _show(self, status: SharedLibraryStatus) -> None:
        self.setVisible(status.state is not SharedState.NOT_SET)
        self._state.setText(state_in_words(status))
        is_offline = status.state is SharedState.OFFLINE
        self._state.set_tone("danger" if is_offline else "")
        self._try.setVisible(is_offline)
        names = ", ".join(one_line(c.name) for c in status.collections)
        self._collections.setText(tr("Collections: {names}", names=names) if names else "")
        self._collections.setVisible(bool(names))
        self._collections.setEnabled(not status.is_away)

    def _look(self) -> None:
        """Ask which collections are not searched by meaning; a model may have to be loaded."""
        library = self._library
        self._bridge.run(self, library.collections.by_words_only, self._on_looked)

    def _on_looked(self, by_words: Sequence[Collection]) -> None:
        names = ", ".join(one_line(c.name) for c in by_words)
        self._by_words.setText(
            tr(
                "Searched by words only, because their model is not on this computer: {names}",
                names=names,
            )
        )
        self._by_words.setVisible(bool(names))


def state_in_words(status: SharedLibraryStatus) -> str:
    """One or two sentences about the connection."""
    match status.state:
        case SharedState.ONLINE:
            return tr("Online since {time}.", time=clock_in_words(status.since))
        case SharedState.CONNECTING:
            return tr("Connecting…")
        case SharedState.OFFLINE:
            offline = tr("Offline since {time}.", time=clock_in_words(status.since))
            return " ".join(filter(None, (offline, status.title, status.hint)))
        case SharedState.NOT_SET:
            return ""
