"""Settings for the language, length and tone of answers. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import AnswerLength, PreferenceSettings
from desktop_rag.ui.settings.choice_words import DEFAULT_TONE, LENGTHS, SAME_AS_QUESTION
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    WheelGuard,
    note,
    radio_group,
    selected_value,
)

_LANGUAGES = (
    tr("Arabic"),
    tr("Chinese"),
    tr("Czech"),
    tr("Danish"),
    tr("Dutch"),
    tr("English"),
    tr("Finnish"),
    tr("French"),
    tr("German"),
    tr("Greek"),
    tr("Hindi"),
    tr("Hungarian"),
    tr("Italian"),
    tr("Japanese"),
    tr("Korean"),
    tr("Norwegian"),
    tr("Polish"),
    tr("Portuguese"),
    tr("Romanian"),
    tr("Russian"),
    tr("Spanish"),
    tr("Swedish"),
    tr("Turkish"),
    tr("Ukrainian"),
)
_TONES = ("plain", "formal", "friendly")
_MAX_LANGUAGE = 40
_MAX_TONE = 200
_LANGUAGE_NOTE = tr(
    "Choose a language or enter one. An answer in another language than its sources can't be"
    " checked."
)
_TONE_NOTE = tr("Choose a tone or describe one. Excerpts always keep the wording of the documents.")
_PROMPTS_NOTE = tr("Questions you ask often. Type / in the question field to use one.")


class PreferencesForm(SettingsSection):
    """Edits PreferenceSettings; `changed` carries the new value."""

    changed = Signal(object)
    prompts_requested = Signal()

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        super().__init__(tr("Style of answers"), parent=parent)
        self._language = _field(
            tr("Language of answers"), SAME_AS_QUESTION, _LANGUAGES, _MAX_LANGUAGE
        )
        self._tone = _field(tr("Tone of answers"), DEFAULT_TONE, _TONES, _MAX_TONE)
        self._lengths = radio_group(self, tr("Length of answers"), LENGTHS)
        self.add_row(tr("Language"), self._language, is_wide=True)
        self.add_note(note(_LANGUAGE_NOTE))
        self.add_row(tr("Length"), *self._lengths.values(), spacing_px=20)
        self.add_row(tr("Tone"), self._tone, is_wide=True)
        self.add_note(note(_TONE_NOTE))
        for box in (self._language, self._tone):
            guard.guard(box)
            box.activated.connect(self._on_edited)
            _line_of(box).editingFinished.connect(self._on_edited)
        for button in self._lengths.values():
            button.clicked.connect(self._on_edited)
        prompts = TextButton(tr("Manage prompts…"))
        prompts.clicked.connect(self.prompts_requested)
        self.add_row(tr("Prompts"), prompts)
        self.add_note(note(_PROMPTS_NOTE))
        self._shown = PreferenceSettings()
        self.show_preferences(self._shown)

    def show_preferences(self, preferences: PreferenceSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._shown = preferences
        _show(self._language, preferences.language)
        _show(self._tone, preferences.tone)
        self._lengths[preferences.length.value].setChecked(True)

    @Slot()
    def _on_edited(self) -> None:
        now = PreferenceSettings(
            _text(self._language), AnswerLength(selected_value(self._lengths)), _text(self._tone)
        )
        if now != self._shown:
            self.show_preferences(now)
            self.changed.emit(now)


def _field(name: str, default: str, choices: tuple[str, ...], max_chars: int) -> QComboBox:
    """An editable list; its first row stands for the default."""
    box = QComboBox()
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.addItem(default)
    box.addItems(choices)
    box.setAccessibleName(name)
    _line_of(box).setMaxLength(max_chars)
    _line_of(box).setAccessibleName(name)
    return box


def _line_of(box: QComboBox) -> QLineEdit:
    line = box.lineEdit()
    assert line is not None, "it is editable"
    return line


def _text(box: QComboBox) -> str:
    written = " ".join(box.currentText().split())
    return "" if written == box.itemText(0) else written


def _show(box: QComboBox, text: str) -> None:
    box.setCurrentText(text or box.itemText(0))
