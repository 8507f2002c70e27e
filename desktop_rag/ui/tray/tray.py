"""The icon in the system tray, with its menu. Qt thread.

On Linux, Qt shows it where a StatusNotifierWatcher is on the session bus, else in an XEmbed tray of
X11. Some desktops have no tray, and some start theirs after the app: `is_there` is asked again when
the window closes.
"""

from PySide6.QtCore import QDateTime, QLocale, QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from desktop_rag.core.domain import DocumentState, Source, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import (
    DocumentCounts,
    DocumentsChanged,
    ProgressChanged,
    SourcesChanged,
    Stage,
)
from desktop_rag.ingest.library import Library
from desktop_rag.progress_words import progress_line
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.library_state import LibraryFacts
from desktop_rag.ui.foundation.wording import cut_line
from desktop_rag.ui.tray.app_icon import AppIcon

_TITLE_CHARS = 40
_HOUR_MS = 3_600_000
_COUNT_DELAY_MS = 3_000
# Pauses between searches for a missing tray; the last one repeats.
_TRIES_MS = (5_000, 25_000, 60_000)


class Tray(QObject):
    """Shows the library's state, and offers what people need without the window.

    `facts_changed` carries the newest LibraryFacts.
    """

    quick_ask_requested = Signal()
    window_requested = Signal()
    failures_requested = Signal()
    settings_requested = Signal()
    quit_requested = Signal()
    notification_pressed = Signal()
    facts_changed = Signal(object)

    def __init__(
        self, bridge: Bridge, library: Library, app_icon: AppIcon, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._app_icon = app_icon
        self.facts = LibraryFacts(library.indexing.progress())
        self.menu = QMenu()
        self._icon = self._make_icon()
        self._tries = 0
        self._retry = QTimer(self, singleShot=True)
        self._retry.timeout.connect(self._show_icon)
        self._resume = QTimer(self, singleShot=True, interval=_HOUR_MS)
        self._resume.timeout.connect(library.indexing.resume)
        self._count = QTimer(self, singleShot=True, interval=_COUNT_DELAY_MS)
        self._count.timeout.connect(self.refresh)
        self._build_menu()
        self._show_facts()
        bridge.hear(ProgressChanged, self._on_progress)
        bridge.hear(SourcesChanged, self._on_sources_changed)
        bridge.hear(DocumentsChanged, self._on_documents_changed)
        bridge.hear(AppError, self._on_error)

    @property
    def is_there(self) -> bool:
        """True when this desktop shows the icon."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    @property
    def tooltip(self) -> str:
        """The text beside the icon."""
        return self._icon.toolTip()

    def show(self) -> None:
        """Show the icon, now or when a tray starts after the app."""
        self._show_icon()
        self.refresh()

    def take_over(self, icon: QSystemTrayIcon | None) -> None:
        """Adopt an icon that is already shown, so that it keeps its place in the tray."""
        if icon:
            self._icon.deleteLater()
            self._icon = self._made_ours(icon)
            self._show_facts()

    def hide(self) -> None:
        """Remove the icon."""
        self._retry.stop()
        self._icon.hide()

    def notify(self, title: str, text: str) -> bool:
        """Show a notification of the desktop; False without a tray."""
        if not self._icon.isVisible():
            return False
        self._icon.showMessage(title, text, self._app_icon.icon())
        return True

    @Slot()
    def refresh(self) -> None:
        """Count the files and folders again."""
        library = self._library
        self._bridge.run(
            self, lambda: (library.sources.all(), library.documents.counts()), self._on_counted
        )

    def _on_sources_changed(self, _event: SourcesChanged) -> None:
        self.refresh()

    def _on_documents_changed(self, _event: DocumentsChanged) -> None:
        if not self._count.isActive():
            self._count.start()

    def _on_error(self, _error: AppError) -> None:
        if QGuiApplication.focusWindow() is None:
            self._change_facts(has_error=True)

    def forget_error(self) -> None:
        """Drop the mark of a failure that the person has seen."""
        self._change_facts(has_error=False)

    # --- the menu --------------------------------------------------------------------------------

    def _build_menu(self) -> None:
        self._state_line = QAction(self, enabled=False)
        self._pause = QAction(self)
        self._pause.triggered.connect(self._on_pause_toggled)
        self._failures = QAction(self)
        self._failures.triggered.connect(self.failures_requested)
        menu = self.menu
        menu.addAction(self._state_line)
        menu.addSeparator()
        menu.addAction(tr("Quick ask"), self.quick_ask_requested.emit)
        menu.addAction(tr("Open desktop-rag"), self.window_requested.emit)
        menu.addSeparator()
        menu.addAction(self._pause)
        menu.addAction(self._failures)
        menu.addSeparator()
        menu.addAction(tr("Settings"), self.settings_requested.emit)
        menu.addAction(tr("Quit"), self.quit_requested.emit)

    @Slot()
    def _on_pause_toggled(self) -> None:
        if self._library.indexing.is_paused:
            self._library.indexing.resume()
        else:
            self._resume.start()
            self._library.indexing.pause()
        self._on_progress(ProgressChanged(self._library.indexing.progress()))

    def _on_progress(self, event: ProgressChanged) -> None:
        is_paused = self._library.indexing.is_paused
        if not is_paused:
            # The person may have gone on in the window, and may pause there for longer.
            self._resume.stop()
        self._change_facts(progress=event.progress, is_paused=is_paused)

    @Slot(QSystemTrayIcon.ActivationReason)
    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.Trigger:
            self.quick_ask_requested.emit()
        elif reason is QSystemTrayIcon.ActivationReason.DoubleClick:
            self.window_requested.emit()

    # --- the state -------------------------------------------------------------------------------

    def _make_icon(self) -> QSystemTrayIcon:
        return self._made_ours(QSystemTrayIcon(self._app_icon.tray_icon(self.facts.state)))

    def _made_ours(self, icon: QSystemTrayIcon) -> QSystemTrayIcon:
        icon.setParent(self)
        icon.setContextMenu(self.menu)
        icon.activated.connect(self._on_activated)
        icon.messageClicked.connect(self.notification_pressed)
        return icon

    @Slot()
    def _show_icon(self) -> None:
        if not self.is_there:
            self._retry.start(_TRIES_MS[min(self._tries, len(_TRIES_MS) - 1)])
            self._tries += 1
            return
        if self._tries:
            # Qt looks for a tray when an icon is made, and not again.
            self._icon.deleteLater()
            self._icon = self._make_icon()
            self._show_facts()
        self._icon.show()

    def _on_counted(self, found: tuple[list[Source], DocumentCounts]) -> None:
        sources, counts = found
        self._change_facts(
            sources=len(sources),
            offline=sum(source.state is SourceState.OFFLINE for source in sources),
            failed=counts.of(DocumentState.FAILED),
        )

    def _change_facts(self, **changes: object) -> None:
        facts = self.facts.changed(**changes)
        if facts != self.facts:
            self.facts = facts
            self._show_facts()
            self.facts_changed.emit(facts)

    def _show_facts(self) -> None:
        facts = self.facts
        self._icon.setIcon(self._app_icon.tray_icon(facts.state, facts.progress.fraction))
        lines = [*self._pause_lines(), *_progress_lines(facts)]
        if facts.offline:
            folders = count_of(facts.offline, tr("folder"), tr("folders"))
            lines.append(tr("{count_of} offline", count_of=folders))
        if facts.failed:
            files = count_of(facts.failed, tr("file"), tr("files"))
            lines.append(tr("{count_of} could not be read", count_of=files))
        if facts.has_error:
            lines.append(tr("Something needs your attention"))
        self._icon.setToolTip("\n".join(["desktop-rag", *lines]))
        self._state_line.setText(cut_line(lines[0], _TITLE_CHARS * 2))
        words = tr("Resume indexing") if facts.is_paused else tr("Pause indexing for an hour")
        self._pause.setText(words)
        count = facts.failed + facts.offline
        self._failures.setText(
            tr("Show what failed ({count:,})", count=count) if count else tr("Show what failed")
        )
        self._failures.setVisible(bool(count) or facts.has_error)

    def _pause_lines(self) -> list[str]:
        if not self._resume.isActive():
            is_untold = self.facts.is_paused and self.facts.progress.stage is Stage.IDLE
            return [tr("Indexing is paused")] if is_untold else []
        end = QDateTime.currentDateTime().addMSecs(self._resume.remainingTime()).time()
        end_in_words = QLocale().toString(end, QLocale.FormatType.ShortFormat)
        return [tr("Paused until {toString}", toString=end_in_words)]


def _progress_lines(facts: LibraryFacts) -> list[str]:
    if facts.sources == 0 and facts.progress.stage is Stage.IDLE:
        return [tr("No folder yet")]
    return [progress_line(facts.progress)]
