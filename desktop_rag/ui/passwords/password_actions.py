"""Asks for passwords of encrypted files, and forgets them on request. Qt thread.

The library tries and remembers them, through the bridge.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.domain import Document, Unlocked
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.passwords.password_dialog import PasswordDialog

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_NOT_KEPT = Notice(
    tr("The password is remembered until you close the app."),
    tr("No keyring is available on this computer."),
)


class PasswordActions(QObject):
    """Opens the dialog over a page and applies its result."""

    def __init__(self, bridge: Bridge, library: "Library", page: QWidget) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._passwords = library.passwords
        self._page = page

    @Slot(object)
    def ask(self, document: Document) -> None:
        """Ask for the password of a document."""
        dialog = PasswordDialog(document, self._page)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def enter(password: str, keeps: bool, for_folder: bool) -> None:
            def finish(unlocked: Unlocked) -> None:
                dialog.accept()
                if keeps and not unlocked.is_kept:
                    self._bridge.post(_NOT_KEPT)

            self._bridge.run(
                dialog,
                lambda: self._passwords.enter(
                    document, password, keeps=keeps, for_folder=for_folder
                ),
                finish,
                dialog.show_error,
            )

        dialog.submitted.connect(enter)
        self._bridge.run(
            dialog, lambda: self._passwords.locked_beside(document), dialog.offer_folder
        )
        dialog.open()

    @Slot(object)
    def forget(self, document: Document) -> None:
        """Forget the password of a document; its text leaves the index."""
        self._bridge.run(self, lambda: self._passwords.forget(document))
