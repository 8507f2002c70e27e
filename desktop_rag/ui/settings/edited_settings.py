"""The settings as the window edits them, with or without a page that shows them. Qt thread."""

from PySide6.QtCore import QObject, Signal

from desktop_rag.core.settings import Settings


class EditedSettings(QObject):
    """The current settings and those before each change of the person.

    `changed` carries every new value. `edited` carries it if it is to be stored and applied as
    well, `replaced` if it does not come from the page of the settings, which then shows it.
    """

    changed = Signal(object)
    edited = Signal(object)
    replaced = Signal(object)

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._value = settings
        self._history: list[Settings] = []

    @property
    def value(self) -> Settings:
        """The current settings."""
        return self._value

    @property
    def can_undo(self) -> bool:
        """True when the person changed something on the page of the settings."""
        return bool(self._history)

    def edit(self, settings: Settings) -> None:
        """The person changed a setting on the page of the settings; this can be undone."""
        if settings != self._value:
            self._history.append(self._value)
            self._value = settings
            self.changed.emit(settings)
            self.edited.emit(settings)

    def undo(self) -> None:
        """Go back to the settings before the last edit."""
        self.change(self._history.pop())

    def change(self, settings: Settings) -> None:
        """Apply settings that the person changed elsewhere."""
        self.show(settings)
        self.edited.emit(settings)

    def use_model(self, base_url: str, model: str) -> None:
        """Use this model of an endpoint for answers; excerpts if both are ""."""
        chosen = self._value.using(base_url, model)
        self.edit(chosen)
        self.replaced.emit(chosen)

    def show(self, settings: Settings) -> None:
        """Take over settings that are stored and applied already."""
        self._value = settings
        self.replaced.emit(settings)
        self.changed.emit(settings)
