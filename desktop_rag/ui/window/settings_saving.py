"""Saves edited settings on a worker thread, one at a time. Qt thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from desktop_rag.ui.foundation.bridge import Bridge


class SettingsSaving(QObject):
    """Calls `save` on a worker thread, the newest settings last. `failed` carries an AppError."""

    failed = Signal(object)

    def __init__(self, bridge: Bridge, save: Callable[[Settings], None], parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._save = save
        self._unsaved: Settings | None = None
        self._is_saving = False

    @Slot(object)
    def save(self, settings: Settings) -> None:
        """Save these, after the ones that are being saved now."""
        self._unsaved = settings
        self._save_next()

    def _save_next(self) -> None:
        if self._is_saving or self._unsaved is None:
            return
        settings, self._unsaved, self._is_saving = self._unsaved, None, True

        def finish() -> None:
            self._is_saving = False
            self._save_next()

        def report(error: AppError) -> None:
            self.failed.emit(error)
            finish()

        self._bridge.run(self, lambda: self._save(settings), lambda _: finish(), report)
