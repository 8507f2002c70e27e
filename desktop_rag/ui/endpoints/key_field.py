"""The field for an endpoint's API key, with a note on where it is stored. Qt thread.

The keyring is reached through the bridge. A typed key goes only to the key store: it is never part
of a setting, a log or a repr.
"""

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.bridge import Bridge, EditEnd, Job
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.layouts import vertical

_NO_ADDRESS = tr("Enter the address first. Each address has its own key.")
_NO_KEY = tr("No key is saved for this address. Servers on your own computer usually need none.")
_HAS_KEY = tr("A key is saved for this address.")
_STORED = tr("Saved in this computer's keyring.")
_FOR_SESSION = tr(
    "Saved until you close the app, because no keyring is available on this computer."
)


class KeyField(QWidget):
    """Saves the key of an address when it is entered, and removes it on request.

    The widget itself is the note below the row; `fields` are the line edit and button in the row.
    """

    def __init__(self, bridge: Bridge, chat: Chat, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._base_url: str | None = None
        # Cancelled, an earlier call still completes; its result is ignored.
        self._job = Job()
        self._edit = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        self._clear = TextButton(tr("Remove key"), then=self._on_clear_clicked)
        self._note = note()
        vertical(self._note, on=self, margins=0)
        self._end = EditEnd(self._edit)
        self._end.ended.connect(self._on_edited)

    @property
    def fields(self) -> Sequence[QWidget]:
        """The line edit and the button that removes the saved key."""
        return (self._edit, self._clear)

    @property
    def typed(self) -> str:
        """The key as typed, before it is saved."""
        return self._edit.text().strip()

    def focus(self) -> None:
        """Put the cursor into the field."""
        self._edit.setFocus()

    def take(self, key: str) -> None:
        """Save a key that was part of the address, as if it had been typed here."""
        self._edit.setText(key)
        self._on_edited()

    def set_address(self, base_url: str) -> None:
        """Show the state of the key for this address; "" for no address."""
        if base_url == self._base_url:
            return
        self._base_url = base_url
        self._empty()
        self._edit.setEnabled(bool(base_url))
        self._show(False, "" if base_url else _NO_ADDRESS)
        self._job.cancel()
        if base_url:
            self._job = self._bridge.run(
                self,
                lambda: self._chat.models.has_key(base_url),
                lambda has_key: self._show(has_key, _HAS_KEY if has_key else _NO_KEY),
            )

    @Slot()
    def _on_edited(self) -> None:
        base_url, key = self._base_url, self.typed
        # Read-only while saving, because Return is followed by a loss of focus.
        if not base_url or not key or self._edit.isReadOnly():
            return
        self._edit.setReadOnly(True)
        self._job.cancel()
        self._job = self._bridge.run(
            self, lambda: self._chat.models.save_key(base_url, key), self._on_saved
        )

    def _on_saved(self, is_in_keyring: bool) -> None:
        self._empty()
        self._show(True, _STORED if is_in_keyring else _FOR_SESSION)

    @Slot()
    def _on_clear_clicked(self) -> None:
        if base_url := self._base_url:
            self._job.cancel()
            self._job = self._bridge.run(
                self,
                lambda: self._chat.models.save_key(base_url, ""),
                lambda _was_saved: self._show(False, tr("The key was removed.")),
            )

    def _empty(self) -> None:
        self._edit.clear()
        self._edit.setReadOnly(False)

    def _show(self, has_key: bool, text: str) -> None:
        # Text typed in the meantime is kept.
        self._edit.setPlaceholderText(tr("Enter a new key") if has_key else tr("Enter a key"))
        self._clear.setEnabled(has_key)
        self._note.setText(text)
