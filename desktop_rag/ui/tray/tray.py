"""The icon in the system tray, with its menu. Qt thread.

The icon shows the state of the library. Some desktops have no tray, and some start theirs after the
app: `is_there` is asked again when the window closes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from desktop_rag.core.conversation import Conversation
from desktop_rag.core.domain import DocumentState, Source, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import (
    DocumentCounts,
    DocumentsChanged,
    ProgressChanged,
    SourcesChanged,
)
from desktop_rag.ui.chat.conversation_model import title_of
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import count_of, shortened
from desktop_rag.ui.tray.app_icon import AppIcon
from desktop_rag.ui.tray.tray_state import TrayFacts, TrayState
from desktop_rag.ui.window.status_strip import progress_line

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_CHATS = 5
_TITLE_CHARS = 40
_HOUR_MS = 3_600_000
_COUNT_DELAY_MS = 3_000
# A tray that starts after the app would never show an icon that was there before it.
_TRIES_MS = (5_000, 30_000)


class Tray(QObject):
    """Shows what the library does, and offers what people need without the window."""

    quick_ask_requested = Signal()
    window_requested = Signal()
    failures_requested = Signal()
    settings_requested = Signal()
    quit_requested = Signal()
    notification_pressed = Signal()
    conversation_requested = Signal(object)

    def __init__(
        self, bridge: Bridge, library: "Library", app_icon: AppIcon, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._app_icon = app_icon
        self._facts = TrayFacts(library.indexing.progress())
        self._chats: list[Conversation] = []
        self._menu = QMenu()
        self._icon = QSystemTrayIcon(app_icon.tray_icon(self._facts.state), self)
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._on_activated)
        self._icon.messageClicked.connect(self.notification_pressed)
        self._resume = QTimer(self, singleShot=True, interval=_HOUR_MS)
        self._resume.timeout.connect(self._on_resume)
        self._count = QTimer(self, singleShot=True, interval=_COUNT_DELAY_MS)
        self._count.timeout.connect(self.refresh)
        self._build_menu()
        self._show_facts()

    @property
    def is_there(self) -> bool:
        """True when this desktop shows the icon."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    @property
    def facts(self) -> TrayFacts:
        """What the icon shows."""
        return self._facts

    @property
    def menu(self) -> QMenu:
        """The menu of the icon."""
        return self._menu

    @property
    def tooltip(self) -> str:
        """The text beside the icon."""
        return self._icon.toolTip()

    def show(self) -> None:
        """Show the icon, now or when a tray starts after the app."""
        if self.is_there:
            self._icon.show()
        else:
            for delay_ms in _TRIES_MS:
                QTimer.singleShot(delay_ms, self, self._show_late)
        self.refresh()

    def hide(self) -> None:
        """Remove the icon."""
        self._icon.hide()

    @Slot(str, str)
    def notify(self, title: str, text: str) -> None:
        """Show a notification of the desktop, where it has a tray."""
        if self._icon.isVisible():
            self._icon.showMessage(title, text, self._app_icon.icon())

    @Slot()
    def refresh(self) -> None:
        """Count the files and folders again."""
        library = self._library
        self._bridge.run(
            self, lambda: (library.sources.all(), library.documents.counts()), self._on_counted
        )

    @Slot(object)
    def on_posted(self, event: object) -> None:
        """Follow the events of the library."""
        match event:
            case ProgressChanged(progress=progress):
                self._change_facts(progress=progress)
            case SourcesChanged():
                self.refresh()
            case DocumentsChanged() if not self._count.isActive():
                self._count.start()
            case AppError():
                self._change_facts(has_error=True)
            case _:
                pass

    def show_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Offer the last chats in the menu."""
        latest = sorted(conversations, key=lambda c: c.updated_at, reverse=True)
        self._chats = latest[:_CHATS]
        self._fill_chats()

    def forget_error(self) -> None:
        """The person has seen what failed."""
        self._change_facts(has_error=False)

    # --- the menu --------------------------------------------------------------------------------

    def _build_menu(self) -> None:
        self._state_line = QAction(self)
        self._state_line.setEnabled(False)
        self._pause = QAction(self)
        self._pause.triggered.connect(self._on_pause_toggled)
        self._failures = QAction(self)
        self._failures.triggered.connect(self.failures_requested)
        menu = self._menu
        menu.addAction(self._state_line)
        menu.addSeparator()
        menu.addAction("Quick ask", self.quick_ask_requested.emit)
        menu.addAction("Open desktop-rag", self.window_requested.emit)
        self._recent = menu.addMenu("Last chats")
        menu.addSeparator()
        menu.addAction(self._pause)
        menu.addAction(self._failures)
        menu.addSeparator()
        menu.addAction("Settings", self.settings_requested.emit)
        menu.addAction("Quit", self.quit_requested.emit)
        self._fill_chats()

    def _fill_chats(self) -> None:
        self._recent.clear()
        for chat in self._chats:
            title = shortened(title_of(chat), _TITLE_CHARS)
            self._recent.addAction(title, lambda chat=chat: self.conversation_requested.emit(chat))
        self._recent.setEnabled(bool(self._chats))

    @Slot()
    def _on_pause_toggled(self) -> None:
        if self._library.indexing.is_paused:
            self._on_resume()
        else:
            self._library.indexing.pause()
            self._resume.start()
            self._show_facts()

    @Slot()
    def _on_resume(self) -> None:
        self._resume.stop()
        self._library.indexing.resume()
        self._show_facts()

    @Slot(QSystemTrayIcon.ActivationReason)
    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.Trigger:
            self.quick_ask_requested.emit()
        elif reason is QSystemTrayIcon.ActivationReason.DoubleClick:
            self.window_requested.emit()

    # --- the state -------------------------------------------------------------------------------

    @Slot()
    def _show_late(self) -> None:
        if self.is_there:
            self._icon.show()

    def _on_counted(self, found: tuple[list[Source], DocumentCounts]) -> None:
        sources, counts = found
        self._change_facts(
            sources=len(sources),
            offline=sum(source.state is SourceState.OFFLINE for source in sources),
            failed=counts.of(DocumentState.FAILED),
        )

    def _change_facts(self, **changes: object) -> None:
        facts = self._facts.changed(**changes)
        if facts != self._facts:
            self._facts = facts
            self._show_facts()

    def _show_facts(self) -> None:
        facts = self._facts
        self._icon.setIcon(self._app_icon.tray_icon(facts.state, facts.progress.fraction))
        # Without the name of a file: the desktop may read the text as markup.
        lines = [progress_line(replace(facts.progress, current_file=""))]
        if facts.state is TrayState.NO_FOLDER:
            lines = ["No folder yet"]
        if facts.offline:
            lines.append(f"{count_of(facts.offline, 'folder')} offline")
        if facts.failed:
            lines.append(f"{count_of(facts.failed, 'file')} could not be read")
        self._icon.setToolTip("\n".join(["desktop-rag", *lines]))
        self._state_line.setText(shortened(lines[0], _TITLE_CHARS * 2))
        is_paused = self._library.indexing.is_paused
        self._pause.setText("Resume indexing" if is_paused else "Pause indexing for an hour")
        self._failures.setText(f"Show what failed ({facts.failed:,})")
        self._failures.setVisible(bool(facts.failed or facts.offline))
