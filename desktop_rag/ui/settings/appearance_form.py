"""Settings for the theme and the size of text. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.settings import (
    TEXT_SIZES,
    AppearanceSettings,
    ColourScheme,
    nearest_text_size,
)
from desktop_rag.ui.foundation.window_language import language_name, languages
from desktop_rag.ui.settings.choice_words import SAME_AS_SYSTEM, SCHEMES
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    WheelGuard,
    note,
    radio_group,
    selected_value,
)

_SIZE_NOTE = tr("Ctrl and + or − change it everywhere in the window, Ctrl and 0 resets it.")
_LANGUAGE_NOTE = tr(
    "Another language is used from the next start on. Answers follow the question; excerpts stay in"
    " the language of the document."
)


class AppearanceForm(SettingsSection):
    """Edits AppearanceSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        super().__init__(tr("Appearance"), parent=parent)
        self._schemes = radio_group(self, tr("Theme"), SCHEMES)
        self._sizes = QComboBox()
        for percent in TEXT_SIZES:
            self._sizes.addItem(f"{percent} %", percent)
        self._languages = QComboBox()
        self._languages.addItem(SAME_AS_SYSTEM, "")
        for code in languages(resources_dir() / "words"):
            self._languages.addItem(language_name(code), code)
        guard.guard(self._sizes)
        guard.guard(self._languages)
        self.add_row(tr("Theme"), *self._schemes.values(), spacing_px=20)
        self.add_row(tr("Text size"), self._sizes)
        self.add_note(note(_SIZE_NOTE))
        self.add_row(tr("Language"), self._languages)
        self.add_note(note(_LANGUAGE_NOTE))
        for button in self._schemes.values():
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        self._sizes.activated.connect(self._on_edited)
        self._languages.activated.connect(self._on_edited)

    def show_appearance(self, appearance: AppearanceSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._schemes[appearance.scheme].setChecked(True)
        self._sizes.setCurrentIndex(
            self._sizes.findData(nearest_text_size(appearance.text_percent))
        )
        self._languages.setCurrentIndex(max(0, self._languages.findData(appearance.language)))

    @Slot()
    def _on_edited(self) -> None:
        self.changed.emit(
            AppearanceSettings(
                ColourScheme(selected_value(self._schemes)),
                self._sizes.currentData(),
                self._languages.currentData(),
            )
        )
