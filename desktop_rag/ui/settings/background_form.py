"""Settings for the app without its window. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.settings import BackgroundSettings, WhenClosed
from desktop_rag.ui.settings.settings_fields import (
    SettingsSection,
    note,
    radio_group,
    selected_value,
    show_checked,
)

_CHOICES: dict[str, str] = {
    WhenClosed.ASK: "Ask",
    WhenClosed.STAY: "Keep running",
    WhenClosed.QUIT: "Quit",
}
_STAY_NOTE = "While it runs, your folders are kept up to date and the quick ask opens at once."
_NOTICE_NOTE = (
    "When the first indexing is done, a folder goes offline, something needs you, or an answer is"
    " ready while you look elsewhere."
)


class BackgroundForm(SettingsSection):
    """Edits BackgroundSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Background", parent=parent)
        self._when_closed = radio_group(self, "When the window is closed", _CHOICES)
        self._starts = QCheckBox("Start at login, in the background")
        self._notifies = QCheckBox("Show notifications")
        self.add_row("Closing the window", *self._when_closed.values(), spacing_px=20)
        self.add_note(note(_STAY_NOTE))
        self.add_row("Login", self._starts)
        self.add_row("Notifications", self._notifies)
        self.add_note(note(_NOTICE_NOTE))
        for button in self._when_closed.values():
            button.clicked.connect(self._on_edited)
        for box in (self._starts, self._notifies):
            box.toggled.connect(self._on_edited)

    def show_background(self, background: BackgroundSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._when_closed[background.when_closed].setChecked(True)
        show_checked(self._starts, background.starts_at_login)
        show_checked(self._notifies, background.notifies)

    @Slot()
    def _on_edited(self) -> None:
        self.changed.emit(
            BackgroundSettings(
                when_closed=WhenClosed(selected_value(self._when_closed)),
                starts_at_login=self._starts.isChecked(),
                notifies=self._notifies.isChecked(),
            )
        )
