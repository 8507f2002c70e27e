"""The settings as the window edits them, with or without a page that shows them. Qt thread."""

from PySide6.QtCore import QObject, Signal

from desktop_rag.core.settings import Settings
from desktop_rag.ui.settings.settings_change import SettingsChange


class EditedSettings(QObject):
    """The current settings and the changes that the person can still undo.

    A change is undone alone: what was changed elsewhere since stays.

    `changed` carries every new value. `edited` carries it if it is to be stored and applied as
    well, `replaced` if it does not come from the page of the settings, which then shows it.
    """

    changed = Signal(object)
    edited = Signal(object)
    replaced = Signal(object)

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._value = settings
        self._history: list[SettingsChange] = []

    @property
    def value(self) -> Settings:
        """The current settings."""
        return self._value

    @property
    def last_change(self) -> SettingsChange | None:
        """What the next `undo` undoes; None when there is nothing."""
        return self._history[-1] if self._history else None

    def edit(self, settings: Settings) -> None:
        """The person changed a setting on the page of the settings; this can be undone."""
        if settings != self._value:
            self._history.append(SettingsChange(self._value, settings))
            self._value = settings
            self.changed.emit(settings)
            self.edited.emit(settings)

    def undo(self) -> None:
        """Undo the last edit."""
        self.change(self._history.pop().turned().made_in(self._value))

    def forget_changes(self) -> None:
        """Let nothing be undone that was edited so far."""
        self._history.clear()

    def change(self, settings: Settings) -> None:
        """Apply settings that the person changed elsewhere."""
        self.show(settings)
        self.edited.emit(settings)

    def use_model(self, base_url: str, model: str) -> None:
        """Use this model of an endpoint for answers; excerpts if both are ""."""
        self.change(self._value.using(base_url, model))

    def show(self, settings: Settings) -> None:
        """Take over settings that are stored and applied already."""
        self._value = settings
        self.replaced.emit(settings)
        self.changed.emit(settings)
