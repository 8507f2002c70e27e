"""“Written answers” in the window: the app runs a model by itself. Qt thread."""

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from desktop_rag.features.local_model.local_models import LocalModelServices

if TYPE_CHECKING:
    from desktop_rag.features.local_model.ui.ways_dialog import WaysDialog
    from desktop_rag.window_app import WindowApp


def join(app: "WindowApp") -> None:
    """Offer a model of this computer first, where the window offers written answers."""
    app.window.ways_to_write = _Parts(app).show


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
        return dialog

    def show(self) -> None:
        """Show the ways to written answers."""
        self._dialog.open()
