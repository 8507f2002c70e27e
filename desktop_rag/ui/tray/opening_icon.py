"""The icon in the system tray while the library is being opened. Qt thread."""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from desktop_rag.core.language.translation import tr
from desktop_rag.desktop.identity import APP_NAME
from desktop_rag.ui.foundation.library_state import LibraryState
from desktop_rag.ui.tray.app_icon import AppIcon

_OPENING = tr("Opening the library…")


class OpeningIcon(QObject):
    """Says that the app is coming, and takes the two requests that need no library yet."""

    quick_ask_requested = Signal()
    quit_requested = Signal()

    def __init__(self, app_icon: AppIcon, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._menu = QMenu()
        self._menu.addAction(_OPENING).setEnabled(False)
        self._menu.addSeparator()
        self._menu.addAction(tr("Quick ask"), self.quick_ask_requested.emit)
        self._menu.addAction(tr("Quit"), self.quit_requested.emit)
        self._icon = QSystemTrayIcon(app_icon.tray_icon(LibraryState.UP_TO_DATE))
        self._icon.setToolTip(f"{APP_NAME}\n{_OPENING}")
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._on_activated)

    @property
    def menu(self) -> QMenu:
        """The menu of the icon."""
        return self._menu

    def show(self) -> None:
        """Show the icon where this desktop has a tray."""
        if QSystemTrayIcon.isSystemTrayAvailable():
            self._icon.show()

    def hand_over(self) -> QSystemTrayIcon | None:
        """The icon, for the one that knows the library; None where it isn't shown.

        It stays in its place in the tray.
        """
        self._icon.activated.disconnect(self._on_activated)
        return self._icon if self._icon.isVisible() else None

    @Slot(QSystemTrayIcon.ActivationReason)
    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.Trigger:
            self.quick_ask_requested.emit()
