"""The field for an endpoint's key, and the plain word where the key is kept.

Qt thread; the keyring is reached through the bridge. What is typed leaves the field only into the
key store: no setting, log or repr has it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.settings.settings_fields import note
from desktop_rag.ui.widgets.controls import TextButton

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_NO_ADDRESS = "Enter the address first: a key belongs to one."
_NO_KEY = "No key is kept for this address. Servers on your own computer usually need none."
_HAS_KEY = "A key is kept for this address."
_STORED = "Stored in the keyring of this computer."
_FOR_SESSION = "Kept for this session only: this computer offers no keyring that can be used."


class KeyField(QWidget):
    """Saves the key of one address when it is entered, and forgets it on demand.

    The widget itself is the sentence below; the field and its button are `fields`, for the row.
    """

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._base_url: str | None = None
        self._job: Job | None = None
        self._edit = QLineEdit()
        self._edit.setEchoMode(QLineEdit.EchoMode.Password)
        self._clear = TextButton("Clear key")
        self._note = note()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._note)
        self._edit.editingFinished.connect(self._on_edited)
        self._clear.clicked.connect(self._on_clear_clicked)

    @property
    def fields(self) -> Sequence[QWidget]:
        """What stands in the row: the field, then the button that clears the kept key."""
        return (self._edit, self._clear)

    @property
    def typed(self) -> str:
        """What is entered and not yet saved."""
        return self._edit.text().strip()

    def set_address(self, base_url: str) -> None:
        """Show whether there is a key for this address; empty for none."""
        if base_url == self._base_url:
            return
        self._base_url = base_url
        self._empty()
        self._edit.setEnabled(bool(base_url))
        self._show(False, "" if base_url else _NO_ADDRESS)
        self._mute_job()
        if base_url:
            self._job = self._bridge.run(
                self, lambda: self._chat.models.has_key(base_url), self._on_looked_up
            )

    def _on_looked_up(self, has_key: bool) -> None:
        self._show(has_key, _HAS_KEY if has_key else _NO_KEY)

    @Slot()
    def _on_edited(self) -> None:
        base_url, key = self._base_url, self.typed
        # Read-only while it is being saved: leaving the field comes right after Return.
        if not base_url or not key or self._edit.isReadOnly():
            return
        self._edit.setReadOnly(True)
        self._mute_job()
        self._job = self._bridge.run(
            self, lambda: self._chat.models.save_key(base_url, key), self._on_saved
        )

    def _on_saved(self, is_in_keyring: bool) -> None:
        self._empty()
        self._show(True, _STORED if is_in_keyring else _FOR_SESSION)

    @Slot()
    def _on_clear_clicked(self) -> None:
        base_url = self._base_url
        if base_url:
            self._mute_job()
            self._job = self._bridge.run(
                self, lambda: self._chat.models.save_key(base_url, ""), self._on_cleared
            )

    def _on_cleared(self, _was_saved: bool) -> None:
        self._show(False, "The key was removed.")

    def _mute_job(self) -> None:
        """No longer hear from an earlier call; what it does is done all the same."""
        if self._job:
            self._job.cancel()

    def _empty(self) -> None:
        self._edit.clear()
        self._edit.setReadOnly(False)

    def _show(self, has_key: bool, words: str) -> None:
        # Leaves alone what is being typed meanwhile.
        self._edit.setPlaceholderText("Enter another key" if has_key else "Enter a key")
        self._clear.setEnabled(has_key)
        self._note.setText(words)
