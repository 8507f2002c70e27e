"""“Written answers” in the window: the app runs a model by itself. Qt thread."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from desktop_rag.features.local_model.local_models import LocalModelServices
from desktop_rag.ui.widgets.file_drop import FileDrop, is_model

if TYPE_CHECKING:
    from desktop_rag.features.local_model.ui.ways_dialog import WaysDialog
    from desktop_rag.window_app import WindowApp


def join(app: "WindowApp") -> None:
    """Offer a model of this computer first, where the window offers written answers."""
    parts = _Parts(app)
    app.window.ways_to_write = parts.show
    FileDrop(app.window, app.window, is_model).dropped.connect(parts.give)


class _Parts(QObject):
    def __init__(self, app: "WindowApp") -> None:
        super().__init__(app.window)
        self._app = app

    @cached_property
    def _dialog(self) -> "WaysDialog":
        from desktop_rag.features.local_model.ui.ways_dialog import WaysDialog

        app = self._app
        models = app.services.wing(LocalModelServices).models
        dialog = WaysDialog(app.bridge, models, app.window)
        dialog.settings_requested.connect(app.window.show_models)
        dialog.notified.connect(app.window.notices.show_done)
        dialog.progressed.connect(app.window.status.show_beside)
        return dialog

    def show(self) -> None:
        """Show the ways to written answers."""
        self._dialog.open()

    @Slot(object)
    def give(self, files: Sequence[Path]) -> None:
        """Use the first model of these files."""
        self._dialog.open()
        self._dialog.give(next(filter(is_model, files)))
